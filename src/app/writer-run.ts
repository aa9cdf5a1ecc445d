/** One operation on one writer: the writer chart on its port. */
import { type ActorOptions, type AnyActorLogic, createActor, fromPromise, type InspectionEvent } from 'xstate';
import { finishMachine } from '../machines/writers/finish.machine.ts';
import { provisionMachine } from '../machines/writers/provision.machine.ts';
import { removalMachine } from '../machines/writers/removal.machine.ts';
import { writerMachine } from '../machines/writers/writer.machine.ts';
import type {
  StepOutcome,
  WriterCode,
  WriterInput,
  WriterPhase,
  WriterPort,
  WriterStep,
} from '../ports/writers/lifecycle.ts';

export interface WriterRunOptions {
  readonly clock?: NonNullable<ActorOptions<AnyActorLogic>['clock']>;
  readonly inspect?: (event: InspectionEvent) => void;
}

export interface WriterRun {
  /** Never rejects. */
  readonly ended: Promise<WriterCode>;
  /** Ends the step that is under way, and the run after it; also when it is over. */
  interrupt(): void;
}

/** Starts at once. */
export function runWriter(port: WriterPort, input: WriterInput, options: WriterRunOptions = {}): WriterRun {
  const actor = createActor(wire(port), { input, ...options, logger: () => {} });
  const ended = new Promise<WriterCode>((resolve) => {
    actor.subscribe({
      complete: () => resolve(actor.getSnapshot().output?.code ?? 'defect'),
      // A chart that threw leaves its children running; the fence must not outlast the run.
      error: () =>
        void port
          .quiesce()
          .then(() => port.release())
          .then(
            () => resolve('defect'),
            () => resolve('defect'),
          ),
    });
  });
  actor.start();
  actor.send({ type: 'START' });
  return {
    ended,
    interrupt() {
      if (actor.getSnapshot().status === 'active') actor.send({ type: 'INTERRUPT' });
    },
  };
}

type PlainStep = Exclude<WriterStep, 'record' | 'collect' | 'inspect'>;

function wire(port: WriterPort) {
  const step = (name: PlainStep) => fromPromise<StepOutcome, void>(({ signal }) => port[name](signal));
  const record = fromPromise<StepOutcome, WriterPhase>(({ input, signal }) => port.record(input, signal));
  return writerMachine.provide({
    actors: {
      fence: fromPromise(({ signal }) => port.fence(signal)),
      read: fromPromise(({ signal }) => port.read(signal)),
      inspect: fromPromise(({ signal }) => port.inspect(signal)),
      consult: fromPromise(({ signal }) => port.consult(signal)),
      register: step('register'),
      quiesce: fromPromise(() => port.quiesce()),
      release: fromPromise(() => port.release()),
      provision: provisionMachine.provide({
        actors: {
          record,
          clone: step('clone'),
          prepare: step('prepare'),
          configure: step('configure'),
          wrap: step('wrap'),
          register: step('register'),
          control: step('control'),
          accept: step('accept'),
        },
      }),
      finish: finishMachine.provide({
        actors: {
          record,
          collect: fromPromise(({ signal }) => port.collect(signal)),
          reset: step('reset'),
          recreate: step('recreate'),
        },
      }),
      removal: removalMachine.provide({
        actors: { record, unregister: step('unregister'), dispose: step('dispose'), forget: step('forget') },
      }),
    },
  });
}
