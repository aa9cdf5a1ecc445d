/**
 * The plug is pulled on setup from inside a real client's command: before the
 * client starts, while it runs, and when it has done its work. The next run has
 * to get there, with everything of others as it was.
 */
import { spawn } from 'node:child_process';
import { appendFileSync, chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { processesOf } from '../../e2e/kit/processes.ts';
import { until } from '../../e2e/kit/until.ts';
import { runIn } from './commands.ts';
import { clientFile, plantSentinel } from './sentinels.ts';
import type { Stage, TargetName } from './stage.ts';

const WHENS = ['before', 'during', 'after'] as const;
type When = (typeof WHENS)[number];
type Verb = 'add' | 'remove';

export const INTERRUPTED_TARGETS: readonly TargetName[] = ['codex:user', 'claude-code:project'];

/** Stands before a client on PATH and kills the setup whose number is in a file. */
const WRAPPER = `#!/bin/sh
real="$REAL_CLIENTS/\${0##*/}"
case " $* " in *" mcp $KILL_IN "*) ;; *) exec "$real" "$@" ;; esac
setup=$(cat "$SETUP_PID")
case $KILL_WHEN in
  before) kill -9 "$setup"; sleep 300 ;;
  during) "$real" "$@" & kill -9 "$setup"; wait ;;
  after) "$real" "$@"; kill -9 "$setup" ;;
esac
`;

type Say = (what: string, passed: boolean, note?: string) => void;

export async function pullThePlug(stage: Stage, target: TargetName, packageDir: string, say: Say): Promise<void> {
  await plantSentinel(stage, target);
  const file = clientFile(stage, target);
  // Codex keeps a comment at the top of its file; JSON has none.
  if (file.endsWith('.toml')) writeFileSync(file, `# mine\n${readFileSync(file, 'utf8')}`);
  await settle(stage, target, packageDir);
  const before = readFileSync(file, 'utf8');
  for (const verb of ['add', 'remove'] as const) {
    for (const when of WHENS) {
      if (verb === 'remove') await setup(stage, target, packageDir, '--apply');
      const killed = await kill(stage, target, packageDir, verb, when);
      say(`killed ${when} ${verb}`, killed === 'SIGKILL', String(killed));
      await until('nothing left', () => processesOf(stage.root).length === 0);
      const again = await setup(stage, target, packageDir, verb === 'add' ? '--apply' : '--remove');
      say(`run again after ${when} ${verb}`, again.code === 0, again.stdout);
      if (verb === 'add') await setup(stage, target, packageDir, '--remove');
      say(`file of the client as before, after ${when} ${verb}`, readFileSync(file, 'utf8') === before);
    }
  }
}

/** The client may tidy its own file the first time it writes it; that is not what is looked for. */
async function settle(stage: Stage, target: TargetName, packageDir: string): Promise<void> {
  await setup(stage, target, packageDir, '--apply');
  await setup(stage, target, packageDir, '--remove');
}

function argumentsOf({ configuration }: Stage, target: TargetName, packageDir: string, operation: string): string[] {
  const setupFile = join(packageDir, 'dist', 'setup.js');
  return [setupFile, operation, '--json', '--config', configuration, '--target', `${target}:pi-session-mcp`];
}

const setup = (stage: Stage, target: TargetName, packageDir: string, operation: string) =>
  runIn(stage, process.execPath, argumentsOf(stage, target, packageDir, operation));

function kill(stage: Stage, target: TargetName, packageDir: string, verb: Verb, when: When) {
  const wrappers = join(stage.root, 'wrappers');
  if (!existsSync(wrappers)) {
    mkdirSync(wrappers);
    for (const client of ['claude', 'codex']) {
      appendFileSync(join(wrappers, client), WRAPPER);
      chmodSync(join(wrappers, client), 0o755);
    }
  }
  const [clients = ''] = (stage.env['PATH'] ?? '').split(':');
  const pidFile = join(stage.root, 'setup.pid');
  const env = {
    ...stage.env,
    PATH: `${wrappers}:${stage.env['PATH']}`,
    REAL_CLIENTS: clients,
    SETUP_PID: pidFile,
    KILL_IN: verb,
    KILL_WHEN: when,
  };
  return new Promise<NodeJS.Signals | null>((resolve, reject) => {
    const args = argumentsOf(stage, target, packageDir, verb === 'add' ? '--apply' : '--remove');
    const child = spawn(process.execPath, args, { env, cwd: stage.project, stdio: 'ignore' });
    // Long before a client is asked anything.
    writeFileSync(pidFile, String(child.pid));
    child.once('error', reject);
    child.once('exit', (_code, signal) => resolve(signal));
  });
}
