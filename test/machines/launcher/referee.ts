/**
 * What is promised of every start, read from what was seen alone: the referee
 * knows the port, and nothing of the chart (docs/boundary.md, "The end of a box").
 */
import type { BoxEnd } from '../../../src/ports/writers/launcher.ts';
import { type Entry, type LauncherStep, TEST_DELAYS } from './world.ts';

type Of<K extends Entry['kind']> = Extract<Entry, { readonly kind: K }>;

const BEFORE_THE_BOX: readonly LauncherStep[] = ['claim', 'check', 'clear', 'open', 'reap', 'renew', 'plan'];

function only<K extends Entry['kind']>(log: readonly Entry[], kind: K): Of<K>[] {
  return log.filter((entry): entry is Of<K> => entry.kind === kind);
}

const asked = (log: readonly Entry[], step: LauncherStep) => only(log, 'asked').filter((entry) => entry.step === step);
const isGood = (outcome: unknown): boolean => outcome === 'held' || (outcome as { ok?: boolean }).ok === true;

/** From the call that may make it on; until somebody who can tell says that there is none. */
function mayHaveBox(log: readonly Entry[]): boolean {
  const isThere = asked(log, 'start').length > 0;
  const isGone = only(log, 'settled').some(
    ({ step, outcome }) =>
      (step === 'start' && !isGood(outcome)) || (step === 'ended' && (outcome as BoxEnd).kind !== 'retained'),
  );
  return isThere && !isGone;
}

/** Everything that breaks a promise; the log may be of a start that still runs. */
export function wrongs(log: readonly Entry[]): string[] {
  return [...aroundTheStart(log), ...aroundTheEnd(log), ...ofTheResult(log), ...ofTheCredentials(log)];
}

/** It has gone well; or it is the renewal, and had its time before the start went on without it. */
function isEnough(before: readonly Entry[], step: LauncherStep): boolean {
  const end = before.find((entry) => (entry.kind === 'settled' || entry.kind === 'failed') && entry.step === step);
  if (step === 'renew' && isAbandonedIn(before)) return true;
  return end?.kind === 'settled' && isGood(end.outcome);
}

/** Has the start gone on without the end of its renewal, after all of its time? */
function isAbandonedIn(log: readonly Entry[]): boolean {
  const [renewal] = asked(log, 'renew');
  const plan = log.findIndex((entry) => entry.kind === 'asked' && entry.step === 'plan');
  const at = log[plan]?.at;
  if (!renewal || at === undefined || at - renewal.at < TEST_DELAYS.renewalPatience) return false;
  return !log
    .slice(0, plan)
    .some((entry) => (entry.kind === 'settled' || entry.kind === 'failed') && entry.step === 'renew');
}

function aroundTheStart(log: readonly Entry[]): string[] {
  const at = log.findIndex((entry) => entry.kind === 'asked' && entry.step === 'start');
  if (at < 0)
    return only(log, 'end').length + only(log, 'remove').length > 0 ? ['a box that is not there is ended'] : [];
  const before = log.slice(0, at);
  const missing = BEFORE_THE_BOX.filter((step) => !isEnough(before, step));
  return [
    ...missing.map((step) => `a box is started without a good ${step}`),
    ...(only(before, 'signal').length > 0 ? ['a box is started after a signal'] : []),
    ...(asked(log, 'start').length > 1 ? ['a box is started twice'] : []),
  ];
}

function aroundTheEnd(log: readonly Entry[]): string[] {
  const [ends, removals, exits] = [only(log, 'end'), only(log, 'remove'), only(log, 'exit')];
  const [end] = ends;
  const isHurried = removals.some(({ at }) => end === undefined || at - end.at < TEST_DELAYS.graceTimeout);
  const exitAt = log.findIndex(({ kind }) => kind === 'exit');
  const after = exitAt < 0 ? [] : log.slice(exitAt + 1);
  return [
    ...(ends.length > 1 ? ['stdin is ended twice'] : []),
    ...(removals.length > 1 ? ['it is removed twice'] : []),
    ...(isHurried ? ['it is removed before its time'] : []),
    ...(exits.length > 1 ? ['it exits twice'] : []),
    ...(after.some(({ kind }) => kind === 'asked' || kind === 'end' || kind === 'remove') ? ['it works on'] : []),
  ];
}

function ofTheResult(log: readonly Entry[]): string[] {
  const at = log.findIndex(({ kind }) => kind === 'exit');
  const [exit] = only(log, 'exit');
  if (!exit) return [];
  const before = log.slice(0, at);
  const { status, code } = exit.result;
  const isLeft = code === 'box_left';
  const [signal] = only(before, 'signal');
  const ended = only(before, 'settled').find(({ step }) => step === 'ended')?.outcome as BoxEnd | undefined;
  const isOwn = ended?.kind === 'ended' && code === null && signal === undefined;
  return [
    ...(mayHaveBox(before) === isLeft ? [] : [`a box ${isLeft ? 'is told of that is gone' : 'is left in silence'}`]),
    ...(code !== null && status !== 1 ? [`${code} comes with ${status}`] : []),
    ...(signal && !isLeft && (status !== signal.status || code !== null)
      ? [`the first signal says ${signal.status}, and it exits with ${status}`]
      : []),
    ...(isOwn && status !== (ended.code ?? 137) ? [`the box says ${ended.code}, and it exits with ${status}`] : []),
    ...(code === null && !signal && ended === undefined ? ['it exits without a reason'] : []),
  ];
}

function ofTheCredentials(log: readonly Entry[]): string[] {
  let isRunning = false;
  let last = Number.NEGATIVE_INFINITY;
  // Nobody waits for it: the start has gone on, and nobody has joined it.
  let isLeft = false;
  const found: string[] = [];
  for (const [index, entry] of log.entries()) {
    if (entry.kind === 'end') last = Number.POSITIVE_INFINITY;
    if (!('step' in entry)) continue;
    if (entry.kind === 'asked' && entry.step === 'plan' && isAbandonedIn(log.slice(0, index + 1))) isLeft = true;
    // The minute begins with the box.
    if (entry.kind === 'asked' && entry.step === 'ended') last = Math.max(last, entry.at);
    if (entry.step !== 'renew') continue;
    if (entry.kind === 'settled' || entry.kind === 'failed') {
      if (!isLeft) last = Math.max(last, entry.at);
      isRunning = isLeft = false;
      continue;
    }
    const isJoining = entry.kind === 'joined';
    if (isJoining ? !isLeft : isRunning) found.push('two renewals run at once');
    if (entry.at - last < TEST_DELAYS.renewalInterval) found.push('a renewal comes too early, or after the end');
    isRunning = true;
    isLeft = false;
  }
  return found;
}
