/** The skill slot chart's vocabulary: types, actors, guards and actions. */
import { assign, setup } from 'xstate';
import type {
  Fingerprint,
  OwnershipRead,
  OwnershipRecord,
  RecordKey,
  WriteOutcome,
} from '../../ports/setup/ownership.ts';
import type { Progress } from '../../ports/setup/run.ts';
import type { SkillSource, SlotContent, StepOutcome } from '../../ports/setup/skill-slot.ts';
import type { Target, Verdict } from '../../ports/setup/target.ts';
import { unprovidedPromise } from '../shared/unprovided.ts';
import { recordOf } from './run.records.ts';
import type { Decision } from './run.verdicts.ts';
import {
  type ApplyStep,
  isSource,
  type RemovalStep,
  type SkillSlotContext,
  type SkillSlotInput,
  treeOf,
} from './skill-slot.judgement.ts';

/** One tree at one target's slot. */
export interface OneTree {
  readonly target: Target;
  readonly expected: Fingerprint;
}

export interface OurTrees {
  readonly target: Target;
  readonly ours: readonly Fingerprint[];
}

export const skillSlotSetup = setup({
  types: {
    context: {} as SkillSlotContext,
    events: {} as { readonly type: 'INTERRUPT' },
    input: {} as SkillSlotInput,
    output: {} as Verdict,
  },
  actors: {
    readRecords: unprovidedPromise<OwnershipRead, void>('readRecords'),
    readSource: unprovidedPromise<SkillSource, Target>('readSource'),
    look: unprovidedPromise<SlotContent, Target>('look'),
    recover: unprovidedPromise<StepOutcome, OurTrees>('recover'),
    stage: unprovidedPromise<StepOutcome, Target>('stage'),
    displace: unprovidedPromise<StepOutcome, OneTree>('displace'),
    place: unprovidedPromise<StepOutcome, Target>('place'),
    discard: unprovidedPromise<StepOutcome, OneTree>('discard'),
    put: unprovidedPromise<WriteOutcome, OwnershipRecord>('put'),
    drop: unprovidedPromise<WriteOutcome, RecordKey>('drop'),
  },
  guards: {
    isVerify: ({ context }) => context.operation === 'verify',
    isDryRun: ({ context }) => context.operation === 'dry-run',
    mayRemove: (_, { step }: Decision<'source' | 'remove'>) => step === 'remove',
    mayReadSource: (_, { step }: Decision<'source' | 'remove'>) => step === 'source',
    mayLook: (_, { step }: Decision<'look'>) => step === 'look',
    mustRecover: (_, { step }: Decision<ApplyStep | RemovalStep>) => step === 'recover',
    mayInstall: (_, { step }: Decision<ApplyStep>) => step === 'install',
    mayUpdate: (_, { step }: Decision<ApplyStep>) => step === 'update',
    mayPromote: (_, { step }: Decision<ApplyStep>) => step === 'promote',
    mayForget: (_, { step }: Decision<ApplyStep>) => step === 'forget',
    mayDisplace: (_, { step }: Decision<RemovalStep>) => step === 'displace',
    mayDrop: (_, { step }: Decision<RemovalStep>) => step === 'drop',
    isInstalled: ({ context }, slot: SlotContent) => isSource(context, slot),
    isUpdated: ({ context }, slot: SlotContent) => isSource(context, slot) && context.old !== null,
    /** An interrupted step leads nowhere. */
    isDone: ({ context }, { ok }: StepOutcome) => ok && context.verdict === null,
    isStagedUpdate: ({ context }, { ok }: StepOutcome) => ok && context.verdict === null && context.old !== null,
    isOpen: ({ context }) => context.verdict === null,
  },
  actions: {
    /** Provided by the wiring: says what is about to be done. */
    announce: (_, _progress: Progress) => {},
    keepRecord: assign(({ context }, read: OwnershipRead) => ({
      record: read.ok ? recordOf(read.records, context.key) : null,
    })),
    keepSource: assign((_, source: SkillSource) => ({ source: source.ok ? source.fingerprint : null })),
    noteRecovery: assign({ isRecovered: true }),
    noteOld: assign((_, slot: SlotContent) => ({ old: treeOf(slot) })),
    noteLink: assign((_, slot: SlotContent) => ({ isLinked: slot.kind === 'linked' })),
    conclude: assign(({ context }, verdict: Verdict) => ({ verdict: context.verdict ?? verdict })),
  },
});
