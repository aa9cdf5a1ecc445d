/** One connection as the product runs it, with the server and time scripted. */
import type { InspectionEvent } from 'xstate';
import { type RunningConnection, runConnection } from '../../src/app/grant-connection.ts';
import type { OpenReply } from '../../src/machines/grants/discovery.ts';
import type { CallReply } from '../../src/ports/grants.ts';
import { ManualClock } from './manual-clock.ts';
import { ScriptedServer } from './scripted-server.ts';
import { TEST_DEADLINES } from './world.ts';

export const GRANTS = [
  { alias: 'do', name: 'work' },
  { alias: 'else', name: 'other' },
];

export interface TrackedQuestion {
  readonly kind: 'OPEN' | 'CALL';
  /** How often it was answered; anything but one is wrong in the end. */
  answers: number;
  reply: OpenReply | CallReply | undefined;
}

export interface GrantWorldOptions {
  readonly inspect?: (event: InspectionEvent) => void;
  /** Another way to put the connection together: a wrong one, to show that a test would see it. */
  readonly assemble?: typeof runConnection;
}

export class GrantWorld {
  readonly server = new ScriptedServer();
  readonly clock = new ManualClock();
  readonly questions: TrackedQuestion[] = [];
  readonly defects: string[] = [];
  readonly connection: RunningConnection;
  isClosed = false;
  readonly #cancels = new Map<string, AbortController>();

  constructor({ inspect, assemble = runConnection }: GrantWorldOptions = {}) {
    this.connection = assemble(
      this.server,
      { grants: GRANTS },
      {
        clock: this.clock,
        deadlines: TEST_DEADLINES,
        onDefect: (code) => this.defects.push(code),
        ...(inspect && { inspect }),
      },
    );
  }

  open(): void {
    this.#track('OPEN', this.connection.open());
  }

  /** @param id What the test calls it by; free again once it has been answered. */
  call(id: string): TrackedQuestion {
    const cancel = new AbortController();
    this.#cancels.set(id, cancel);
    return this.#track('CALL', this.connection.call({ name: 'work', args: { id } }, cancel.signal));
  }

  cancel(id: string): void {
    this.#cancels.get(id)?.abort();
  }

  close(): void {
    void this.connection.close().then(() => {
      this.isClosed = true;
    });
  }

  /** Lets every promise that can settle do so; nothing here waits for time. */
  flush(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve));
  }

  #track(kind: TrackedQuestion['kind'], promise: Promise<OpenReply | CallReply>): TrackedQuestion {
    const question: TrackedQuestion = { kind, answers: 0, reply: undefined };
    this.questions.push(question);
    void promise.then((reply) => {
      question.answers += 1;
      question.reply = reply;
    });
    return question;
  }
}

/** Short and comparable. */
export function grantLabel(reply: OpenReply | CallReply): string {
  if (reply.ok) return 'ok';
  if ('reason' in reply) return reply.reason;
  return reply.tool === undefined ? reply.code : `${reply.code} ${reply.tool}`;
}
