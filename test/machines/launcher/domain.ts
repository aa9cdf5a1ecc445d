/** The launcher charts' events, and what makes each of them happen in the real assembly. */
import type { AnyEventObject, SnapshotFrom } from 'xstate';
import { credentialsMachine } from '../../../src/machines/writers/credentials.machine.ts';
import { launcherMachine } from '../../../src/machines/writers/launcher.machine.ts';
import type { LauncherDelays } from '../../../src/machines/writers/launcher-deadlines.ts';
import type { BoxEnd } from '../../../src/ports/writers/launcher.ts';
import { chartModel } from '../../kit/chart-model.ts';
import { type Domain, doneEvent, errorEvent } from '../../kit/domain.ts';
import { type LauncherStep, type LauncherWorld, STEPS } from './world.ts';

export type Launcher = typeof launcherMachine;
export type Credentials = typeof credentialsMachine;
export type State = SnapshotFrom<Launcher>;

const OK = { ok: true };
const NOT_OK = { ok: false };
const ENDS: readonly BoxEnd[] = [
  ...[0, 3, null, 125, 126, 127].map((code) => ({ kind: 'ended', code }) as const),
  { kind: 'not_started' },
  { kind: 'retained' },
];

/** Every way in which each step may go well or badly; a rejection comes on top. */
export const OUTCOMES: Readonly<Record<LauncherStep, readonly unknown[]>> = {
  claim: ['held', 'busy', 'unavailable'],
  check: [OK, { ok: false, code: 'writer_not_ready' }, { ok: false, code: 'acceptance_outdated' }],
  clear: [OK, NOT_OK],
  open: [OK, { ok: false, code: 'seccomp_profile_missing' }],
  reap: [OK, NOT_OK],
  renew: [OK, NOT_OK],
  plan: [OK, { ok: false, code: 'layout_tampered' }, { ok: false, code: 'product_incomplete' }],
  start: [OK, NOT_OK],
  ended: ENDS,
};
export const successOf = (step: LauncherStep): unknown => OUTCOMES[step][0];

/** The chart's child `box` is the port's `ended`. */
export const actorOf = (step: LauncherStep): string => (step === 'ended' ? 'box' : step);
const stepOf = (actor: string): LauncherStep => STEPS.find((step) => actorOf(step) === actor) ?? 'ended';

const settlements = Object.fromEntries(
  STEPS.flatMap((step) => [
    [`xstate.done.actor.${actorOf(step)}`, OUTCOMES[step].map((outcome) => doneEvent(actorOf(step), outcome))],
    [`xstate.error.actor.${actorOf(step)}`, [errorEvent(actorOf(step))]],
  ]),
);

export const SIGINT = { type: 'SIGNAL', status: 130 } as const;
export const SIGTERM = { type: 'SIGNAL', status: 143 } as const;

export const model = (machine: Launcher = launcherMachine) =>
  chartModel(machine, {
    domain: {
      SIGNAL: [SIGINT, SIGTERM],
      INPUT_ENDED: [{ type: 'INPUT_ENDED' }],
      // It can only fail when it begins.
      'xstate.error.actor.watchInput': [errorEvent('watchInput')],
      ...settlements,
    } as unknown as Domain<Launcher>,
  });

export const credentialsModel = (machine: Credentials = credentialsMachine) =>
  chartModel(machine, {
    domain: {
      'xstate.done.actor.renew': OUTCOMES.renew.map((outcome) => doneEvent('renew', outcome)),
      'xstate.error.actor.renew': [errorEvent('renew')],
    },
  });

/** @param event Of the launcher chart, or of the credentials chart below it. */
export async function applyLauncherEvent(world: LauncherWorld, event: AnyEventObject): Promise<void> {
  const [, kind = '', delay, name = ''] = event.type.split('.');
  if (event.type === 'SIGNAL') return world.signal(event['status'] as number);
  if (event.type === 'INPUT_ENDED') return world.endInput();
  if (kind === 'after') return world.fire(delay as keyof LauncherDelays);
  // See `watchFails` in the path's preparation.
  if (name === 'watchInput') return;
  await (kind === 'done' ? world.settle(stepOf(name), event['output']) : world.fail(stepOf(name)));
}

/** Every step goes well, up to the box and including it. @param renewal Or the provider is silent. */
export async function bringToBox(world: LauncherWorld, renewal: 'answered' | 'abandoned' = 'answered'): Promise<void> {
  for (const step of STEPS.slice(0, STEPS.indexOf('ended'))) {
    if (step === 'renew' && renewal === 'abandoned') await world.fire('renewalPatience');
    else await world.settle(step, successOf(step));
  }
}
