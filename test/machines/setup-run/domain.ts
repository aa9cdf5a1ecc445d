/** The run chart's events, and how the ports bring each of them about. */
import type { AnyEventObject, SnapshotFrom } from 'xstate';
import { setupRunMachine } from '../../../src/machines/setup/run.machine.ts';
import type { Operation, Verdict } from '../../../src/ports/setup/target.ts';
import { chartModel } from '../../kit/chart-model.ts';
import { type Domain, doneEvent, errorEvent, type InternalEvent } from '../../kit/domain.ts';
import { applyEvent, unionOf } from './paths.ts';
import type { PortName } from './port-calls.ts';
import {
  CLAUDE,
  CODEX,
  GOOD,
  hookRecord,
  RELEASE,
  registrationRecord,
  type SetupWorld,
  WOKEN,
  WOKEN_CODEX,
} from './world.ts';

export type Run = typeof setupRunMachine;
export type State = SnapshotFrom<Run>;

export const OPERATIONS: readonly Operation[] = ['dry-run', 'apply', 'verify', 'rollback', 'remove'];
export const TARGETS = [CLAUDE, CODEX];
/** Events are off for one of them, which changes what is said and nothing else. */
export const WOKEN_TARGETS = [WOKEN, { ...WOKEN_CODEX, wake: { ...WOKEN_CODEX.wake, hasEvents: false } }];

const OWNED = { ok: true, records: TARGETS.map((each) => registrationRecord(each)) };
/** The second target is only there to come after the first, and needs no hook. */
const WITH_HOOK = { ok: true, records: [...OWNED.records, hookRecord()] };
const ONLY_HOOK = { ok: true, records: [hookRecord()] };

const NO = { ok: false };

type Script = readonly (readonly [PortName, unknown?])[];

/** What a chart below comes to, and what its ports answer for that. */
interface Ending {
  readonly verdict: Verdict;
  readonly isHalted?: boolean;
  readonly ownsHook?: boolean;
  readonly script: Script;
}

const ending = (status: Verdict['status'], code: Verdict['code'], ...script: Script): Ending => ({
  verdict: { status, code },
  script,
});
const NOT_INSPECTED = ending('failed', 'inspect_failed', ['readRecords', OWNED], ['inspect', 'failed']);
const UNCHANGED = ['readRecords', OWNED] as const;

function removals(code: 'removed' | 'rolled_back'): readonly Ending[] {
  return [
    ending('ok', code, ['readRecords', OWNED], ['inspect', 'absent'], ['drop']),
    { ...ending('ok', code, ['readRecords', WITH_HOOK], ['inspect', 'absent'], ['drop']), ownsHook: true },
    ending('divergent', 'ownership_diverged', ['readRecords', OWNED], ['inspect', 'divergent']),
    {
      ...ending('failed', 'cleanup_failed', ['readRecords', OWNED], ['inspect'], ['remove', 'retained']),
      isHalted: true,
    },
  ];
}

const REGISTRATIONS: Readonly<Record<Operation, readonly Ending[]>> = {
  'dry-run': [ending('absent', 'absent', UNCHANGED, ['inspect', 'absent']), NOT_INSPECTED],
  apply: [
    ending('unchanged', 'already_equivalent', UNCHANGED, ['inspect']),
    ending('ok', 'applied', UNCHANGED, ['inspect', 'absent'], ['put'], ['add'], ['inspect'], ['put']),
    NOT_INSPECTED,
    {
      ...ending(
        'failed',
        'apply_failed_recovery_pending',
        UNCHANGED,
        ['inspect', 'absent'],
        ['put'],
        ['add', 'retained'],
      ),
      isHalted: true,
    },
  ],
  verify: [ending('ok', 'mcp_verified', UNCHANGED, ['inspect'], ['handshake']), NOT_INSPECTED],
  rollback: removals('rolled_back'),
  remove: removals('removed'),
};

const NOT_OWNED = ending('unchanged', 'skill_not_owned', ['readRecords']);
const NO_SOURCE = ending('failed', 'skill_source_invalid', ['readRecords'], ['readSource', NO]);
const LOOKED: Script = [['readRecords'], ['readSource'], ['look']];

const SKILLS: Readonly<Record<Operation, readonly Ending[]>> = {
  'dry-run': [ending('unchanged', 'skill_equivalent', ...LOOKED), NO_SOURCE],
  apply: [ending('unchanged', 'skill_already_equivalent', ...LOOKED), NO_SOURCE],
  verify: [
    ending('ok', 'skill_verified', ['readSource'], ['look']),
    ending('failed', 'skill_source_invalid', ['readSource', NO]),
  ],
  rollback: [NOT_OWNED],
  remove: [NOT_OWNED],
};

const HOOK_REMOVED: readonly Ending[] = [
  ending(
    'ok',
    'wake_removed',
    ['readRecords', ONLY_HOOK],
    ['inspectHook'],
    ['uninstallHook'],
    ['inspectHook', 'absent'],
    ['drop'],
  ),
  ending('unchanged', 'wake_not_owned', ['readRecords']),
  {
    ...ending('failed', 'wake_failed', ['readRecords', ONLY_HOOK], ['inspectHook'], ['uninstallHook', 'retained']),
    isHalted: true,
  },
];
const HOOK_UNSEEN = ending('failed', 'wake_failed', ['readRecords'], ['inspectHook', 'failed']);

const HOOKS: Readonly<Record<Operation, readonly Ending[]>> = {
  'dry-run': [ending('unchanged', 'wake_equivalent', ['readRecords'], ['inspectHook']), HOOK_UNSEEN],
  apply: [
    ending('unchanged', 'wake_already_equivalent', ['readRecords'], ['inspectHook']),
    HOOK_UNSEEN,
    {
      ...ending(
        'failed',
        'wake_failed',
        ['readRecords'],
        ['inspectHook', 'absent'],
        ['put'],
        ['installHook', 'retained'],
      ),
      isHalted: true,
    },
  ],
  verify: [ending('ok', 'wake_verified', ['readRecords'], ['inspectHook']), HOOK_UNSEEN],
  rollback: HOOK_REMOVED,
  remove: HOOK_REMOVED,
};

const CUSTOMIZATIONS: readonly Ending[] = [
  ending('failed', 'skill_not_shipped', ['readShipped', NO]),
  ending(
    'ok',
    'skill_customized',
    ...(['readShipped', 'readBase', 'readOverride', 'recover', 'stage', 'place', 'recordBase'] as const).map(
      (name) => [name, GOOD[name]] as const,
    ),
  ),
];

/** A chart below has heard of the interruption first: this is all that it can still come to. */
const INTERRUPTED: Ending = ending('failed', 'operation_interrupted');

function childEvent(id: string, { verdict, isHalted = false, ownsHook = false }: Ending): InternalEvent {
  if (id === 'registration') return doneEvent(id, { verdict, isHalted, ownsHook });
  return doneEvent(id, id === 'wakeHook' ? { verdict, isHalted } : verdict);
}

function endingsOf(id: string, { context: { operation, signal, waiting } }: State): readonly Ending[] {
  if (signal !== null) return [INTERRUPTED];
  if (id === 'customization') return CUSTOMIZATIONS;
  const endings = { registration: REGISTRATIONS, skillSlot: SKILLS, wakeHook: HOOKS }[id]?.[operation] ?? [];
  // The second target is only there to come after the first.
  return waiting.length < TARGETS.length ? endings.slice(0, 1) : endings;
}

const child = (id: string) => ({
  [`xstate.done.actor.${id}`]: (state: State) => endingsOf(id, state).map((each) => childEvent(id, each)),
  // A chart that has been interrupted has ended; only one that works can break.
  [`xstate.error.actor.${id}`]: ({ context }: State) => (context.signal === null ? [errorEvent(id)] : []),
});

const domain: Domain<Run> = {
  // Which one it is only matters to the exit status.
  INTERRUPT: (state: State) => [
    {
      type: 'INTERRUPT',
      signal: state.matches('locking') || state.matches('checking') ? 'SIGTERM' : 'SIGINT',
    } as const,
  ],
  'xstate.done.actor.acquire': ['locked', 'busy', 'unavailable'].map((each) => doneEvent('acquire', each)),
  'xstate.error.actor.acquire': [errorEvent('acquire')],
  'xstate.done.actor.checkDoctor': [doneEvent('checkDoctor', { errors: 0 }), doneEvent('checkDoctor', { errors: 2 })],
  'xstate.error.actor.checkDoctor': [errorEvent('checkDoctor')],
  'xstate.done.actor.bindRelease': [
    doneEvent('bindRelease', { ok: true, fingerprint: RELEASE }),
    doneEvent('bindRelease', { ok: false }),
  ],
  'xstate.error.actor.bindRelease': [errorEvent('bindRelease')],
  'xstate.done.actor.release': ['released', 'retained'].map((each) => doneEvent('release', each)),
  'xstate.error.actor.release': [errorEvent('release')],
  ...child('registration'),
  ...child('skillSlot'),
  ...child('wakeHook'),
  ...child('customization'),
};

const project = ({ operation, customize, waiting, signal, isHalted, ownsHook, findings }: State['context']) => ({
  operation,
  customize,
  waiting: waiting.length,
  signal,
  isHalted,
  ownsHook,
  findings: findings.map(({ target, status, code }) => [target.alias, status, code]),
});

export const model = (operation: Operation, machine: Run = setupRunMachine) =>
  chartModel(machine, { domain, project, input: { operation, targets: TARGETS, customize: null } });

export const wokenModel = (operation: Operation, machine: Run = setupRunMachine) =>
  chartModel(machine, { domain, project, input: { operation, targets: WOKEN_TARGETS, customize: null } });

export const customizeModel = (operation: 'dry-run' | 'apply', machine: Run = setupRunMachine) =>
  chartModel(machine, { domain, project, input: { operation, targets: [], customize: 'some-skill' } });

export const allModels = (machine: Run) =>
  unionOf([
    ...OPERATIONS.flatMap((operation) => [model(operation, machine), wokenModel(operation, machine)]),
    customizeModel('apply', machine),
  ]);

export const CHILDREN = ['registration', 'skillSlot', 'wakeHook', 'customization'];

/** @param before The state in which the event comes. */
export async function applyRunEvent(world: SetupWorld, event: AnyEventObject, before: State): Promise<void> {
  const [, kind = '', , id = ''] = event.type.split('.');
  if (!CHILDREN.includes(id)) return applyEvent(world, event);
  if (kind === 'error') {
    // What no port may answer breaks the chart that gets it.
    const [name] = world.asked().slice(-1);
    return world.settle(name ?? 'release', null);
  }
  const wanted = JSON.stringify(event['output']);
  const found = endingsOf(id, before).find((each) => JSON.stringify(childEvent(id, each)['output']) === wanted);
  for (const [name, outcome = GOOD[name]] of found?.script ?? []) await world.settle(name, outcome);
}
