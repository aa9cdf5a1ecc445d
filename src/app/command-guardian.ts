/** The guardian: one command's chart at a time on its real or scripted process, and what is said about it. */
import {
  type ActorOptions,
  type AnyActorLogic,
  createActor,
  fromCallback,
  fromPromise,
  type InspectionEvent,
} from 'xstate';
import { commandMachine } from '../machines/setup/command.machine.ts';
import { type CommandVerdict, RETAINED } from '../machines/setup/command.setup.ts';
import { COMMAND_DEADLINES_MS, type CommandDeadlines } from '../machines/setup/setup-deadlines.ts';
import type { CommandResult } from '../ports/setup/command.ts';
import type { GuardedProcess } from '../ports/setup/guarded-process.ts';

export interface GuardianOptions {
  /** Called once for each `run`, in order. */
  readonly answer: (result: CommandResult) => void;
  readonly clock?: NonNullable<ActorOptions<AnyActorLogic>['clock']>;
  readonly deadlines?: CommandDeadlines;
  readonly inspect?: (event: InspectionEvent) => void;
  /** The chart broke its own rules. */
  readonly onDefect: () => void;
}

export interface CommandGuardian {
  /** One command at a time: while another one is not over, nothing is started, and the answer is `retained`. */
  run(process: GuardedProcess, timeoutMs: number): void;
  /** Ends what runs; setup wants it, or is gone. Nothing happens when nothing runs. */
  stop(): void;
}

export function createCommandGuardian(options: GuardianOptions): CommandGuardian {
  let current: ReturnType<typeof guard> | undefined;
  const isActive = (): boolean => current?.getSnapshot().status === 'active';
  return {
    run(process, timeoutMs) {
      if (isActive()) options.answer({ kind: 'retained' });
      else current = guard(process, timeoutMs, options);
    },
    stop() {
      if (isActive()) current?.send({ type: 'STOP' });
    },
  };
}

function guard(port: GuardedProcess, timeoutMs: number, options: GuardianOptions) {
  let told = false;
  const tell = (verdict: CommandVerdict): void => {
    told = true;
    options.answer(resultOf(verdict, port));
  };
  const actor = createActor(wire(port, tell, options.deadlines ?? COMMAND_DEADLINES_MS), {
    input: { timeoutMs },
    ...(options.clock && { clock: options.clock }),
    ...(options.inspect && { inspect: options.inspect }),
    // The default logger writes to stdout, which carries the answers.
    logger: () => {},
  });
  actor.subscribe({
    // A chart that threw leaves its children running, so what the port holds is let go of here.
    error: () => {
      options.onDefect();
      void port.kill().catch(() => {});
      if (!told) tell(RETAINED);
    },
  });
  actor.start();
  return actor;
}

function resultOf({ kind, code }: CommandVerdict, port: GuardedProcess): CommandResult {
  return kind === 'exited' ? { kind, code, ...port.output() } : { kind };
}

function wire(port: GuardedProcess, tell: (verdict: CommandVerdict) => void, delays: CommandDeadlines) {
  return commandMachine.provide({
    actors: {
      watch: fromCallback(({ sendBack }) => port.watch((news) => sendBack(news))),
      spawn: fromPromise(() => port.spawn()),
      terminate: fromPromise(() => port.terminate()),
      kill: fromPromise(() => port.kill()),
      scan: fromPromise(() => port.scan()),
    },
    actions: { tell: (_, verdict) => tell(verdict) },
    delays,
  });
}
