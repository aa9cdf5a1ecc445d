/** One SDK session and its current turn. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AbortOutcome, AdmitOutcome } from '../../ports/agent.ts';
import type { Diagnostics } from '../../ports/diagnostics.ts';
import { endExtensions } from './extension-bind.ts';
import type { AgentSession } from './sdk.ts';
import type { ToolChildren } from './tool-children.ts';
import { Turn } from './turn.ts';

/** Pi's tools that start a process of their own. */
const SPAWNING_TOOLS = new Set(['bash', 'grep', 'find']);

const ignore = (): void => {};

export interface HandleParts {
  readonly sessionId: string;
  readonly session: AgentSession;
  readonly children: ToolChildren;
  readonly diagnostics: Diagnostics;
}

export class SessionHandle {
  private readonly parts: HandleParts;
  private disposed = false;
  private turn: Turn | undefined;

  constructor(parts: HandleParts) {
    this.parts = parts;
    this.listen();
  }

  /** The record of exactly this turn; an earlier one is gone. */
  turnOf(turnId: string): Turn | undefined {
    return this.turn?.turnId === turnId ? this.turn : undefined;
  }

  /** Submits the prompt. After a dispose the SDK would accept it and send a stale context, so we refuse. */
  admit(turnId: string, prompt: string, signal: AbortSignal): Promise<AdmitOutcome> {
    if (this.disposed || signal.aborted || this.turn?.live) return Promise.resolve({ disposition: 'refused' });
    const turn = new Turn(turnId);
    this.turn = turn;
    return new Promise((resolve) => {
      let waiting = true;
      const answer = (disposition: AdmitOutcome['disposition']): void => {
        waiting = false;
        signal.removeEventListener('abort', giveUp);
        resolve({ disposition });
      };
      const giveUp = (): void => answer('refused');
      signal.addEventListener('abort', giveUp, { once: true });
      const onPreflight = (disposition: 'started' | 'handled' | 'queued'): void => {
        // Throwing is what keeps the SDK from running a prompt whose session was disposed meanwhile.
        if (this.disposed) throw new Error('disposed');
        const admitted = disposition === 'started' && waiting;
        // Nobody waits for this turn any more, or it was only queued: it must not work unseen.
        if (disposition === 'queued') this.parts.session.clearQueue();
        else if (disposition === 'started' && !admitted) void this.parts.session.abort().catch(ignore);
        answer(admitted ? 'started' : 'refused');
      };
      turn.settled = this.submit(prompt, onPreflight).then(() => {
        turn.settle();
        answer('refused');
      });
    });
  }

  /** Joins a live attempt. Leaves nothing queued behind. */
  abort(turn: Turn): Promise<AbortOutcome> {
    if (!turn.live || this.disposed) return Promise.resolve({ ok: true });
    turn.abort ??= this.attemptAbort().finally(() => {
      turn.abort = undefined;
    });
    return turn.abort;
  }

  /**
   * At most once. The turn that runs settles without a further message. Only hooks
   * of extensions are waited for, and not for ever; with `now` they are merely told.
   */
  async dispose(now = false): Promise<void> {
    if (this.disposed) return;
    this.disposed = true;
    const { session, diagnostics } = this.parts;
    try {
      // `dispose` alone does not tell the run loop to stop between two attempts.
      void session.abort().catch(ignore);
      const told = endExtensions(session);
      if (told && !now) await told;
      session.dispose();
    } catch {
      diagnostics.report('warn', 'pi_session_dispose_failed');
    }
  }

  private async submit(
    text: string,
    preflightResult: (disposition: 'started' | 'handled' | 'queued') => void,
  ): Promise<void> {
    try {
      await this.parts.session.prompt(text, { expandPromptTemplates: false, source: 'rpc', preflightResult });
    } catch {
      // Refused in preflight; a failed run resolves and is told by its last message.
    }
  }

  private async attemptAbort(): Promise<AbortOutcome> {
    const { session } = this.parts;
    try {
      await session.abort();
      if (!this.disposed) session.clearQueue();
      // The session is idle now, and the run's own promise settles in this round: its message decides first.
      await nextTurn();
      return { ok: true };
    } catch {
      return { ok: false };
    }
  }

  private listen(): void {
    const { session, sessionId, children } = this.parts;
    session.subscribe((event) => {
      switch (event.type) {
        case 'tool_execution_start':
          if (SPAWNING_TOOLS.has(event.toolName)) children.arm(sessionId);
          break;
        case 'tool_execution_end':
          this.signalActivity();
          break;
        case 'message_end':
          if (event.message.role !== 'assistant') break;
          this.turn?.sawMessage(event.message);
          this.signalActivity();
          break;
        default:
          break;
      }
    });
  }

  private signalActivity(): void {
    if (!this.turn?.live) return;
    for (const listener of this.turn.activity) {
      try {
        listener();
      } catch {
        // An exception here would break the SDK's run.
        this.parts.diagnostics.report('error', 'turn_activity_listener_failed');
      }
    }
  }
}
