/** How each chart's negative probes get to a state, and what they try there. */
import type { AnyStateMachine, SnapshotFrom } from 'xstate';
import type { ChartPath } from '../kit/chart-model.ts';
import type { NegativePlan, Stimulus } from '../kit/negative.ts';
import type { Operation } from '../kit/scripted-agent.ts';
import { applyProcessEvent, HOLDER, model as processModel } from './process/domain.ts';
import { applyRegistryEvent, isDiscardedLater, model as registryModel } from './registry/domain.ts';
import { applySessionEvent, model as sessionModel } from './session/domain.ts';
import { settleOrFire, model as startModel } from './start/domain.ts';
import { applyTurnEvent, model as turnModel } from './turn/domain.ts';

const SESSION = 's1';

/** The calls behind each invoked actor; where it is not itself one. */
const CALLS_OF: Readonly<Record<string, readonly Operation[]>> = {
  start: [
    'selectModel',
    'checkAuthentication',
    'readAuthentication',
    'checkAvailability',
    'connectTools',
    'createSession',
  ],
  turn: ['runTurn', 'abortTurn'],
  abortQuarantined: ['abortTurn'],
  abortAdmission: ['abortTurn'],
};
const isInvoked = (operation: Operation, { children }: { readonly children: object }) =>
  Object.keys(children).some((id) => id === operation || CALLS_OF[id]?.includes(operation));

const toSession = (sessionId: string): Stimulus[] => [
  {
    name: `prompt ${sessionId}`,
    event: { type: 'PROMPT', requestId: 'P', sessionId, turnId: 't9', prompt: 'x' } as Stimulus['event'],
    act: (world) => world.prompt(sessionId),
  },
  {
    name: `abort ${sessionId}`,
    event: { type: 'ABORT', requestId: 'A', sessionId } as Stimulus['event'],
    act: (world) => world.abort(sessionId),
  },
  {
    name: `close ${sessionId}`,
    event: { type: 'CLOSE', requestId: 'C', sessionId } as Stimulus['event'],
    act: (world) => world.close(sessionId),
  },
];

const quietly = (
  name: string,
  event: Stimulus['event'],
  act: (world: Parameters<Stimulus['act']>[0]) => void,
): Stimulus => ({
  name,
  event,
  act: (world) => {
    act(world);
    return undefined;
  },
});
const activity = quietly('activity', { type: 'ACTIVITY' }, (world) => {
  for (const turnId of ['id-1', 'id-2', 'id-3']) world.agent.activity(turnId);
});

const eventsOf = <M extends AnyStateMachine>(path: ChartPath<M>) => path.steps.slice(1).map(({ event }) => event);
const isOver = (path: { readonly state: unknown }) => (path.state as { status: string }).status === 'done';

export const startPlan: NegativePlan<ReturnType<typeof startModel>['machine']> = {
  model: startModel(),
  // A deadline and a rejection come to the same state, but only one of them leaves a call behind.
  paths: startModel().paths(),
  arrive: async (world, path) => {
    world.start(SESSION);
    await world.flush();
    for (const event of eventsOf(path)) await settleOrFire(world, event);
  },
  // A session in its start is unknown; one that is open is the session chart's matter.
  stimuli: ({ state }) =>
    state.matches('opened') ? [] : toSession(SESSION).map((each) => ({ ...each, event: { type: 'NONE' } })),
  isLive: (operation, { state }) => !isOver({ state }) && isInvoked(operation, state),
};

export const sessionPlan: NegativePlan<ReturnType<typeof sessionModel>['machine']> = {
  model: sessionModel(),
  arrive: async (world, path) => {
    world.start(SESSION);
    await world.flush();
    for (const event of eventsOf(path)) await applySessionEvent(world, SESSION, event);
  },
  stimuli: ({ state }) => [...toSession(SESSION), ...('turn' in state.children ? [] : [activity])],
  // A turn that is told to stop is over in the same step, and its session already disposing.
  isLive: (operation, { state }) =>
    (operation === 'disposeSession' && state.matches({ engaged: { ending: 'told' } })) ||
    (!isOver({ state }) && isInvoked(operation, state)),
};

export const turnPlan: NegativePlan<ReturnType<typeof turnModel>['machine']> = {
  model: turnModel(),
  paths: turnModel().paths(),
  arrive: async (world, path) => {
    world.agent.watchFails = eventsOf(path).some(({ type }) => type === 'xstate.error.actor.watchTurn');
    await world.openSession(SESSION);
    const turnId = await world.runPrompt(SESSION);
    for (const [index, event] of eventsOf(path).entries()) {
      const before = path.steps[index]?.state as SnapshotFrom<ReturnType<typeof turnModel>['machine']>;
      await applyTurnEvent(world, { sessionId: SESSION, turnId }, event, before);
    }
  },
  stimuli: (path) => {
    const [prompt, abort] = toSession(SESSION).map((each) => ({ ...each, event: { type: 'NONE' } }));
    const isEnding = eventsOf(path).some(({ type }) => type === 'END' || type === 'STOP');
    return [
      // At rest a prompt is welcome.
      ...(prompt && (isEnding || !isOver(path)) ? [prompt] : []),
      // While the session closes, it answers aborts itself.
      ...(abort && (isEnding || isOver(path)) ? [abort] : []),
      ...(isOver(path) ? [activity] : []),
    ];
  },
  // The session that ends with the turn may be disposing.
  isLive: (operation, { state }) =>
    operation === 'disposeSession' || (!isOver({ state }) && isInvoked(operation, state)),
};

export const registryPlan: NegativePlan<ReturnType<typeof registryModel>['machine']> = {
  model: registryModel(),
  arrive: async (world, path) => {
    const steps = path.steps.slice(1);
    for (const [index, { event }] of steps.entries()) {
      const before = path.steps[index]?.state;
      const sessionId = String(event['session']?.id ?? event['sessionId'] ?? '');
      const staysInStart = isDiscardedLater(sessionId, steps.slice(index));
      await applyRegistryEvent(world, event, { isStopping: before?.matches('draining') ?? false, staysInStart });
    }
  },
  stimuli: (path) => {
    const { open, tombstones } = path.state.context;
    const others = [...tombstones.map(({ id }) => id), 'nobody'].filter(
      (id) => isOver(path) || !open.some(({ sessionId }) => sessionId === id),
    );
    const start: Stimulus = {
      name: 'start',
      event: { type: 'START', requestId: 'S', session: { id: 'late' } } as Stimulus['event'],
      act: (world) => world.requests.find(({ sessionId }) => sessionId === world.start('late')),
    };
    const stop = quietly('end', { type: 'STOP' }, (world) => world.app.end());
    return [...others.flatMap(toSession), ...(path.state.matches('accepting') ? [] : [start, stop])];
  },
  isLive: (_, path) => !isOver(path),
};

export const processPlan: NegativePlan<ReturnType<typeof processModel>['machine']> = {
  model: processModel(),
  worldOptions: { transportClosesAtOnce: false },
  arrive: async (world, path) => {
    await world.openSession(HOLDER);
    for (const [index, event] of eventsOf(path).entries()) {
      const before = path.steps[index]?.state;
      if (before) await applyProcessEvent(world, event, before);
    }
  },
  stimuli: () => [
    quietly('ready', { type: 'READY' }, (world) => world.app.ready()),
    quietly('end', { type: 'END' }, (world) => world.app.end()),
    quietly('defect', { type: 'DEFECT' }, (world) => world.app.defect()),
    quietly('signal', { type: 'SIGNAL', status: 143 } as Stimulus['event'], (world) => world.app.signal(143)),
    ...toSession('nobody').map((each) => ({ ...each, event: { type: 'NONE' } })),
  ],
  isLive: (_, path) => !isOver(path),
};
