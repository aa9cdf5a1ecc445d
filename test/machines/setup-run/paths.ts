/** Generated paths of a chart below the run chart, each against the real assembly. */
import { expect } from 'vitest';
import type { AnyMachineSnapshot, AnyStateMachine } from 'xstate';
import type { Verdict } from '../../../src/ports/setup/target.ts';
import type { ChartModel, ChartPath } from '../../kit/chart-model.ts';
import type { PortName } from './port-calls.ts';
import { type SetupWorld, TEST_RUN_DEADLINES } from './world.ts';

type AnyEvent = { readonly type: string; readonly [field: string]: unknown };

/** Makes an event of a chart happen from outside: a signal, a port that settles, a clock that fires. */
export async function applyEvent(world: SetupWorld, event: AnyEvent): Promise<void> {
  const [, kind = '', , name = ''] = event.type.split('.');
  if (event.type === 'INTERRUPT') await world.interrupt((event['signal'] as 'SIGINT' | undefined) ?? 'SIGINT');
  else if (kind === 'done') await world.settle(name as PortName, event['output']);
  else if (kind === 'error') await world.fail(name as PortName);
  else {
    world.clock.fire(TEST_RUN_DEADLINES[event.type.split('.')[2] as keyof typeof TEST_RUN_DEADLINES]);
    await world.flush();
  }
}

/** Told to hurry, once the verdict stands. */
const HURRIED = ['add', 'remove', 'handshake', 'installHook', 'uninstallHook'];

interface Walk<M extends AnyStateMachine> {
  readonly world: SetupWorld;
  readonly path: ChartPath<M>;
  /** Which finding of the run is this chart's. */
  readonly finding: number;
}

/** Walks a path, comparing after each step what is asked of the ports; then ends the run and compares the verdict. */
export async function walk<M extends AnyStateMachine>({ world, path, finding }: Walk<M>): Promise<void> {
  for (const { event, state } of path.steps) {
    if (event.type !== 'xstate.init') await applyEvent(world, event);
    const { status, children } = state as unknown as AnyMachineSnapshot;
    if (status !== 'active') continue;
    expect(world.asked().slice(-1)).toEqual(Object.keys(children));
    const [name] = Object.keys(children).filter((child) => HURRIED.includes(child));
    const isDecided = (state as { readonly context: { readonly verdict: unknown } }).context.verdict !== null;
    if (name) expect(world.find(name as PortName).signal?.aborted).toBe(isDecided);
  }
  const { status, output } = path.state as unknown as AnyMachineSnapshot;
  const verdict = (output as { readonly verdict?: Verdict } | undefined)?.verdict ?? (output as Verdict);
  const result = await world.finish();
  if (status === 'done') expect(result.findings[finding]).toMatchObject({ status: verdict.status, code: verdict.code });
  expect(world.referee.violations).toEqual([]);
  world.clock.assertEmpty();
  expect(world.listeners).toBe(0);
}

/** Several models of one chart as one, for charts whose input decides where they can go. */
export function unionOf<M extends AnyStateMachine>(models: readonly ChartModel<M>[]): ChartModel<M> {
  const [first] = models;
  return {
    key: (state: never) => (first as ChartModel<M>).key(state),
    reachable: (options: object) => models.flatMap((model) => model.reachable(options)),
  } as unknown as ChartModel<M>;
}

/** Exploring a chart takes longer than judging it, and most requirements are about the same one. */
export function remembered<K extends object, V>(explore: (key: K) => V): (key: K) => V {
  const known = new WeakMap<K, V>();
  return (key) => {
    const value = known.get(key) ?? explore(key);
    known.set(key, value);
    return value;
  };
}
