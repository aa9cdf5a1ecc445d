/** What an operation means for a writer in a phase: the table that the writer chart goes by. Pure. */
import type { WriterCode, WriterInput, WriterOperation, WriterPhase } from '../../ports/writers/lifecycle.ts';

/** Where a child chart begins: at a phase that is recorded, or that has to be recorded first. */
export interface From<TPhase extends WriterPhase = WriterPhase> {
  readonly phase: TPhase;
  readonly recorded: boolean;
}

export type Restart = 'resetting' | 'recreating';

export type Plan =
  | { readonly kind: 'stop'; readonly code: WriterCode }
  | { readonly kind: 'inspect' }
  /** It is made; whether its client still knows it has to be asked. */
  | { readonly kind: 'consult' }
  | ({ readonly kind: 'provision'; readonly until: 'controlling' | 'ready' } & From)
  /** `next`: what follows a complete collection. */
  | { readonly kind: 'collect'; readonly next: Restart | null }
  | ({ readonly kind: 'restart' } & From<Restart>)
  | ({ readonly kind: 'remove' } & From<'unregistering' | 'removing'>);

export const DONE: Readonly<Record<WriterOperation, WriterCode>> = {
  provision: 'writer_provisioned',
  control: 'writer_ready',
  accept: 'writer_ready',
  collect: 'writer_collected',
  finish: 'writer_finished',
  reset: 'writer_reset',
  recreate: 'writer_recreated',
  remove: 'writer_removed',
};

const stop = (code: WriterCode): Plan => ({ kind: 'stop', code });

/** @param phase What the journal says; null when there is no writer. */
export function planFor(input: WriterInput, phase: WriterPhase | null): Plan {
  const { operation } = input;
  switch (phase) {
    case null:
      if (operation === 'provision')
        return { kind: 'provision', phase: 'cloning', recorded: false, until: 'controlling' };
      return stop(operation === 'remove' ? 'writer_unchanged' : 'writer_absent');
    case 'unregistering':
    case 'removing':
      return operation === 'remove' ? { kind: 'remove', phase, recorded: true } : stop('removal_unfinished');
    case 'resetting':
    case 'recreating':
      return planRestarted(operation, phase);
    case 'controlling':
    case 'accepting':
    case 'ready':
      return planMade(input, phase);
    default:
      // Nobody has worked in it yet.
      if (operation === 'provision') return { kind: 'provision', phase, recorded: true, until: 'controlling' };
      if (operation === 'remove') return { kind: 'remove', phase: 'unregistering', recorded: false };
      return stop('writer_not_provisioned');
  }
}

/** What comes after nothing was found in the clone that could be lost, or after it was said that it may be. */
export function planUnhindered({ operation }: WriterInput): Plan {
  if (operation === 'remove') return { kind: 'remove', phase: 'unregistering', recorded: false };
  return { kind: 'restart', phase: operation === 'reset' ? 'resetting' : 'recreating', recorded: false };
}

/** The clone's work has come out, or was given up: that is decided, and only has to be carried through. */
function planRestarted(operation: WriterOperation, phase: Restart): Plan {
  if (operation === 'remove') return { kind: 'remove', phase: 'unregistering', recorded: false };
  // A clone that cannot be reset can still be made anew.
  if (operation === 'recreate') return { kind: 'restart', phase: 'recreating', recorded: phase === 'recreating' };
  const goesOn = operation === 'finish' || operation === 'reset';
  return goesOn ? { kind: 'restart', phase, recorded: true } : stop('restart_unfinished');
}

function planMade(input: WriterInput, phase: 'controlling' | 'accepting' | 'ready'): Plan {
  const { operation, lifecycle, discard } = input;
  switch (operation) {
    case 'provision':
      return { kind: 'consult' };
    case 'control':
      return { kind: 'provision', phase: 'controlling', recorded: phase === 'controlling', until: 'ready' };
    case 'accept':
      if (phase === 'controlling') return stop('control_required');
      return { kind: 'provision', phase: 'accepting', recorded: phase === 'accepting', until: 'ready' };
    case 'collect':
      return { kind: 'collect', next: null };
    case 'remove':
      return discard ? planUnhindered(input) : { kind: 'inspect' };
    default:
      if (phase !== 'ready') return stop('writer_not_ready');
      if (operation === 'finish')
        return { kind: 'collect', next: lifecycle === 'persistent' ? 'resetting' : 'recreating' };
      return discard ? planUnhindered(input) : { kind: 'inspect' };
  }
}
