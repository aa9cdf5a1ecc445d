/** The customization chart's vocabulary: types, actors, guards and actions. */
import { assign, setup } from 'xstate';
import type { OverrideContent, RecordedBase, ShippedSkill } from '../../ports/setup/customization.ts';
import type { Progress } from '../../ports/setup/run.ts';
import type { StepOutcome } from '../../ports/setup/skill-slot.ts';
import type { Verdict } from '../../ports/setup/target.ts';
import { unprovidedPromise } from '../shared/unprovided.ts';
import type { CustomizationContext, CustomizationInput } from './customization.judgement.ts';
import type { Decision } from './run.verdicts.ts';

export const customizationSetup = setup({
  types: {
    context: {} as CustomizationContext,
    events: {} as { readonly type: 'INTERRUPT' },
    input: {} as CustomizationInput,
    output: {} as Verdict,
  },
  actors: {
    readShipped: unprovidedPromise<ShippedSkill, void>('readShipped'),
    readBase: unprovidedPromise<RecordedBase, void>('readBase'),
    readOverride: unprovidedPromise<OverrideContent, void>('readOverride'),
    recover: unprovidedPromise<StepOutcome, void>('recover'),
    stage: unprovidedPromise<StepOutcome, void>('stage'),
    place: unprovidedPromise<StepOutcome, void>('place'),
    /** Takes the fingerprint. */
    recordBase: unprovidedPromise<StepOutcome, string>('recordBase'),
  },
  guards: {
    mayGoOn: (_, { step }: Decision<'go'>) => step === 'go',
    mayCopy: (_, { step }: Decision<'copy' | 'record'>) => step === 'copy',
    mayRecord: (_, { step }: Decision<'copy' | 'record'>) => step === 'record',
    /** An interrupted step leads nowhere. */
    isDone: ({ context }, { ok }: StepOutcome) => ok && context.verdict === null,
  },
  actions: {
    /** Provided by the wiring: says what is about to be done. */
    announce: (_, _progress: Progress) => {},
    keepShipped: assign((_, shipped: ShippedSkill) => ({ shipped: shipped.ok ? shipped.fingerprint : null })),
    keepBase: assign((_, base: RecordedBase) => ({ base: base.kind === 'base' ? base.fingerprint : null })),
    conclude: assign(({ context }, verdict: Verdict) => ({ verdict: context.verdict ?? verdict })),
  },
});
