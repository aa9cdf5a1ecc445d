/** The guardian as the product runs it, with the command's process and time scripted. */
import type { InspectionEvent } from 'xstate';
import { createCommandGuardian } from '../../../src/app/command-guardian.ts';
import type { CommandDeadlines } from '../../../src/machines/setup/setup-deadlines.ts';
import type { CommandResult } from '../../../src/ports/setup/command.ts';
import type {
  GuardedProcess,
  ProcessNews,
  ScanOutcome,
  SpawnOutcome,
} from '../../../src/ports/setup/guarded-process.ts';
import { ManualClock } from '../../kit/manual-clock.ts';

export type ProcessOperation = 'spawn' | 'terminate' | 'kill' | 'scan';

export interface ProcessCall {
  readonly operation: ProcessOperation;
  readonly resolve: (outcome: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** All different, so that a test can tell them apart and fire them one by one. */
export const COMMAND_TEST_DEADLINES: CommandDeadlines = {
  commandTerminateTimeout: 3_001,
  commandKillTimeout: 4_002,
  commandScanTimeout: 5_003,
  commandLookDelay: 54,
  commandRetryDelay: 2_005,
};
export const TIMEOUT_MS = 60_006;

/** Every call waits until the test settles it. */
export class ScriptedProcess implements GuardedProcess {
  readonly calls: ProcessCall[] = [];
  readonly history: ProcessOperation[] = [];
  watchFails = false;
  printed = 'printed';
  #onNews: ((news: ProcessNews) => void) | undefined;

  get isWatched(): boolean {
    return this.#onNews !== undefined;
  }

  news(news: ProcessNews): void {
    this.#onNews?.(news);
  }

  watch(onNews: (news: ProcessNews) => void): () => void {
    if (this.watchFails) throw new Error('scripted failure');
    this.#onNews = onNews;
    return () => {
      this.#onNews = undefined;
    };
  }

  /** The newest call; an older one is one that nobody waits for. */
  settle(operation: ProcessOperation, outcome: unknown): void {
    this.#take(operation).resolve(outcome);
  }

  fail(operation: ProcessOperation): void {
    this.#take(operation).reject(new Error('scripted rejection'));
  }

  spawn = () => this.#call<SpawnOutcome>('spawn');
  terminate = () => this.#call<void>('terminate');
  kill = () => this.#call<void>('kill');
  scan = () => this.#call<ScanOutcome>('scan');
  output = () => ({ stdout: this.printed, stderr: '' });

  #call<T>(operation: ProcessOperation): Promise<T> {
    this.history.push(operation);
    return new Promise((resolve, reject) => {
      this.calls.push({ operation, resolve: resolve as (outcome: unknown) => void, reject });
    });
  }

  #take(operation: ProcessOperation): ProcessCall {
    const at = this.calls.findLastIndex((call) => call.operation === operation);
    const [call] = at < 0 ? [] : this.calls.splice(at, 1);
    if (!call) throw new Error(`no ${operation} under way`);
    return call;
  }
}

export interface CommandWorldOptions {
  readonly inspect?: (event: InspectionEvent) => void;
  readonly watchFails?: boolean;
  /** Another way to put the guardian together: a wrong one, to show that a test would see it. */
  readonly assemble?: typeof createCommandGuardian;
}

export class CommandWorld {
  readonly clock = new ManualClock();
  /** One for each command, oldest first. */
  readonly processes: ScriptedProcess[] = [];
  readonly answers: CommandResult[] = [];
  readonly guardian: ReturnType<typeof createCommandGuardian>;
  defects = 0;

  readonly #watchFails: boolean;

  constructor({ inspect, watchFails = false, assemble = createCommandGuardian }: CommandWorldOptions = {}) {
    this.#watchFails = watchFails;
    this.guardian = assemble({
      answer: (result) => this.answers.push(result),
      clock: this.clock,
      deadlines: COMMAND_TEST_DEADLINES,
      ...(inspect && { inspect }),
      onDefect: () => {
        this.defects += 1;
      },
    });
  }

  get process(): ScriptedProcess {
    const process = this.processes.at(-1);
    if (!process) throw new Error('no command was started');
    return process;
  }

  async run(): Promise<void> {
    const process = new ScriptedProcess();
    process.watchFails = this.#watchFails;
    this.processes.push(process);
    this.guardian.run(process, TIMEOUT_MS);
    await this.flush();
  }

  /** Lets every promise that can settle do so; nothing here waits for time. */
  flush(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve));
  }
}
