/** The registration chart's vocabulary: types, actors, guards, actions and delays. */
import { assign, setup } from 'xstate';
import type { OwnershipRead, OwnershipRecord, RecordKey, WriteOutcome } from '../../ports/setup/ownership.ts';
import type { Handshake, Inspection, Mutation } from '../../ports/setup/registration.ts';
import type { Progress } from '../../ports/setup/run.ts';
import type { Target, Verdict } from '../../ports/setup/target.ts';
import { unprovidedPromise } from '../shared/unprovided.ts';
import {
  isForeign,
  ownsHook,
  type RegistrationContext,
  type RegistrationInput,
  type RegistrationOutput,
} from './registration.judgement.ts';
import { RUN_DEADLINES_MS } from './registration-deadlines.ts';
import { recordOf } from './run.records.ts';
import type { Decision } from './run.verdicts.ts';

export const registrationSetup = setup({
  types: {
    context: {} as RegistrationContext,
    events: {} as { readonly type: 'INTERRUPT' },
    input: {} as RegistrationInput,
    output: {} as RegistrationOutput,
  },
  actors: {
    readRecords: unprovidedPromise<OwnershipRead, void>('readRecords'),
    inspect: unprovidedPromise<Inspection, Target>('inspect'),
    put: unprovidedPromise<WriteOutcome, OwnershipRecord>('put'),
    add: unprovidedPromise<Mutation, Target>('add'),
    remove: unprovidedPromise<Mutation, Target>('remove'),
    drop: unprovidedPromise<WriteOutcome, RecordKey>('drop'),
    handshake: unprovidedPromise<Handshake, void>('handshake'),
  },
  delays: {
    handshakeTimeout: RUN_DEADLINES_MS.handshakeTimeout,
    handshakeEndTimeout: RUN_DEADLINES_MS.handshakeEndTimeout,
  },
  guards: {
    isForeign: ({ context }, read: OwnershipRead) => isForeign(context, read),
    isDryRun: ({ context }) => context.operation === 'dry-run',
    isApply: ({ context }) => context.operation === 'apply',
    isVerify: ({ context }) => context.operation === 'verify',
    mayAdd: (_, { step }: Decision<string>) => step === 'add',
    mayPromote: (_, { step }: Decision<string>) => step === 'promote',
    mayShake: (_, { step }: Decision<string>) => step === 'shake',
    mayRemove: (_, { step }: Decision<string>) => step === 'remove',
    mayDrop: (_, { step }: Decision<string>) => step === 'drop',
    isAbsent: (_, inspection: Inspection) => inspection === 'absent',
    isEquivalent: (_, inspection: Inspection) => inspection === 'equivalent',
    /** These two also ask that the verdict is still open: an interrupted step leads nowhere. */
    isWritten: ({ context }, { ok }: WriteOutcome) => ok && context.verdict === null,
    hasEnded: ({ context }, mutation: Mutation) => mutation !== 'retained' && context.verdict === null,
  },
  actions: {
    /** Provided by the wiring: says what is about to be done. */
    announce: (_, _progress: Progress) => {},
    /** Provided by the wiring: aborts the awaited step that runs; it still comes to its end. */
    abortStep: () => {},
    keepRecord: assign(({ context }, read: OwnershipRead) => ({
      record: read.ok ? recordOf(read.records, context.key) : null,
      ownsHook: ownsHook(context, read),
    })),
    conclude: assign(({ context }, verdict: Verdict) => ({ verdict: context.verdict ?? verdict })),
    noteMutation: assign((_, mutation: Mutation) => ({ isHalted: mutation === 'retained' })),
  },
});
