/** fast-check commands that do one thing to a real assembly and to the pure charts, and compare all that can be seen. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import fc from 'fast-check';
import type { SessionState } from '../../src/ports/session-service.ts';
import { PureSession, type SessionChart } from './pure-session.ts';
import type { Call, Operation } from './scripted-agent.ts';
import { SELECTION, TEST_DEADLINES, World, type WorldOptions } from './world.ts';

const SESSION = 's1';
const STATUS_OF_END = 0;
const STOPPING = { ok: false, code: 'server_stopping' };

const STEP = [{ ok: true }, { ok: true }, { ok: true }, { ok: false, code: 'unknown_model', stage: 'model' }];
const OUTCOMES: Readonly<Record<Operation, readonly unknown[]>> = {
  selectModel: STEP,
  checkAuthentication: STEP,
  readAuthentication: STEP,
  checkAvailability: STEP,
  connectTools: STEP,
  createSession: [
    { ok: true, selection: SELECTION },
    { ok: true, selection: SELECTION },
    { ok: false, code: 'execution_selection_mismatch', stage: 'postcheck' },
  ],
  admitPrompt: [{ disposition: 'started' }, { disposition: 'started' }, { disposition: 'refused' }],
  settlePrompt: [undefined],
  runTurn: [{ state: 'completed', assistantText: 'done', truncated: false }, { state: 'failed' }, { state: 'aborted' }],
  abortTurn: [{ ok: true }, { ok: false }],
  disposeSession: [undefined],
};

export interface Model {
  readonly pure: PureSession;
  /** Ids of the requests, in the order of the world's. */
  readonly requestIds: string[];
  readonly seenCalls: Set<Call>;
  liveCalls: number;
  isStopping: boolean;
  /** The process has ended: whoever still waits is told so. */
  hasExited: boolean;
}
type Pair = { readonly model: Model; readonly real: World };

export async function setUp(opened: boolean, options: WorldOptions, chart?: SessionChart): Promise<Pair> {
  const real = new World(options);
  const model: Model = {
    pure: new PureSession(SESSION, 'S0', real.clock.now, chart),
    requestIds: ['S0'],
    seenCalls: new Set(),
    liveCalls: 0,
    isStopping: false,
    hasExited: false,
  };
  real.app.ready();
  real.start(SESSION);
  await real.flush();
  for (; opened && !model.pure.view().ok; ) await settle(model, real, 0, 0, false);
  agree(model, real);
  return { model, real };
}

async function settle(model: Model, real: World, which: number, how: number, isRejected: boolean): Promise<void> {
  const call = real.agent.calls[which % real.agent.calls.length];
  if (!call) throw new Error('nothing to settle');
  const outcomes = OUTCOMES[call.operation];
  const outcome = outcomes[how % outcomes.length];
  if (!model.hasExited) model.pure.settle(call, outcome, isRejected);
  if (isRejected) real.agent.rejectCall(call);
  else real.agent.settleCall(call, outcome);
  await real.flush();
}

/** Of the charts that are not modelled here. */
const OUTER_DELAYS: readonly number[] = [TEST_DEADLINES.registryTimeout, TEST_DEADLINES.processTimeout];

/** Everything visible from outside is as the charts have it. */
function agree(model: Model, real: World): void {
  const { pure } = model;
  const { agent, app, clock } = real;
  if (model.isStopping && pure.isOver) model.hasExited = true;
  model.liveCalls = agent.calls.length;
  for (const [index, id] of model.requestIds.entries()) {
    const answers = pure.answers.get(id) ?? (model.hasExited ? [STOPPING] : []);
    ok(answers.length <= 1, `${id} was answered ${answers.length} times`);
    deepStrictEqual(real.requests[index]?.reply, answers[0], `the answer to ${id}`);
  }
  deepStrictEqual(
    real.reports.filter(({ event }) => event !== 'pi_session_creation_failed'),
    [],
  );
  deepStrictEqual(agent.violations, []);
  ok((agent.disposals.get(SESSION) ?? 0) <= 1, 'disposed twice');
  strictEqual(real.exitStatus, model.hasExited ? STATUS_OF_END : undefined);
  if (model.hasExited) {
    clock.assertEmpty();
    return;
  }
  deepStrictEqual(app.service.get(SESSION), pure.view());
  const open: (SessionState | undefined)[] = app.service.list().map(({ state }) => state);
  const view = pure.view();
  deepStrictEqual(open, view.ok && view.session.state !== 'closed' ? [view.session.state] : []);
  for (const turnId of pure.turnIds) deepStrictEqual(app.service.turn(SESSION, turnId), pure.turnView(turnId), turnId);
  const ownDelays = pure.timers().map(({ delayMs }) => delayMs);
  const delays = [...clock.pendingByDelay()].flatMap(([delay, ids]) => ids.map(() => delay));
  deepStrictEqual(delays.filter((delay) => !OUTER_DELAYS.includes(delay)).sort(), ownDelays.sort());
  agreeOnCalls(model, real);
}

function agreeOnCalls({ pure, seenCalls }: Model, { agent }: World): void {
  const label = ({ operation, turnId }: Call) => `${operation} ${turnId}`;
  const awaited = agent.calls.filter((call) => pure.awaits(call)).map(label);
  deepStrictEqual(awaited.sort(), pure.pendingCalls());
  for (const call of agent.calls) {
    ok(seenCalls.has(call) || pure.awaits(call), `a call that nobody awaits: ${label(call)}`);
    seenCalls.add(call);
  }
}

/** One command: `can` looks at the model alone, `act` does it to both. */
function command(
  name: string,
  can: (model: Readonly<Model>) => boolean,
  act: (model: Model, real: World) => void | Promise<void>,
): fc.AsyncCommand<Model, World> {
  return {
    check: can,
    run: async (model, real) => {
      await act(model, real);
      await real.flush();
      agree(model, real);
    },
    toString: () => name,
  };
}

type RequestName = 'prompt' | 'abort' | 'close';

const request = (name: RequestName) =>
  command(
    name,
    () => true,
    (model, real) => {
      const requestId = `${name}${model.requestIds.length}`;
      const turnId = `t${model.requestIds.length}`;
      model.requestIds.push(requestId);
      if (name === 'prompt') real.nextIds.push(turnId);
      if (!model.hasExited) model.pure.request({ type: name.toUpperCase(), requestId, turnId, prompt: 'do it' });
      real[name](SESSION);
    },
  );

const end = command(
  'end',
  (model) => !model.isStopping,
  (model, real) => {
    model.isStopping = true;
    if (!model.pure.isOver) model.pure.request({ type: 'STOP' });
    real.app.end();
  },
);

const settlement = (which: number, how: number, isRejected: boolean) =>
  command(
    `${isRejected ? 'reject' : 'settle'} ${which}/${how}`,
    ({ liveCalls }) => liveCalls > 0,
    (model, real) => settle(model, real, which, how, isRejected),
  );

const timer = (which: number) =>
  command(
    `fire ${which}`,
    ({ pure, hasExited }) => !hasExited && pure.timers().length > 0,
    ({ pure }, real) => {
      const timers = pure.timers();
      const chosen = timers[which % timers.length];
      if (!chosen) throw new Error('no timer');
      const alike = timers.filter(({ delayMs }) => delayMs === chosen.delayMs);
      const id = real.clock.pendingByDelay().get(chosen.delayMs)?.[alike.indexOf(chosen)];
      // The clock first: firing moves it, and both sides look at it.
      real.clock.fireAny(id ?? -1);
      pure.fire(chosen);
    },
  );

const activity = (which: number) =>
  command(
    `activity ${which}`,
    ({ pure, hasExited }) => !hasExited && pure.turnIds.length > 0,
    ({ pure }, real) => {
      const turnId = pure.turnIds[which % pure.turnIds.length] ?? '';
      real.clock.advance(3);
      pure.activity(turnId);
      real.agent.activity(turnId);
    },
  );

/** More of what leads somewhere, less of what ends everything. */
export function sessionCommands(maxCommands: number) {
  const number = fc.nat({ max: 59 });
  const arbitraries = [
    { weight: 6, arbitrary: fc.constantFrom(request('prompt'), request('abort')) },
    { weight: 1, arbitrary: fc.constant(request('close')) },
    { weight: 8, arbitrary: fc.tuple(number, number).map(([which, how]) => settlement(which, how, false)) },
    { weight: 1, arbitrary: number.map((which) => settlement(which, 0, true)) },
    { weight: 3, arbitrary: number.map(timer) },
    { weight: 1, arbitrary: number.map(activity) },
  ];
  // `commands` picks evenly, so a weight is so many copies.
  const copies = arbitraries.flatMap(({ weight, arbitrary }) => Array.from({ length: weight }, () => arbitrary));
  return fc.commands([...copies, fc.constant(end)], { maxCommands, size: 'max' });
}
