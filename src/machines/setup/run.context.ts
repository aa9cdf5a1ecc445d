/** What a run of setup remembers, and the pure views of it. */
import type { Fingerprint } from '../../ports/setup/ownership.ts';
import type { ExitStatus, InterruptSignal, RunResult, SetupTarget } from '../../ports/setup/run.ts';
import type { Finding, Operation, Status, Verdict } from '../../ports/setup/target.ts';
import type { RegistrationInput, RegistrationOutput } from './registration.judgement.ts';
import { INTERRUPTED } from './run.verdicts.ts';
import type { SkillSlotInput } from './skill-slot.judgement.ts';
import type { WakeHookInput } from './wake-hook.judgement.ts';

export interface RunInput {
  readonly operation: Operation;
  readonly targets: readonly SetupTarget[];
  /** Alias of the skill to customize; there are no targets then. */
  readonly customize: string | null;
}

export interface RunContext extends RunInput {
  readonly release: Fingerprint;
  /** Those that are still to be worked on; the first is the current one. */
  readonly waiting: readonly SetupTarget[];
  readonly findings: readonly Finding[];
  readonly signal: InterruptSignal | null;
  /** Something of a client's command may still run. */
  readonly isHalted: boolean;
  /** Is the hook of the current target on record? */
  readonly ownsHook: boolean;
}

const SERVER_ALIAS = 'pi-session-mcp';
const SKILL_ALIAS = 'pi-session-orchestration';
const HOOK_ALIAS = 'pi-session-mcp-wake';
const EVENTS_ALIAS = 'turn-events';
const SKILL_GOES_WITH: Readonly<Record<Operation, readonly Status[] | 'all'>> = {
  'dry-run': 'all',
  verify: 'all',
  apply: ['ok', 'unchanged'],
  rollback: ['ok'],
  remove: ['ok'],
};
/** Codex has no command that installs a hook; what to do is said, and nothing has failed. */
const BY_HAND: Verdict = { status: 'unchanged', code: 'wake_manual' };
const EXITS: Readonly<Record<InterruptSignal, ExitStatus>> = { SIGINT: 130, SIGTERM: 143 };
const BROKEN: readonly Status[] = ['failed', 'divergent', 'unsupported'];
/** Only satisfies the types: a target is worked on only while there is one. */
const NO_KEY = { client: 'codex', scope: 'user', alias: '' } as const;

export function newRun(input: RunInput): RunContext {
  return {
    ...input,
    release: '',
    waiting: input.targets,
    findings: [],
    signal: null,
    isHalted: false,
    ownsHook: false,
  };
}

export function registrationInput({ operation, waiting: [target], release }: RunContext): RegistrationInput {
  return {
    operation,
    key: target?.registration ?? NO_KEY,
    skill: target?.skill ?? NO_KEY,
    wake: target?.wake.key ?? null,
    fingerprint: target?.fingerprint ?? '',
    release,
  };
}

export function skillInput({ operation, waiting: [target] }: RunContext): SkillSlotInput {
  return { operation, key: target?.skill ?? NO_KEY, registration: target?.registration ?? NO_KEY };
}

export function hookInput({ operation, waiting: [target] }: RunContext): WakeHookInput {
  return {
    operation,
    key: target?.wake.key ?? NO_KEY,
    registration: target?.registration ?? NO_KEY,
    target: { client: target?.client ?? 'claude-code', scope: target?.scope ?? 'user' },
    fingerprint: target?.wake.fingerprint ?? '',
  };
}

/** The skill follows a registration whose finding allows it; nothing follows what may still run. */
export function skillFollows(context: RunContext, output: RegistrationOutput): boolean {
  return context.signal === null && isSkillDue(context, output);
}

/** The hook comes last, whatever has become of the skill: when it was asked for, or a removal leaves it behind. */
export function hookFollows(context: RunContext): boolean {
  return context.signal === null && isHookDue(context);
}

/** Of the registration, and of a skill and a hook that an interruption has cut off. */
export function registrationFindings(context: RunContext, output: RegistrationOutput): readonly Finding[] {
  const [target] = context.waiting;
  if (!target) return [];
  const finding = findingOf(target, SERVER_ALIAS, output.verdict);
  if (context.signal === null || !isSkillDue(context, output)) return [finding];
  return [finding, ...skillFindings({ ...context, ownsHook: output.ownsHook }, INTERRUPTED)];
}

/** Of the skill, and of a hook that needs no step of its own, or gets none any more. */
export function skillFindings(context: RunContext, verdict: Verdict): readonly Finding[] {
  const [target] = context.waiting;
  if (!target) return [];
  const finding = findingOf(target, SKILL_ALIAS, verdict);
  if (context.signal !== null) return [finding, ...unstartedHook(context, INTERRUPTED)];
  return isHookDue(context) ? [finding] : [finding, ...unstartedHook(context, BY_HAND)];
}

/** When the chart of the skill broke, nobody knows what it was at. */
export function brokenSkillFindings(context: RunContext, verdict: Verdict): readonly Finding[] {
  const [target] = context.waiting;
  return target ? [findingOf(target, SKILL_ALIAS, verdict), ...unstartedHook(context, verdict)] : [];
}

export function hookFindings(context: RunContext, verdict: Verdict): readonly Finding[] {
  const [target] = context.waiting;
  return target ? [findingOf(target, HOOK_ALIAS, verdict), ...eventsFinding(context, target)] : [];
}

export function customizationFinding({ customize }: RunContext, verdict: Verdict): readonly Finding[] {
  return [{ target: { client: 'skills', scope: 'override', alias: customize ?? '' }, ...verdict }];
}

/** One finding for each target that nothing has been said about yet. */
export function findingsForRest({ waiting }: RunContext, verdict: Verdict): readonly Finding[] {
  return waiting.map((target) => findingOf(target, SERVER_ALIAS, verdict));
}

/** Why the targets that still wait are not worked on. */
export function reasonToStop({ signal }: RunContext): Verdict {
  return signal === null ? { status: 'failed', code: 'operation_failed' } : INTERRUPTED;
}

export function resultOf({ operation, findings, signal }: RunContext): RunResult {
  const status = overall(findings.map((finding) => finding.status));
  const exit = signal === null ? Number(status === 'failed') : EXITS[signal];
  return { operation, status, findings, exit: exit as ExitStatus };
}

/** For a run whose chart broke: nothing is known about any of it. */
export function brokenResult(input: RunInput): RunResult {
  const context = newRun(input);
  const verdict = { status: 'failed', code: 'operation_failed' } as const;
  const findings =
    input.customize === null ? findingsForRest(context, verdict) : customizationFinding(context, verdict);
  return resultOf({ ...context, findings });
}

/** The worst of them; then what is still to be done, then what was done. */
export function overall(statuses: readonly Status[]): Status {
  if (statuses.some((status) => BROKEN.includes(status))) return 'failed';
  if (statuses.some((status) => status === 'planned' || status === 'absent')) return 'planned';
  return statuses.includes('ok') ? 'ok' : 'unchanged';
}

function unstartedHook(context: RunContext, verdict: Verdict): readonly Finding[] {
  const isWanted = context.waiting[0]?.wake.isAsked === true || isHookDue(context);
  return isWanted ? hookFindings(context, verdict) : [];
}

/** A hook without events waits in vain: a plan says so, and a verification does not pass. */
function eventsFinding({ operation }: RunContext, target: SetupTarget): readonly Finding[] {
  const { isAsked, hasEvents } = target.wake;
  if (hasEvents || !isAsked || isRemoval(operation)) return [];
  const status = operation === 'verify' ? 'failed' : 'unchanged';
  return [findingOf(target, EVENTS_ALIAS, { status, code: 'wake_events_off' })];
}

function isHookDue({ operation, waiting: [target], ownsHook }: RunContext): boolean {
  if (!target || target.wake.key === null) return false;
  return target.wake.isAsked || (isRemoval(operation) && ownsHook);
}

function isRemoval(operation: Operation): boolean {
  return operation === 'remove' || operation === 'rollback';
}

function isSkillDue({ operation }: RunContext, { verdict, isHalted }: RegistrationOutput): boolean {
  const statuses = SKILL_GOES_WITH[operation];
  if (isHalted || verdict.code === INTERRUPTED.code) return false;
  return statuses === 'all' || statuses.includes(verdict.status);
}

function findingOf({ client, scope }: SetupTarget, alias: string, verdict: Verdict): Finding {
  return { target: { client, scope, alias }, ...verdict };
}
