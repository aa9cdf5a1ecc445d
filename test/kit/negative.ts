/**
 * Negative probes: what a chart ignores or answers without moving, and what
 * settles too late, must change nothing that anyone can observe.
 */
import type { AnyMachineSnapshot, AnyStateMachine } from 'xstate';
import type { ChartModel, ChartPath } from './chart-model.ts';
import { effectsOf, requestIdsOf } from './effects.ts';
import { describeState } from './requirements.ts';
import type { Call, Operation } from './scripted-agent.ts';
import { SELECTION, type TrackedRequest, World, type WorldOptions } from './world.ts';

/** Something that a client or the system does from outside, and the chart's event for it. */
export interface Stimulus {
  readonly name: string;
  readonly event: { readonly type: string; readonly requestId?: string };
  readonly act: (world: World) => TrackedRequest | undefined;
}

export interface NegativePlan<M extends AnyStateMachine> {
  readonly model: ChartModel<M>;
  /** Where to try: one path to each state, unless there is reason for more. */
  readonly paths?: readonly ChartPath<M>[];
  /** Brings a world to the end of a path. */
  readonly arrive: (world: World, path: ChartPath<M>) => Promise<void>;
  readonly stimuli: (path: ChartPath<M>) => readonly Stimulus[];
  /** Might somebody still listen to such a call? One whose signal is aborted is late in any case. */
  readonly isLive: (operation: Operation, path: ChartPath<M>) => boolean;
  readonly worldOptions?: WorldOptions;
}

export interface ProbeReport {
  readonly places: number;
  readonly ignored: number;
  readonly stale: number;
  readonly failures: readonly string[];
}

/** Every way in which a call may settle; `undefined` where that is no outcome at all, `REJECTS` for a rejection. */
const REJECTS = Symbol('rejects');
const STEP = [{ ok: true }, { ok: false, code: 'unknown_model', stage: 'model' }, undefined];
const OUTCOMES: Readonly<Record<Operation, readonly unknown[]>> = {
  selectModel: STEP,
  checkAuthentication: STEP,
  readAuthentication: STEP,
  checkAvailability: STEP,
  connectTools: STEP,
  createSession: [
    { ok: true, selection: SELECTION },
    { ok: false, code: 'model_unavailable', stage: 'postcheck' },
  ],
  admitPrompt: [{ disposition: 'started' }, { disposition: 'refused' }, undefined],
  settlePrompt: [undefined],
  runTurn: [{ state: 'completed', assistantText: 'late', truncated: false }, { state: 'failed' }, { state: 'aborted' }],
  abortTurn: [{ ok: true }, { ok: false }, undefined],
  disposeSession: [undefined],
};
const LOOKED_UP_TURNS = 8;
/** Ids that a probe asks for although no session has them. */
const STRANGERS = ['late', 'nobody'];

/** All that can be seen from outside, as text. `without`: a call that has just settled. */
function observe(world: World, without?: Call): string {
  const { agent, app, clock } = world;
  const sessionIds = [...new Set([...world.requests.map(({ sessionId }) => sessionId), ...STRANGERS])].sort();
  const turnIds = Array.from({ length: LOOKED_UP_TURNS }, (_, index) => `id-${index + 1}`);
  return JSON.stringify(
    {
      list: app.service.list(),
      sessions: sessionIds.map((id) => app.service.get(id)),
      turns: sessionIds.flatMap((id) => turnIds.map((turnId) => app.service.turn(id, turnId))),
      calls: agent.calls
        .filter((call) => call !== without)
        .map(({ operation, sessionId, turnId, signal }) => [operation, sessionId, turnId, signal?.aborted]),
      timers: [...clock.pendingByDelay()].map(([delay, ids]) => [delay, ids.length]).sort(),
      disposals: [...agent.disposals].sort(),
      handles: [agent.openHandles, agent.watchers],
      process: [world.exitStatus, world.transportClosings],
      reports: world.reports,
      violations: agent.violations,
      unanswered: world.unanswered().length,
    },
    (_, value) => (value === undefined ? null : value),
  );
}

/** Would the chart answer this, or ignore it, without doing anything else? */
function staysPut<M extends AnyStateMachine>(
  model: ChartModel<M>,
  state: ChartPath<M>['state'],
  { event }: Stimulus,
): boolean {
  if ((state as unknown as AnyMachineSnapshot).status !== 'active') return true;
  const { state: next, answers, sent, spawned, deadlines } = effectsOf(state, event);
  const isAnswered = requestIdsOf(event).every((id) => answers.some(({ requestId }) => requestId === id));
  const isQuiet = sent.length + spawned.length + deadlines.length === 0;
  return isQuiet && isAnswered && model.key(next as never) === model.key(state);
}

/** Tries everything that must not matter in every state that the chart can reach. */
export async function probeAll<M extends AnyStateMachine>(
  plan: NegativePlan<M>,
  options: WorldOptions = {},
  maxFailures = Number.POSITIVE_INFINITY,
): Promise<ProbeReport> {
  const paths = plan.paths ?? plan.model.prefixes();
  const failures: string[] = [];
  let ignored = 0;
  let stale = 0;
  const worldAt = async (path: ChartPath<M>) => {
    const world = new World({ ...plan.worldOptions, ...options });
    await plan.arrive(world, path);
    return world;
  };
  for (const path of paths) {
    if (failures.length >= maxFailures) break;
    const where = `${describeState(path.state)} after ${path.title}`;
    const world = await worldAt(path);
    // One after the other in the same world: that nothing has changed is just what each has to show.
    for (const stimulus of plan.stimuli(path).filter((each) => staysPut(plan.model, path.state, each))) {
      ignored += 1;
      const finding = await tryIgnored(world, stimulus);
      if (finding) failures.push(`${stimulus.name} in ${where}: ${finding}`);
    }
    const lateCalls = (at: World) =>
      at.agent.calls.filter(({ signal, operation }) => signal?.aborted || !plan.isLive(operation, path));
    for (const [index, { operation }] of lateCalls(world).entries()) {
      for (const outcome of [...OUTCOMES[operation], REJECTS]) {
        stale += 1;
        const fresh = await worldAt(path);
        const finding = await tryLate(fresh, lateCalls(fresh)[index], outcome);
        if (finding)
          failures.push(`late ${operation} ${JSON.stringify(outcome) ?? 'rejected'} in ${where}: ${finding}`);
      }
    }
  }
  return { places: paths.length, ignored, stale, failures };
}

async function tryIgnored(world: World, { act }: Stimulus): Promise<string | undefined> {
  const before = observe(world);
  const request = act(world);
  await world.flush();
  if (request && request.reply === undefined) return 'no answer';
  return difference(before, observe(world));
}

async function tryLate(world: World, call: Call | undefined, outcome: unknown): Promise<string | undefined> {
  if (!call) return 'the world came out differently the second time';
  const before = observe(world, call);
  if (outcome === REJECTS) world.agent.rejectCall(call);
  else world.agent.settleCall(call, outcome);
  await world.flush();
  return difference(lateHandle(before, call, outcome), observe(world));
}

/** The one thing that late work may do: the handle that an abandoned start still brings is disposed, once. */
function lateHandle(before: string, { operation, sessionId }: Call, outcome: unknown): string {
  if (operation !== 'createSession' || !(outcome as { ok?: boolean }).ok) return before;
  const seen = JSON.parse(before) as { disposals: [string, number][] };
  seen.disposals = [...seen.disposals, [sessionId, 1] as [string, number]].sort();
  return JSON.stringify(seen);
}

function difference(before: string, after: string): string | undefined {
  if (before === after) return undefined;
  const [was, is] = [before, after].map((text) => JSON.parse(text) as Record<string, unknown>);
  const changed = Object.keys(was ?? {}).filter((key) => JSON.stringify(was?.[key]) !== JSON.stringify(is?.[key]));
  return changed.map((key) => `${key} ${JSON.stringify(was?.[key])} → ${JSON.stringify(is?.[key])}`).join('; ');
}
