/** The wake hook chart's vocabulary: types, actors, guards and actions. */
import { assign, setup } from 'xstate';
import type { OwnershipRead, OwnershipRecord, RecordKey, WriteOutcome } from '../../ports/setup/ownership.ts';
import type { Mutation } from '../../ports/setup/registration.ts';
import type { Progress } from '../../ports/setup/run.ts';
import type { Verdict } from '../../ports/setup/target.ts';
import type { PluginInspection } from '../../ports/setup/wake-plugin.ts';
import { unprovidedPromise } from '../shared/unprovided.ts';
import { recordOf } from './run.records.ts';
import type { Decision } from './run.verdicts.ts';
import type { WakeHookContext, WakeHookInput, WakeHookOutput } from './wake-hook.judgement.ts';

export const wakeHookSetup = setup({
  types: {
    context: {} as WakeHookContext,
    events: {} as { readonly type: 'INTERRUPT' },
    input: {} as WakeHookInput,
    output: {} as WakeHookOutput,
  },
  actors: {
    readRecords: unprovidedPromise<OwnershipRead, void>('readRecords'),
    inspectHook: unprovidedPromise<PluginInspection, void>('inspectHook'),
    put: unprovidedPromise<WriteOutcome, OwnershipRecord>('put'),
    installHook: unprovidedPromise<Mutation, void>('installHook'),
    uninstallHook: unprovidedPromise<Mutation, void>('uninstallHook'),
    drop: unprovidedPromise<WriteOutcome, RecordKey>('drop'),
  },
  guards: {
    mayLook: (_, { step }: Decision<string>) => step === 'look',
    mayInstall: (_, { step }: Decision<string>) => step === 'install',
    mayPromote: (_, { step }: Decision<string>) => step === 'promote',
    mayUninstall: (_, { step }: Decision<string>) => step === 'uninstall',
    isAbsent: (_, inspection: PluginInspection) => inspection === 'absent',
    isEquivalent: (_, inspection: PluginInspection) => inspection === 'equivalent',
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
    })),
    noteUpdate: assign((_, inspection: PluginInspection) => ({ isUpdate: inspection === 'outdated' })),
    conclude: assign(({ context }, verdict: Verdict) => ({ verdict: context.verdict ?? verdict })),
    noteMutation: assign((_, mutation: Mutation) => ({ isHalted: mutation === 'retained' })),
  },
});
