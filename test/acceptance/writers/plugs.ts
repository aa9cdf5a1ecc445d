/** SIGKILL on setup in each recorded phase, and in between; the next run has to get there. */
import { until } from '../../e2e/kit/until.ts';
import { codeOf, type Say } from './checks.ts';
import { boxesOf, processesLeft } from './left.ts';
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

/** A phase may be over before anybody has seen it; then the next one is as good. */
const ORDER = ['cloning', 'preparing', 'configuring', 'wrapping', 'registering', 'controlling'];

function isReached(seen: string | undefined, wanted: string): boolean {
  return seen === wanted || (ORDER.includes(wanted) && ORDER.indexOf(seen ?? '') > ORDER.indexOf(wanted));
}

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
  await until(`phase ${phase}`, () => isOver || isReached(operator.phaseOf(WRITER), phase), 60_000);
  child.kill('SIGKILL');
  return (await ended) === 'SIGKILL';
}

/** A signal ends the run in order, and says so. */
async function interrupt(operator: Operator, client: string, say: Say): Promise<void> {
  const child = operator.spawn(operator.node, operator.setupArguments(...provision(client)), { stdio: 'ignore' });
  const ended = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  await until('the first phase', () => operator.phaseOf(WRITER) !== undefined, 60_000);
  child.kill('SIGTERM');
  say('interrupted', (await ended) === 143, String(await ended));
  say('no box is left by an interruption', boxesOf(operator).length === 0);
  const again = await operator.setup(...provision(client));
  say('run again after an interruption', codeOf(again.stdout, WRITER) === 'writer_provisioned', again.stdout);
  await operator.setup('--remove', '--apply');
}

export async function pullPlugs(operator: Operator, client: string, say: Say): Promise<void> {
  await interrupt(operator, client, say);
  for (const plug of plugsOf(client)) {
    const isProvision = plug.code === 'writer_provisioned';
    const isRemoval = plug.code === 'writer_removed';
    if (isRemoval) await operator.setup(...provision(client));
    const killed = await killIn(operator, plug);
    say(`killed in ${plug.phase}, or right after`, killed);
    const again = await operator.setup(...plug.args);
    const code = codeOf(again.stdout, WRITER);
    // Killed after the last step, the next run finds everything done.
    say(`run again after ${plug.phase}`, [plug.code, 'writer_unchanged'].includes(code), again.stdout + again.stderr);
    await until('no box left', () => boxesOf(operator).length === 0);
    await until('no process left', () => processesLeft(operator).length === 0);
    if (isProvision && plug.phase !== 'registering') {
      const removed = await operator.setup('--remove', '--apply');
      say(`removed after ${plug.phase}`, codeOf(removed.stdout, WRITER) === 'writer_removed', removed.stdout);
    }
  }
}
