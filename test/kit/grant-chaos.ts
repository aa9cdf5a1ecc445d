/**
 * The real grants host in virtual time with everything that could happen next:
 * openings, calls, cancellations, closings, deadlines and what servers do; and a
 * watch from outside that throws as soon as a promise is broken.
 */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import { createGrantHost, type GrantHostOptions } from '../../src/app/grant-host.ts';
import type { CallReply, GrantsOutcome, GrantsPort } from '../../src/ports/grants.ts';
import { ManualClock } from './manual-clock.ts';
import { LISTED, ScriptedServer, type ServerCall, type ServerOperation, SUCCESS } from './scripted-server.ts';
import { TEST_DEADLINES, testConfiguration } from './world.ts';

type Move = () => void;

interface Opening {
  readonly sessionId: string;
  readonly cancel: AbortController;
  readonly servers: readonly ScriptedServer[];
  outcome: GrantsOutcome | undefined;
  /** Nobody wants it any more: it was aborted or closed, or could not be opened. */
  isUnwanted: boolean;
  isClosed: boolean;
  /** What its servers had been asked for when it became unwanted. */
  asked: number;
}

interface Asked {
  readonly opening: Opening;
  readonly server: ScriptedServer;
  readonly cancel: AbortController;
  answers: number;
  reply: CallReply | undefined;
  /** Something that wins over any result came first. */
  isSpoiled: boolean;
}

const OUTCOMES: Readonly<Record<ServerOperation, readonly unknown[]>> = {
  connect: [SUCCESS.connect, SUCCESS.connect, { ok: false }],
  listPage: [
    SUCCESS.listPage,
    SUCCESS.listPage,
    { ok: true, tools: [], nextCursor: 'next' },
    { ok: true, tools: LISTED.slice(1), nextCursor: null },
  ],
  call: [SUCCESS.call, SUCCESS.call, { ok: false, reason: 'failed' }],
  endInput: [undefined],
  terminate: [undefined],
  kill: [undefined],
};
const ENDS: readonly ServerOperation[] = ['endInput', 'terminate', 'kill'];
const MAX_CALLS = 12;

const workOf = ({ history }: ScriptedServer) => history.filter((operation) => !ENDS.includes(operation)).length;

export class GrantChaos {
  readonly clock = new ManualClock();
  readonly defects: string[] = [];
  readonly openings: Opening[] = [];
  readonly calls: Asked[] = [];
  readonly #host: GrantsPort;
  #started: ScriptedServer[] = [];

  constructor(assemble: (options: GrantHostOptions) => GrantsPort = createGrantHost) {
    this.#host = assemble({
      configuration: testConfiguration([
        { alias: 'one', tools: ['work', 'other'] },
        { alias: 'two', tools: ['other'] },
      ]),
      diagnostics: { report: (_level, event) => void this.defects.push(event) },
      clock: this.clock,
      deadlines: TEST_DEADLINES,
      connect: () => {
        const server = new ScriptedServer();
        this.#started.push(server);
        return server;
      },
      sweep: async () => {},
    });
  }

  flush(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve));
  }

  /** A session whose servers all do what they should. */
  async openWell(): Promise<void> {
    this.#open();
    await this.flush();
    for (const operation of ['connect', 'listPage'] as const) {
      for (const server of this.#started) server.settle(server.find(operation), SUCCESS[operation]);
      await this.flush();
    }
  }

  /** Everything that could happen next, in a stable order. */
  moves(): Move[] {
    const moves: Move[] = [];
    if (this.openings.length < 2) moves.push(() => this.#open());
    for (const opening of this.openings) {
      moves.push(() => this.#abort(opening));
      moves.push(() => this.#close(opening));
      if (opening.outcome?.ok && this.calls.length < MAX_CALLS) {
        moves.push(
          () => this.#call(opening, 0),
          () => this.#call(opening, 0),
          () => this.#call(opening, 1),
        );
      }
      for (const server of opening.servers) moves.push(...this.#serverMoves(opening, server));
    }
    for (const call of this.calls) {
      if (call.reply === undefined) moves.push(() => this.#cancel(call));
    }
    for (const ids of this.clock.pendingByDelay().values()) for (const id of ids) moves.push(() => this.#fire(id));
    return moves;
  }

  check(): void {
    deepStrictEqual(this.defects, []);
    for (const opening of this.openings) {
      for (const server of opening.servers) {
        const live = server.live.filter(({ operation }) => operation === 'call').length;
        ok(live <= 1, `${live} calls at once`);
      }
      if (opening.outcome && !opening.outcome.ok) this.#unwant(opening);
      if (!opening.isUnwanted) continue;
      strictEqual(
        this.#asked(opening),
        opening.asked,
        `a server of ${opening.sessionId} was asked for something after its end`,
      );
    }
    for (const { answers, reply, isSpoiled } of this.calls) {
      ok(answers <= 1, `${answers} answers`);
      ok(!(isSpoiled && reply?.ok), 'a result came through after a deadline, a cancellation, a close or a loss');
    }
  }

  /** Everybody leaves; the servers say nothing more, and then everything, too late. */
  async end(): Promise<void> {
    for (const opening of this.openings) this.#close(opening);
    await this.flush();
    this.check();
    while (this.clock.size > 0) {
      const [first] = [...this.clock.pendingByDelay()].sort(([a], [b]) => a - b);
      this.#fire(first?.[1][0] ?? -1);
      await this.flush();
      this.check();
    }
    this.#checkEnd();
    for (const { servers } of this.openings) {
      for (const server of servers) {
        for (const call of [...server.calls]) server.settle(call, SUCCESS[call.operation]);
      }
    }
    await this.flush();
    this.check();
    this.#checkEnd();
  }

  #checkEnd(): void {
    this.clock.assertEmpty();
    for (const { sessionId, outcome, isClosed, servers } of this.openings) {
      ok(outcome, `the opening of ${sessionId} was never answered`);
      ok(isClosed, `${sessionId} never closed`);
      for (const server of servers) {
        strictEqual(server.watchers, 0, 'a server is still watched');
        const [last] = server.history.slice(-1);
        ok(last === undefined || ENDS.includes(last), `the last thing that a server was asked for is ${last}`);
      }
    }
    for (const { answers } of this.calls) strictEqual(answers, 1);
  }

  #open(): void {
    const sessionId = `s${this.openings.length + 1}`;
    const cancel = new AbortController();
    this.#started = [];
    const opened = this.#host.open({ sessionId, workspace: 'here', executionProfile: 'reader' }, cancel.signal);
    const servers = this.#started;
    const opening: Opening = {
      sessionId,
      cancel,
      servers,
      outcome: undefined,
      isUnwanted: false,
      isClosed: false,
      asked: 0,
    };
    this.openings.push(opening);
    void opened.then((outcome) => {
      opening.outcome = outcome;
    });
  }

  #call(opening: Opening, index: number): void {
    const server = opening.servers[index];
    if (!server) return;
    const cancel = new AbortController();
    const name = index === 0 ? 'mcp_one_work' : 'mcp_two_other';
    const call: Asked = { opening, server, cancel, answers: 0, reply: undefined, isSpoiled: opening.isUnwanted };
    this.calls.push(call);
    void this.#host.call(opening.sessionId, name, {}, cancel.signal).then((reply) => {
      call.answers += 1;
      call.reply = reply;
    });
  }

  #cancel(call: Asked): void {
    call.isSpoiled = true;
    call.cancel.abort();
  }

  #abort(opening: Opening): void {
    // Afterwards nobody listens: the start has moved on.
    if (opening.outcome?.ok) return;
    this.#unwant(opening);
    opening.cancel.abort();
  }

  #close(opening: Opening): void {
    this.#unwant(opening);
    void this.#host.close(opening.sessionId).then(() => {
      opening.isClosed = true;
    });
  }

  #lose(server: ScriptedServer): void {
    this.#spoil((call) => call.server === server);
    server.lose();
  }

  #fire(id: number): void {
    const busy = this.openings
      .flatMap(({ servers }) => servers)
      .flatMap((server) => server.live.map((call) => ({ server, call })));
    this.clock.fireAny(id);
    for (const { server, call } of busy) {
      if (call.operation !== 'call' || !call.signal?.aborted) continue;
      // Of the calls that wait, the oldest is the one at work.
      const timedOut = this.calls.find((each) => each.server === server && each.reply === undefined && !each.isSpoiled);
      if (timedOut) timedOut.isSpoiled = true;
    }
  }

  #unwant(opening: Opening): void {
    if (!opening.isUnwanted) opening.asked = this.#asked(opening);
    opening.isUnwanted = true;
    this.#spoil((call) => call.opening === opening);
  }

  #asked({ servers }: Opening): number {
    return servers.reduce((sum, server) => sum + workOf(server), 0);
  }

  #spoil(which: (call: Asked) => boolean): void {
    for (const call of this.calls) if (call.reply === undefined && which(call)) call.isSpoiled = true;
  }

  #serverMoves(opening: Opening, server: ScriptedServer): Move[] {
    const settle = (call: ServerCall): Move[] => [
      ...OUTCOMES[call.operation].map((outcome) => () => server.settle(call, outcome)),
      () => server.fail(call),
    ];
    const lose = opening.isUnwanted ? [] : [() => this.#lose(server)];
    return [...server.calls.flatMap(settle), ...lose];
  }
}
