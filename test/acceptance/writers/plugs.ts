/** SIGKILL on setup in each recorded phase, and in between; the next run has to get there. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { processesOf } from '../../e2e/kit/processes.ts';
import { until } from '../../e2e/kit/until.ts';
import { codeOf, type Say } from './checks.ts';
import type { Operator } from './operator.ts';

const WRITER = 'shop-1';

interface Plug {
  readonly args: readonly string[];
  readonly phase: string;
  /** Of the run after it. */
  readonly code: string;
}

const provision = (client: string) => [
  '--mode',
  'container',
  '--profiles',
  'coder',
  '--network',
  'none',
  '--client',
  client,
  '--apply',
];
const plugsOf = (client: string): readonly Plug[] => [
  ...['cloning', 'preparing', 'configuring', 'wrapping', 'registering'].map((phase) => ({
    args: provision(client),
    phase,
    code: 'writer_provisioned',
  })),
  { args: ['--isolation-control', '--apply'], phase: 'accepting', code: 'writer_ready' },
  { args: ['--finish', '--apply'], phase: 'resetting', code: 'writer_finished' },
  { args: ['--recreate', '--apply'], phase: 'recreating', code: 'writer_recreated' },
  { args: ['--remove', '--apply'], phase: 'unregistering', code: 'writer_removed' },
  { args: ['--remove', '--apply'], phase: 'removing', code: 'writer_removed' },
];

/** @returns how it ended: by us, or by itself because it was too fast. */
async function killIn(operator: Operator, { args, phase }: Plug): Promise<boolean> {
  const child = operator.spawn(operator.node, operator.setupArguments(...args), { stdio: 'ignore' });
  let isOver = false;
  const ended = new Promise<NodeJS.Signals | null>((resolve) =>
    child.once('exit', (_code, signal) => {
      isOver = true;
      resolve(signal);
    }),
  );
  await until(`phase ${phase}`, () => isOver || operator.phaseOf(WRITER) === phase, 60_000);
  child.kill('SIGKILL');
  return (await ended) === 'SIGKILL';
}

export async function pullPlugs(operator: Operator, client: string, say: Say): Promise<void> {
  for (const plug of plugsOf(client)) {
    const isProvision = plug.code === 'writer_provisioned';
    const isRemoval = plug.code === 'writer_removed';
    if (isRemoval) await operator.setup(...provision(client));
    const killed = await killIn(operator, plug);
    say(`killed in ${plug.phase}`, killed);
    const again = await operator.setup(...plug.args);
    const code = codeOf(again.stdout, WRITER);
    // Killed after the last step, the next run finds everything done.
    say(`run again after ${plug.phase}`, [plug.code, 'writer_unchanged'].includes(code), again.stdout + again.stderr);
    await until('no box left', () => boxesOf(operator).length === 0);
    await until('no process left', () => processesOf(operator.root).filter(isNotHolder).length === 0);
    if (isProvision && plug.phase !== 'registering') {
      const removed = await operator.setup('--remove', '--apply');
      say(`removed after ${plug.phase}`, codeOf(removed.stdout, WRITER) === 'writer_removed', removed.stdout);
    }
  }
}

/** Podman's holder of the user namespace stays: it is empty, and one for all boxes. */
function isNotHolder(pid: number): boolean {
  return !readCommand(pid).includes('catatonit') && !readCommand(pid).startsWith('podman');
}

function readCommand(pid: number): string {
  try {
    return process.getBuiltinModule('node:fs').readFileSync(`/proc/${pid}/comm`, 'utf8');
  } catch {
    return 'podman';
  }
}

/** Directories of runs that have not come to their end. */
export function boxesOf(operator: Operator): string[] {
  const instance = readdirSync(operator.state).find((name) => name.startsWith('.podman-'));
  return instance ? readdirSync(join(operator.state, instance, 'boxes')) : [];
}
