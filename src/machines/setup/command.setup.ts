/** The command chart's vocabulary: types, actors, guards, actions and delays. */
import { assign, setup } from 'xstate';
import type { ProcessNews, ScanOutcome, SpawnOutcome } from '../../ports/setup/guarded-process.ts';
import { unprovidedCallback, unprovidedPromise } from '../shared/unprovided.ts';
import { COMMAND_DEADLINES_MS } from './setup-deadlines.ts';

export interface CommandInput {
  /** How long the command may run by itself. */
  readonly timeoutMs: number;
}

/** Why the command ended. */
export type CommandEnd = 'exited' | 'not_found' | 'timed_out' | 'output_too_large' | 'interrupted';

export interface CommandContext extends CommandInput {
  /** The first reason counts; only too much output is worse than an exit. */
  readonly end: CommandEnd | null;
  readonly code: number | null;
}

/** What is told about a command, once; the wiring adds what it has printed. */
export interface CommandVerdict {
  readonly kind: CommandEnd | 'retained';
  readonly code: number | null;
}

/** `STOP`: setup wants the command ended, or is gone itself. */
export type CommandEvent = { readonly type: 'STOP' } | ProcessNews;

/** Longer delays overflow the timers of Node and fire at once. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

export function newCommand({ timeoutMs }: CommandInput): CommandContext {
  return { timeoutMs: Math.min(Math.max(Math.trunc(timeoutMs) || 1, 1), MAX_TIMEOUT_MS), end: null, code: null };
}

/** A command of which nobody knows why it ended is one that nobody can vouch for. */
export function verdict({ end, code }: CommandContext): CommandVerdict {
  return { kind: end ?? 'retained', code };
}

export const RETAINED: CommandVerdict = { kind: 'retained', code: null };

export const commandSetup = setup({
  types: {
    context: {} as CommandContext,
    events: {} as CommandEvent,
    input: {} as CommandInput,
  },
  actors: {
    watch: unprovidedCallback<ProcessNews, void>('watch'),
    spawn: unprovidedPromise<SpawnOutcome, void>('spawn'),
    terminate: unprovidedPromise<void, void>('terminate'),
    kill: unprovidedPromise<void, void>('kill'),
    scan: unprovidedPromise<ScanOutcome, void>('scan'),
  },
  delays: {
    ...COMMAND_DEADLINES_MS,
    commandTimeout: ({ context }) => context.timeoutMs,
  },
  guards: {
    wasSpawned: (_, outcome: SpawnOutcome) => outcome === 'spawned',
    wasNotFound: (_, outcome: SpawnOutcome) => outcome === 'not_found',
    isClear: (_, outcome: ScanOutcome) => outcome === 'clear',
    exitedByItself: ({ context }) => context.end === 'exited',
  },
  actions: {
    /** Provided by the wiring: says what became of the command. */
    tell: (_, _verdict: CommandVerdict) => {},
    note: assign((_, { end, code = null }: { readonly end: CommandEnd; readonly code?: number | null }) => ({
      end,
      code,
    })),
  },
});
