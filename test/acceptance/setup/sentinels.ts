/** Registrations that are not ours, made and read through the clients' own commands. */
import { join } from 'node:path';
import { runIn } from './commands.ts';
import type { Stage, TargetName } from './stage.ts';

const NAME = 'a-foreign-server';
/** `claude mcp get` starts what it shows: this one ends at once. */
const COMMAND = ['/bin/false', 'one', 'two words'];

const scopeOf = (target: TargetName) => target.split(':')[1] ?? '';

export async function plantSentinel(stage: Stage, target: TargetName): Promise<boolean> {
  const add =
    target === 'codex:user'
      ? await runIn(stage, 'codex', ['mcp', 'add', NAME, '--env', 'A=1', '--', ...COMMAND])
      : await runIn(stage, 'claude', [
          'mcp',
          'add',
          '--scope',
          scopeOf(target),
          NAME,
          '--env',
          'A=1',
          '--',
          ...COMMAND,
        ]);
  return add.code === 0;
}

/** What the client says about it, as one string to compare. */
export async function readSentinel(stage: Stage, target: TargetName): Promise<string> {
  const get =
    target === 'codex:user'
      ? await runIn(stage, 'codex', ['mcp', 'get', NAME, '--json'])
      : await runIn(stage, 'claude', ['mcp', 'get', NAME]);
  return `${get.code}\n${get.stdout}`;
}

/** Does the client still know our name? */
export async function isRegistered(stage: Stage, target: TargetName): Promise<boolean> {
  const get = await runIn(stage, target === 'codex:user' ? 'codex' : 'claude', ['mcp', 'get', 'pi-session-mcp']);
  return get.code === 0;
}

/** The file in which the target's client keeps its registrations. */
export function clientFile(stage: Stage, target: TargetName): string {
  if (target === 'codex:user') return join(stage.home, '.codex', 'config.toml');
  return target === 'claude-code:project' ? join(stage.project, '.mcp.json') : join(stage.home, '.claude.json');
}
