/** One running connection chart on its port, and the promises around it. */
import {
  type ActorOptions,
  type AnyActorLogic,
  createActor,
  fromCallback,
  fromPromise,
  type InspectionEvent,
} from 'xstate';
import { createAsk } from '../adapters/mcp/ask.ts';
import type { ConnectionInput } from '../machines/grants/connection.context.ts';
import { connectionMachine } from '../machines/grants/connection.machine.ts';
import type { ConnectionEvent } from '../machines/grants/connection.setup.ts';
import { type OpenReply, UNAVAILABLE } from '../machines/grants/discovery.ts';
import { endingMachine } from '../machines/grants/ending.machine.ts';
import { DEADLINES_MS, type Deadlines } from '../machines/shared/deadlines.ts';
import type { CallReply, ConnectionPort, GrantCall } from '../ports/grants.ts';

export interface RunOptions {
  readonly clock?: NonNullable<ActorOptions<AnyActorLogic>['clock']>;
  readonly deadlines?: Deadlines;
  readonly inspect?: (event: InspectionEvent) => void;
  /** A chart or a port broke its own rules. */
  readonly onDefect: (code: 'chart_defect' | 'reply_unclaimed') => void;
}

/** What can be asked of a connection. Nothing rejects. */
export interface RunningConnection {
  open(): Promise<OpenReply>;
  call(call: GrantCall, signal?: AbortSignal): Promise<CallReply>;
  /** Resolves when the child has ended or its bound is over; may be asked again. */
  close(): Promise<void>;
}

type Question<T> = T extends { readonly requestId: string } ? Omit<T, 'requestId'> : never;
type Questions = Question<Extract<ConnectionEvent, { readonly requestId: string }>>;

const GONE: Extract<CallReply, { readonly ok: false }> = { ok: false, reason: 'unavailable' };

/** Starts the chart; nothing of the server is started before `open`. */
export function runConnection(port: ConnectionPort, input: ConnectionInput, options: RunOptions): RunningConnection {
  const ask = createAsk<Questions, OpenReply | CallReply>(
    (event) => actor.send(event as ConnectionEvent),
    () => options.onDefect('reply_unclaimed'),
  );
  const actor = createActor(wireConnection(port, ask.deliver, options.deadlines ?? DEADLINES_MS), {
    input,
    ...(options.clock && { clock: options.clock }),
    ...(options.inspect && { inspect: options.inspect }),
    // The default logger writes to stdout, which carries the protocol.
    logger: () => {},
  });
  const over = new Promise<void>((resolve) => {
    const end = (): void => {
      ask.failAll(GONE);
      resolve();
    };
    actor.subscribe({
      complete: end,
      // A chart that threw leaves its children running, so what the port holds is let go of here.
      error: () => {
        options.onDefect('chart_defect');
        void port.kill().catch(() => {});
        end();
      },
    });
  });
  actor.start();
  let calls = 0;
  return {
    async open() {
      const reply = await ask.ask({ type: 'OPEN' });
      return 'code' in reply || 'tools' in reply ? reply : UNAVAILABLE;
    },
    async call(call, signal) {
      if (signal?.aborted) return { ok: false, reason: 'cancelled' };
      calls += 1;
      const callId = String(calls);
      const cancel = (): void => send({ type: 'CANCEL', callId });
      signal?.addEventListener('abort', cancel, { once: true });
      try {
        return (await ask.ask({ type: 'CALL', callId, call })) as CallReply;
      } finally {
        signal?.removeEventListener('abort', cancel);
      }
    },
    close() {
      send({ type: 'CLOSE' });
      return over;
    },
  };

  /** A chart that has ended has answered everything. */
  function send(event: ConnectionEvent): void {
    if (actor.getSnapshot().status === 'active') actor.send(event);
  }
}

function wireConnection(
  port: ConnectionPort,
  deliver: (requestId: string, reply: OpenReply | CallReply) => void,
  delays: Deadlines,
) {
  return connectionMachine.provide({
    actors: {
      watch: fromCallback(({ sendBack }) => port.watch(() => sendBack({ type: 'LOST' }))),
      connect: fromPromise(({ signal }) => port.connect(signal)),
      listPage: fromPromise(({ input, signal }) => port.listPage(input.cursor, signal)),
      call: fromPromise(({ input, signal }) => port.call(input, signal)),
      ending: endingMachine.provide({
        actors: {
          endInput: fromPromise(() => port.endInput()),
          terminate: fromPromise(() => port.terminate()),
          kill: fromPromise(() => port.kill()),
        },
        delays: {
          externalEndTimeout: delays.externalEndTimeout,
          externalTerminateTimeout: delays.externalTerminateTimeout,
          externalKillTimeout: delays.externalKillTimeout,
        },
      }),
    },
    actions: {
      reply: (_, answers) => {
        for (const { requestIds, reply } of answers) for (const id of requestIds) deliver(id, reply);
      },
    },
    delays: {
      externalStartTimeout: delays.externalStartTimeout,
      externalCallTimeout: delays.externalCallTimeout,
    },
  });
}
