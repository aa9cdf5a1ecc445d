import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AgentSession } from '@earendil-works/pi-coding-agent';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type ExtensionLab, extended, HOOKS, NAMED, openExtensionLab, TOOLS } from './extension-lab.ts';

const granted = (...tools: string[]) => ({ grantedExtensionTools: tools });
const coding = { permissionProfile: 'coding' } as const;
const server = {
  alias: 'files',
  command: '/bin/false',
  args: [],
  envFrom: {},
  tools: { list: { name: 'list', readOnly: true } },
};
const profiles = [
  extended('closed', [TOOLS]),
  extended('probing', [TOOLS, HOOKS], granted('probe')),
  extended('both', [TOOLS], granted('probe', 'probe_two')),
  extended('coding', [TOOLS], coding),
  extended('named', [NAMED], { mcpServers: [server] }),
  extended('named-coding', [NAMED], coding),
  extended('twins', [TOOLS, NAMED]),
  extended('late', [NAMED], granted('late_tool')),
  extended('misspelt', [NAMED], granted('lately')),
  extended('clash', [NAMED, TOOLS], granted('nothing')),
];

let lab: ExtensionLab;
async function open(environment: Readonly<Record<string, string>> = {}) {
  lab = await openExtensionLab({ profiles }, environment);
}
afterEach(async () => {
  vi.restoreAllMocks();
  await lab.close();
});

const CORE = ['find', 'grep', 'ls', 'read'];
const CODING = ['bash', 'edit', ...CORE, 'write'].sort();
const declared = (index: number) => lab.model.requests[index]?.toolNames.toSorted();
const heard = (index: number) => JSON.stringify(lab.model.requests[index]?.messages);
const REFUSED = 'This tool is not available in this session.';

/** One turn: the model calls these tools, one after the other, and then says that it is done. */
async function turn(alias: string, ...calls: (readonly [name: string, args?: object])[]) {
  lab.model.push(...calls.map(([name, args = {}]) => ({ tools: [{ name, args: { ...args } }] })), { text: 'done' });
  const { sessionId, ...started } = await lab.start(alias);
  expect(started).toEqual({ ok: true });
  const first = lab.model.requests.length;
  expect(await lab.run(sessionId, 'go')).toMatchObject({ state: 'completed', assistantText: 'done' });
  return { sessionId, first };
}

describe('names', () => {
  const bad = [
    ...CODING,
    '-dash',
    'a b',
    'dot.ted',
    'ümlaut',
    '',
    'x'.repeat(65),
    'mcp__a__b',
    'list_mcp_resources',
    'list_mcp_resource_templates',
    'read_mcp_resource',
    'mcp_files_list',
  ];

  it.each(bad)('%j is refused when the extension is loaded', async (name) => {
    await open({ FIXTURE_TOOL: name });
    const subject = { extension: 'fixture-named' };
    expect(await lab.agent.selectModel(lab.request('named'), new AbortController().signal)).toEqual({
      ok: false,
      code: 'extension_tool_conflict',
      stage: 'extension_load',
      subject,
    });
  });

  it.each(['read', 'mcp__a__b', 'dot.ted'])('%j is refused when a hook registers it', async (name) => {
    await open({ FIXTURE_TOOL: name, FIXTURE_WHEN: 'bind' });
    const subject = { extension: 'fixture-named' };
    const conflict = { ok: false, code: 'extension_tool_conflict', stage: 'extension_bind', subject };
    expect(await lab.start('named-coding')).toMatchObject(conflict);
  });

  it('may not be another extension’s', async () => {
    await open({ FIXTURE_TOOL: 'probe' });
    const subject = { extension: 'fixture-named' };
    const conflict = { code: 'extension_tool_conflict', stage: 'extension_load', subject };
    expect(await lab.start('twins')).toMatchObject(conflict);
    // Before the grants are looked at.
    expect(await lab.start('clash')).toMatchObject({ ...conflict, subject: { extension: 'fixture-tools' } });
  });

  it.each(['x', '_', 'mcp_', 'mcp_files_other', 'x'.repeat(64)])('%j is fine', async (name) => {
    await open({ FIXTURE_TOOL: name });
    const { first } = await turn('named-coding', [name]);
    expect(declared(first)).toEqual([...CODING, name].sort());
    expect(heard(first + 1)).toContain('named');
  });
});

describe('a read-only session', () => {
  it('gets no extension tool without a grant', async () => {
    await open();
    const { first } = await turn('closed', ['probe'], ['read', { path: 'nothing' }]);
    expect(declared(first)).toEqual(CORE);
    expect(heard(first + 1)).not.toContain('probed');
    expect(lab.log()).toEqual([]);
  });

  it('gets exactly the granted ones', async () => {
    await open();
    const { first } = await turn('probing', ['probe'], ['probe_two']);
    expect(declared(first)).toEqual([...CORE, 'probe'].sort());
    expect(heard(first + 1)).toContain('probed find grep ls probe read');
    expect(lab.log()).not.toContain('ran probe_two');
  });

  it.each([
    ['misspelt', 'load', 'extension_load', 'lately'],
    ['late', 'bind', 'extension_load', 'late_tool'],
  ])('does not start on a grant that is %s', async (alias, when, stage, tool) => {
    await open({ FIXTURE_TOOL: 'late_tool', FIXTURE_WHEN: when });
    expect(await lab.start(alias)).toMatchObject({ code: 'extension_tool_missing', stage, subject: { tool } });
  });

  it.each(['direct', 'model-only', 'codemode', 'deferred', 'hidden'])(
    'takes a granted tool only if it is declared, and lets it run: %s',
    async (exposure) => {
      await open();
      lab = await reopened([extended('two', [TOOLS], granted('probe', 'probe_two'))], { FIXTURE_EXPOSURE: exposure });
      if (exposure === 'hidden') {
        const subject = { tool: 'probe_two' };
        expect(await lab.start('two')).toMatchObject({ code: 'extension_tool_missing', stage: 'postcheck', subject });
        return;
      }
      const { first } = await turn('two', ['probe_two']);
      expect(declared(first)).toEqual([...CORE, 'probe', 'probe_two'].sort());
      expect(lab.log()).toEqual(['ran probe_two']);
    },
  );

  it('takes no granted tool that another one hides from the model', async () => {
    await open();
    lab = await reopened([extended('hiding', [TOOLS], granted('probe', 'hider'))], { FIXTURE_HIDE: '1' });
    const subject = { tool: 'probe' };
    expect(await lab.start('hiding')).toMatchObject({
      code: 'extension_tool_missing',
      stage: 'extension_bind',
      subject,
    });
  });
});

async function reopened(more: readonly ReturnType<typeof extended>[], environment: Readonly<Record<string, string>>) {
  await lab.close();
  return openExtensionLab({ profiles: more }, environment);
}

describe('in a turn of a read-only session', () => {
  it.each([
    ['a tool', 'sneaky', {}],
    ['an MCP-like tool', 'mcp__a__b', { exposure: 'codemode' }],
    ['a built-in of coding', 'bash', {}],
    ['a built-in that it has', 'read', {}],
    ['the second granted tool', 'probe_two', {}],
  ])('%s that is registered late cannot run, called by the model or by a tool', async (_, name, extra) => {
    await open();
    writeFileSync(join(lab.workspace, 'note.txt'), 'the note');
    const { sessionId, first } = await turn(
      'probing',
      ['probe', { register: [name], activate: [name], extra }],
      [name, { path: 'note.txt' }],
      ['probe', { call: name, args: { path: 'note.txt' } }],
    );
    expect(lab.log()).not.toContain(`ran ${name}`);
    // And not in the next turn either.
    lab.model.push({ tools: [{ name, args: { path: 'note.txt' } }] }, { text: 'done' });
    await lab.run(sessionId, 'again');
    expect(lab.log()).not.toContain(`ran ${name}`);
    // What is pinned goes on as what it was.
    if (name === 'read') expect(heard(first + 2)).toContain('the note');
    else expect(heard(first + 3)).toContain('refused');
  });

  it('a granted tool that is registered again is another tool', async () => {
    await open();
    const { first } = await turn('probing', ['probe', { register: ['probe'] }], ['probe']);
    expect(heard(first + 2)).toContain(REFUSED);
    expect(lab.log()).not.toContain('ran probe');
  });

  it('and so it is when another tool calls it', async () => {
    await open();
    const call = { call: 'probe_two' };
    const { first } = await turn('both', ['probe', call], ['probe', { register: ['probe_two'], ...call }]);
    expect(heard(first + 1)).toContain('answered');
    expect(heard(first + 2)).toContain(REFUSED);
    expect(lab.log()).toEqual(['ran probe_two']);
  });

  it('tools that were switched off can be called no more, and the rest still can', async () => {
    await open();
    writeFileSync(join(lab.workspace, 'note.txt'), 'the note');
    const { first } = await turn(
      'probing',
      ['probe', { only: ['read', 'bash', 'probe_two'] }],
      ['read', { path: 'note.txt' }],
    );
    expect(declared(first + 1)).toEqual(['read']);
    expect(heard(first + 2)).toContain('the note');
  });

  it('a tool may call what the session has', async () => {
    await open();
    writeFileSync(join(lab.workspace, 'note.txt'), 'the note');
    const { first } = await turn('probing', ['probe', { call: 'read', args: { path: 'note.txt' } }]);
    expect(heard(first + 1)).toContain('answered');
    expect(heard(first + 1)).toContain('the note');
  });
});

describe('a coding session', () => {
  it('has the tools of its extensions', async () => {
    await open();
    const { first } = await turn('coding', ['probe'], ['probe_two']);
    expect(declared(first)).toEqual([...CODING, 'probe', 'probe_two'].sort());
    expect(lab.log()).toContain('ran probe_two');
  });

  it('gets what is registered later, but never in place of a built-in or under a reserved name', async () => {
    await open();
    const names = ['later', 'bash', 'read', 'mcp__a__b', 'dot.ted'];
    const { first } = await turn(
      'coding',
      ['probe', { register: names, activate: [...names, 'powershell'] }],
      ['later'],
      ['bash', { command: 'echo the-$((40 + 2))' }],
      ['read', { path: 'nothing' }],
      ['mcp__a__b'],
      ['dot.ted'],
      ['probe', { call: 'mcp__a__b' }],
      // Pi has it, but no profile does.
      ['powershell', { command: 'true' }],
    );
    expect(lab.log()).toEqual(['ran later']);
    expect(heard(first + 3)).toContain('the-42');
    expect(declared(first + 1)).toContain('later');
    expect(declared(first + 1)).not.toContain('mcp__a__b');
    const answers = lab.model.requests[first + 8]?.messages.filter(({ role }) => role === 'tool');
    expect(JSON.stringify(answers?.[5])).toContain(REFUSED);
    expect(JSON.stringify(answers?.[6])).toContain('refused');
    expect(JSON.stringify(answers?.[7])).toContain(REFUSED);
  });

  it('has its bash run where the session can end it', async () => {
    await open();
    const open1 = vi.spyOn(lab.scope, 'openCall');
    await turn('coding', ['bash', { command: 'true' }]);
    expect(open1).toHaveBeenCalledTimes(1);
  });
});

describe('a session without extensions', () => {
  it('runs only what was verified, too', async () => {
    await open();
    const subscribe = vi.spyOn(AgentSession.prototype, 'subscribe');
    await lab.start();
    const { agent } = subscribe.mock.contexts[0] as AgentSession;
    const call = (name: string) => agent.beforeToolCall?.({ toolCall: { name } } as never);
    expect(await call('read')).toBeUndefined();
    for (const name of ['bash', 'sneaky']) expect(await call(name)).toEqual({ block: true, reason: REFUSED });
  });
});
