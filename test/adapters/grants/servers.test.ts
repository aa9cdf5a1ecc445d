/** Real child processes that speak MCP, well and badly. */
import { describe, expect, it } from 'vitest';
import { fixture, publicServer, tool, WORK } from '../../fixtures/mcp-servers/servers.ts';
import { TEST_DEADLINES } from '../../kit/world.ts';
import { eventually } from '../pi/lab.ts';
import { SESSION, said, useGrants } from './lab.ts';

const unavailable = (server: string, more = {}) => ({
  ok: false,
  code: 'external_mcp_unavailable',
  stage: 'mcp_tools',
  subject: { server, ...more },
});

describe('an external server', () => {
  it('offers exactly what is granted, under names of ours, with its schemas', async () => {
    const lists = [[tool('other'), WORK], [tool('more', { title: 'Titled' })]];
    const tools = { more: { name: 'more', readOnly: true }, do: { name: 'work', readOnly: true } };
    const lab = useGrants([fixture('a', { lists }, { tools }), fixture('b-c')]);
    expect(await lab.open()).toEqual({ ok: true });
    const { name: _, ...work } = WORK;
    expect(lab.grants.tools(SESSION)).toEqual([
      { name: 'mcp_a_more', description: 'Titled', inputSchema: { type: 'object', properties: {} } },
      { name: 'mcp_a_do', ...work },
      { name: 'mcp_b-c_do', ...work },
    ]);
    expect(said(await lab.call('a', { how: 'echo', say: 'hello' }))).toBe('hello');
    expect(said(await lab.grants.call(SESSION, 'mcp_a_other', {}))).toBe('unavailable');
    expect(said(await lab.grants.call('nobody', 'mcp_a_do', {}))).toBe('unavailable');
  });

  it('runs in the workspace, and sees little of our environment', async () => {
    process.env['GRANT_SOURCE'] = 'handed on';
    process.env['GRANT_OTHER'] = 'kept';
    const envFrom = { TARGET: 'GRANT_SOURCE', PI_SESSION_MCP_SCOPE: 'GRANT_SOURCE' };
    const lab = useGrants([fixture('a', {}, { envFrom })]);
    await lab.open();
    expect(said(await lab.call('a', { how: 'cwd' }))).toBe(lab.workspace);
    const seen = JSON.parse(said(await lab.call('a', { how: 'env' })));
    expect(seen).toMatchObject({ TARGET: 'handed on', PATH: process.env['PATH'] });
    expect(seen['PI_SESSION_MCP_SCOPE']).toMatch(new RegExp(`^[0-9a-f-]{36}/${SESSION}/1$`));
    const allowed = ['HOME', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'USER', 'TARGET', 'PI_SESSION_MCP_SCOPE'];
    expect(Object.keys(seen).filter((name) => !allowed.includes(name))).toEqual([]);
  });

  it('whose variable is missing is not started', async () => {
    const lab = useGrants([fixture('a', {}, { envFrom: { A: 'GRANT_IS_NOT_SET', B: 'GRANT_NEITHER' } })]);
    expect(await lab.open()).toEqual(unavailable('a'));
    expect(lab.reports).toEqual([{ event: 'external_mcp_environment_missing', fields: { server: 'a', count: 2 } }]);
  });

  it.each(['stderr', true] as const)('may print what it likes (%s)', async (noise) => {
    const lab = useGrants([fixture('a', { noise })]);
    expect(await lab.open()).toEqual({ ok: true });
    expect(said(await lab.call('a', { how: 'echo', say: 'heard' }))).toBe('heard');
  });

  it.each(['ping', 'roots/list', 'sampling/createMessage', 'elicitation/create', 'x'])(
    'may ask us for %s',
    async (method) => {
      const lab = useGrants([fixture('a')]);
      await lab.open();
      expect(said(await lab.call('a', { how: 'asks us', method }))).toBe('asked');
      expect(said(await lab.call('a', { how: 'echo', say: 'goes on' }))).toBe('goes on');
    },
  );

  it('does one call at a time, in order, while another server works too', async () => {
    const lab = useGrants([fixture('a'), fixture('b')]);
    await lab.open();
    const order: string[] = [];
    const call = async (server: string, name: string) => {
      order.push(`${name} ${said(await lab.call(server, { how: 'late', ms: 30 }))}`);
    };
    await Promise.all([call('a', 'first'), call('a', 'second'), call('a', 'third'), call('b', 'beside')]);
    expect(order.filter((each) => !each.startsWith('beside'))).toEqual(['first 1', 'second 1', 'third 1']);
  });
});

describe('a server that cannot be used', () => {
  it.each([
    ['cannot be started', { ...fixture('bad'), command: '/nowhere/server' }],
    ['dies at once', fixture('bad', { dieOn: 'initialize' })],
    ['dies when asked for its tools', fixture('bad', { dieOn: 'tools/list' })],
    ['speaks another version', fixture('bad', { protocolVersion: '1999-01-01' })],
    ['is no server', { ...fixture('bad'), command: '/bin/cat', args: [] }],
    ['talks for ever', { ...fixture('bad'), command: '/usr/bin/yes', args: [] }],
    ['lists no list', fixture('bad', { page: { tools: 'many' } })],
    ['lists what has no name', fixture('bad', { lists: [[WORK, {}]] })],
    ['lists one name twice', fixture('bad', { lists: [[WORK], [tool('other'), WORK]] })],
    ['lists for ever', fixture('bad', { loop: true, lists: [[]] })],
    ['has 17 pages', fixture('bad', { lists: [...Array.from({ length: 16 }, () => []), [WORK]] })],
    ['has 513 tools', fixture('bad', { lists: [[WORK], Array.from({ length: 512 }, (_, at) => tool(`t${at}`))] })],
    ['has a cursor that is none', fixture('bad', { page: { tools: [WORK], nextCursor: 7 } })],
  ])('%s', async (_, server) => {
    const lab = useGrants([fixture('good'), server]);
    expect(await lab.open()).toEqual(unavailable('bad'));
    expect(lab.grants.tools(SESSION)).toEqual([]);
    // Also the one that did nothing wrong.
    expect(await eventually(() => lab.children().length === 0, 10_000)).toBe(true);
  });

  it.each([
    ['no schema', { inputSchema: undefined }],
    ['a schema for something else', { inputSchema: { type: 'array' } }],
    ['a schema that is none', { inputSchema: { type: 'object', properties: { a: { type: 'nonsense' } } } }],
    ['a pattern that is none', { inputSchema: { type: 'object', properties: { a: { pattern: '(' } } } }],
    ['a reference to nothing', { inputSchema: { type: 'object', properties: { a: { $ref: '#/nowhere' } } } }],
    ['an enormous schema', { inputSchema: { type: 'object', description: 'x'.repeat(70_000) } }],
    ['an output schema that is none', { outputSchema: { type: 'object', properties: { a: { type: 'nonsense' } } } }],
  ])('%s', async (_, more) => {
    const lab = useGrants([fixture('bad', { lists: [[{ ...WORK, ...more }]] })]);
    expect(await lab.open()).toEqual(unavailable('bad', { tool: 'do' }));
  });

  it('may list what it likes beside the granted tools', async () => {
    const others = [{ name: 'a' }, tool('b', { inputSchema: 7 }), tool('c', { outputSchema: { type: 'nonsense' } })];
    const lab = useGrants([fixture('a', { lists: [[...others, WORK]] })]);
    expect(await lab.open()).toEqual({ ok: true });
  });

  it.each([
    [
      'at the limits',
      {
        lists: [
          ...Array.from({ length: 15 }, () => []),
          [WORK, ...Array.from({ length: 511 }, (_, at) => tool(`t${at}`))],
        ],
      },
    ],
  ])('%s, it can', async (_, options) => {
    expect(await useGrants([fixture('a', options)]).open()).toEqual({ ok: true });
  });

  it.each([{ withoutTools: true }, { lists: [[]] }])('has no tools: %j', async (options) => {
    const outcome = await useGrants([fixture('a', options)]).open();
    expect(outcome).toEqual({ ...unavailable('a'), code: 'external_mcp_no_tools' });
  });

  it('does not have the tool', async () => {
    const outcome = await useGrants([fixture('a', { lists: [[tool('other')]] })]).open();
    expect(outcome).toEqual({ ...unavailable('a', { tool: 'do' }), code: 'external_mcp_grant_tool_missing' });
  });

  it.each(['initialize', 'tools/list'])(
    'never answers %s: its deadline names it, and all are closed',
    async (method) => {
      const lab = useGrants([fixture('good'), fixture('slow', { silentOn: [method] })], { stopTime: true });
      const opened = lab.open();
      expect(
        await eventually(() => lab.clock.pendingByDelay().get(TEST_DEADLINES.externalStartTimeout)?.length === 1),
      ).toBe(true);
      lab.clock.fire(TEST_DEADLINES.externalStartTimeout);
      expect(await opened).toEqual(unavailable('slow'));
      await lab.grants.close(SESSION);
      expect(lab.children()).toEqual([]);
    },
  );

  it('is aborted while it starts: all are closed', async () => {
    const lab = useGrants([fixture('good'), fixture('slow', { startDelayMs: 60_000 })]);
    const opened = lab.open();
    expect(await eventually(() => lab.children().length === 2)).toBe(true);
    lab.cancel.abort();
    expect(await opened).toMatchObject({ ok: false, code: 'external_mcp_unavailable' });
    await lab.grants.close(SESSION);
    expect(lab.children()).toEqual([]);
  });

  it('is wanted by nobody before it starts', async () => {
    const lab = useGrants([fixture('a')]);
    lab.cancel.abort();
    expect(await lab.open()).toMatchObject({ ok: false });
    expect(lab.children()).toEqual([]);
  });
});

describe('public servers', () => {
  it('everything: text, images, structured results, long work, a lone link', async () => {
    const names = [
      'echo',
      'get-sum',
      'get-tiny-image',
      'get-structured-content',
      'get-resource-links',
      'trigger-long-running-operation',
    ];
    const lab = useGrants([publicServer('all', 'everything', [], names)]);
    expect(await lab.open()).toEqual({ ok: true });
    const call = async (name: string, args: object) => lab.grants.call(SESSION, `mcp_all_${name}`, { ...args });
    expect(said(await call('echo', { message: 'hi' }))).toBe('Echo: hi');
    expect(said(await call('get_sum', { a: 2, b: 3 }))).toContain('5');
    expect(said(await call('get_tiny_image', {}))).toContain('image/png');
    expect(JSON.parse(said(await call('get_structured_content', { location: 'Chicago' })))).toHaveProperty(
      'temperature',
    );
    expect(said(await call('get_resource_links', { count: 1 }))).toContain('[left out: a link to a resource]');
    expect(said(await call('trigger_long_running_operation', { duration: 0.1, steps: 2 }))).toContain('completed');
    expect(said(await call('get_sum', { a: 'none' }))).toBe('failed');
    await lab.grants.close(SESSION);
    expect(lab.children()).toEqual([]);
  });

  it('filesystem: in the workspace, and nothing of its errors', async () => {
    const lab = useGrants([
      publicServer('files', 'filesystem', ['.'], ['list_directory', 'write_file', 'read_text_file']),
    ]);
    expect(await lab.open()).toEqual({ ok: true });
    const call = (name: string, args: object) => lab.grants.call(SESSION, `mcp_files_${name}`, { ...args });
    expect(said(await call('write_file', { path: 'a.txt', content: 'one' }))).toContain('a.txt');
    expect(said(await call('read_text_file', { path: 'a.txt' }))).toContain('one');
    expect(said(await call('list_directory', { path: '.' }))).toContain('a.txt');
    expect(await call('read_text_file', { path: '/etc/hostname' })).toEqual({ ok: false, reason: 'failed' });
    await lab.grants.close(SESSION);
    expect(lab.children()).toEqual([]);
  });
});
