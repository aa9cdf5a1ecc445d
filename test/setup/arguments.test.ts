import { describe, expect, test } from 'vitest';
import { parseArguments } from '../../src/setup/arguments.ts';

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
    [['--repo', 'shop', '--verify']],
    [['--accept-host-writes', '--target', USER]],
  ])('misuse: %j', (args) => expect(command(...args)).toBe('usage_invalid'));
});
