import { describe, expect, test } from 'vitest';
import { OPTION_NAMES, parseArguments } from '../../src/setup/arguments.ts';
import { HELP } from '../../src/setup/help.ts';

const USER = 'claude-code:user:pi-session-mcp';
const command = (...args: string[]) => {
  const parsed = parseArguments(args);
  return parsed.ok ? parsed.value.command : parsed.code;
};

describe('understood', () => {
  test('no operation only shows', () =>
    expect(command('--target', USER)).toEqual({
      kind: 'targets',
      operation: 'dry-run',
      targets: [{ client: 'claude-code', scope: 'user' }],
      wake: false,
    }));
  test.each(['dry-run', 'apply', 'verify', 'rollback', 'remove'])('--%s with the hook', (operation) =>
    expect(command(`--${operation}`, '--wake', '--target', USER)).toMatchObject({ operation, wake: true }),
  );
  test('the hook of Codex to print', () => expect(command('--print-codex-hook')).toEqual({ kind: 'codex-hook' }));
  test.each(['dry-run', 'apply', 'verify', 'rollback', 'remove'])('--%s', (operation) =>
    expect(command(`--${operation}`, '--target', USER)).toMatchObject({ operation }),
  );
  test('several targets in their order, each once', () => {
    const texts = ['codex:user:pi-session-mcp', USER, 'codex:user:pi-session-mcp', 'claude-code:local:pi-session-mcp'];
    const parsed = command('--apply', ...texts.flatMap((text) => ['--target', text]));
    const scopes = typeof parsed === 'object' && parsed.kind === 'targets' ? parsed.targets : [];
    expect(scopes.map(({ client, scope }) => `${client}:${scope}`)).toEqual([
      'codex:user',
      'claude-code:user',
      'claude-code:local',
    ]);
  });
  test('a skill to customize', () =>
    expect(command('--apply', '--customize-skill', 'pi-session-review')).toEqual({
      kind: 'customize',
      operation: 'apply',
      skill: 'pi-session-review',
    }));
  test('init writes unless it is told to plan', () => {
    expect(command('--init')).toMatchObject({ kind: 'init', operation: 'apply' });
    expect(command('--init', '--dry-run')).toMatchObject({ kind: 'init', operation: 'dry-run' });
  });
  test.each(['--help', '-h'])('%s wins over everything', (option) =>
    expect(command(option, '--apply')).toEqual({ kind: 'help' }),
  );
});

describe('misuse', () => {
  test.each([
    [[]],
    [['--apply']],
    [['--wake']],
    [['--wake', '--customize-skill', 'pi-session-review']],
    [['--wake', '--print-codex-hook']],
    [['--print-codex-hook', '--apply']],
    [['--print-codex-hook', '--json']],
    [['--print-codex-hook', '--target', USER]],
    [['--apply', '--remove', '--target', USER]],
    [['--apply', '--apply', '--target', USER]],
    [['--nonsense']],
    [['stray', '--target', USER]],
    [['--target']],
    [['--target', USER, '--customize-skill', 'pi-session-review']],
    [['--verify', '--customize-skill', 'pi-session-review']],
    [['--init', '--remove']],
    [['--init', '--accept-host-writes']],
    [['--coding', '--target', USER]],
  ])('%j', (args) => expect(command(...args)).toBe('usage_invalid'));

  test.each([
    'claude-code:user',
    'claude-code:user:other',
    'claude-code:user:pi-session-mcp:more',
    'codex:project:pi-session-mcp',
    'codex:local:pi-session-mcp',
    'cursor:user:pi-session-mcp',
    'Claude-Code:user:pi-session-mcp',
    'toString:user:pi-session-mcp',
    '',
  ])('target %j', (text) => expect(command('--target', text)).toBe('target_invalid'));

  test('what was typed is never repeated', () => {
    const parsed = parseArguments(['--json', '--SENTINEL', '/SENTINEL']);
    expect(parsed).toMatchObject({ ok: false, json: true });
    expect(JSON.stringify(parsed)).not.toContain('SENTINEL');
  });
});

describe('--repo', () => {
  test('records a mode with its settings', () =>
    expect(
      command('--repo', 'shop', '--mode', 'container', '--profiles', 'a,b', '--writers', '2', '--network', 'none'),
    ).toEqual({
      kind: 'mode',
      operation: 'dry-run',
      workspace: 'shop',
      choice: {
        mode: 'container',
        acceptHostWrites: false,
        settings: { profiles: ['a', 'b'], network: 'none', writers: 2 },
      },
    }));
  test.each([
    [['--repo', 'shop', '--mode', 'sandbox']],
    [['--repo', 'shop', '--mode', 'container']],
    [['--repo', 'shop', '--mode', 'host', '--writers', '2']],
    [['--repo', 'shop', '--mode', 'read-only', '--accept-host-writes']],
    [['--mode', 'host', '--target', USER]],
    [['--repo', 'shop', '--rollback']],
    [['--accept-host-writes', '--target', USER]],
  ])('misuse: %j', (args) => expect(command(...args)).toBe('usage_invalid'));
  test.each([
    ['cache', 'npm', '--cache is none or go'],
    ['network', 'host', '--network is pasta, slirp4netns or none'],
    ['lifecycle', 'x', '--lifecycle is persistent or ephemeral'],
    ['writers', '0', '--writers is a whole number from 1 to 16'],
    ['writers', '99', '--writers is a whole number from 1 to 16'],
    ['writers', '2.5', '--writers is a whole number from 1 to 16'],
    ['image', 'bad name;x', '--image is the name or id of an image, of at most 256 characters'],
    ['image', '', '--image is the name or id of an image, of at most 256 characters'],
  ])('a value that can never be right is named by its option: --%s %s', (name, value, problem) => {
    const parsed = parseArguments(['--repo', 'shop', '--mode', 'container', '--profiles', 'a', `--${name}`, value]);
    expect(parsed).toEqual({ ok: false, code: 'usage_invalid', problem, json: false });
  });
});

describe('writers', () => {
  const REPO = ['--repo', 'shop'];
  const CONTAINER = [...REPO, '--mode', 'container', '--profiles', 'a'];
  test.each(['isolation-control', 'accept', 'status', 'verify', 'collect', 'finish', 'reset', 'recreate', 'remove'])(
    '--%s only shows, and takes one writer',
    (action) =>
      expect(command(`--${action}`, ...REPO, '--writer', 'shop-2')).toEqual({
        kind: 'writers',
        action,
        operation: 'dry-run',
        workspace: 'shop',
        writer: 'shop-2',
        discard: false,
      }),
  );
  test('--apply does it; what may get lost takes a word of its own', () => {
    expect(command(...REPO, '--finish', '--apply')).toMatchObject({ operation: 'apply', discard: false });
    expect(command(...REPO, '--remove', '--discard', '--apply')).toMatchObject({ operation: 'apply', discard: true });
  });
  test('a client for new ones', () =>
    expect(command(...CONTAINER, '--client', 'claude-code:local')).toMatchObject({
      kind: 'mode',
      client: { client: 'claude-code', scope: 'local' },
    }));
  test.each([
    [[...REPO, '--finish', '--reset']],
    [[...REPO, '--finish', '--discard']],
    [[...REPO, '--collect', '--discard']],
    [[...REPO, '--status', '--apply']],
    [[...REPO, '--verify', '--apply']],
    [[...REPO, '--remove', '--apply', '--dry-run']],
    [[...REPO, '--remove', '--rollback']],
    [[...REPO, '--accept', '--mode', 'container', '--profiles', 'a']],
    [[...REPO, '--finish', '--client', 'codex:user']],
    [[...REPO, '--mode', 'host', '--accept-host-writes', '--client', 'codex:user']],
    [[...CONTAINER, '--writer', 'shop-1']],
    [[...CONTAINER, '--discard']],
    [['--finish']],
    [['--isolation-control', '--target', USER]],
    [['--writer', 'shop-1', '--target', USER]],
  ])('misuse: %j', (args) => expect(command(...args)).toBe('usage_invalid'));
  test.each(['claude-code:project', 'codex:local', 'codex:user:pi-session-mcp', ''])('client %j', (client) =>
    expect(command(...CONTAINER, '--client', client)).toBe('target_invalid'),
  );
});

test('the help fits a terminal and names every option', () => {
  expect(HELP.split('\n').filter((line) => line.length > 80)).toEqual([]);
  for (const option of OPTION_NAMES) expect(HELP).toContain(`--${option}`);
});
