/** One run as the product runs it, with every port call and time scripted. */
import type { InspectionEvent } from 'xstate';
import type { OwnershipRecord } from '../../../src/ports/setup/ownership.ts';
import type { InterruptSignal, Progress, RunResult, SetupTarget } from '../../../src/ports/setup/run.ts';
import type { Operation } from '../../../src/ports/setup/target.ts';
import { runCustomization, runSetup } from '../../../src/setup/run-setup.ts';
import { ManualClock } from '../../kit/manual-clock.ts';
import { type Ask, type PortCall, type PortName, portsOf } from './port-calls.ts';
import { Referee } from './referee.ts';

export const RELEASE = 'release-now';
export const ENTRY = 'entry-now';
export const SKILL = 'skill-now';
export const OLD_SKILL = 'skill-before';
export const HOOK = 'hook-now';
export const HOOK_KEY = { client: 'claude-code', scope: 'user', alias: 'wake:pi-session-mcp' } as const;

const PROJECT = '@0123456789abcdef';

/** One target; what lives in a project has the project's identity in its alias. */
export function target(
  client: SetupTarget['client'],
  scope: SetupTarget['scope'] = 'user',
  isAsked = false,
): SetupTarget {
  const suffix = scope === 'user' ? '' : PROJECT;
  const skillSuffix = scope === 'project' ? PROJECT : '';
  return {
    client,
    scope,
    registration: { client, scope, alias: `pi-session-mcp${suffix}` },
    skill: {
      client,
      scope: scope === 'project' ? 'project' : 'user',
      alias: `skill:pi-session-orchestration${skillSuffix}`,
    },
    wake: {
      isAsked,
      key: client === 'codex' ? null : HOOK_KEY,
      fingerprint: HOOK,
      hasEvents: true,
    },
    fingerprint: ENTRY,
  };
}

export const CLAUDE = target('claude-code');
export const LOCAL = target('claude-code', 'local');
export const CODEX = target('codex');
/** The same ones, with the hook asked for. */
export const WOKEN = target('claude-code', 'user', true);
export const WOKEN_LOCAL = target('claude-code', 'local', true);
export const WOKEN_CODEX = target('codex', 'user', true);

export function registrationRecord(of: SetupTarget, change: Partial<OwnershipRecord> = {}): OwnershipRecord {
  return { ...of.registration, phase: 'owned', fingerprint: ENTRY, release: RELEASE, ...change };
}

export function skillRecord(of: SetupTarget, change: Partial<OwnershipRecord> = {}): OwnershipRecord {
  return { ...of.skill, phase: 'owned', fingerprint: SKILL, ...change };
}

export function hookRecord(change: Partial<OwnershipRecord> = {}): OwnershipRecord {
  return { ...HOOK_KEY, phase: 'owned', fingerprint: HOOK, ...change };
}

/** What a port answers when everything is as it should be. */
export const GOOD: Readonly<Record<PortName, unknown>> = {
  acquire: 'locked',
  release: 'released',
  checkDoctor: { errors: 0 },
  bindRelease: { ok: true, fingerprint: RELEASE },
  readRecords: { ok: true, records: [] },
  put: { ok: true },
  drop: { ok: true },
  inspect: 'equivalent',
  add: 'ended',
  remove: 'ended',
  handshake: 'verified',
  readSource: { ok: true, fingerprint: SKILL },
  look: { kind: 'tree', fingerprint: SKILL, hidden: false },
  recover: { ok: true },
  stage: { ok: true },
  displace: { ok: true },
  place: { ok: true },
  discard: { ok: true },
  readShipped: { ok: true, fingerprint: SKILL },
  readBase: { kind: 'none' },
  readOverride: 'absent',
  recordBase: { ok: true },
  inspectHook: 'equivalent',
  installHook: 'ended',
  uninstallHook: 'ended',
};

interface PendingCall extends PortCall {
  readonly resolve: (outcome: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** Other numbers than the product's, each a different one, so that a test can fire one by its length. */
export const TEST_RUN_DEADLINES = {
  doctorTimeout: 11,
  releaseTimeout: 12,
  handshakeTimeout: 13,
  handshakeEndTimeout: 14,
};

export interface SetupWorldOptions {
  readonly operation: Operation;
  readonly targets?: readonly SetupTarget[];
  readonly customize?: boolean;
  readonly inspect?: (event: InspectionEvent) => void;
  /** Between the run and the script: a mistake, to show that a test would see it. */
  readonly behind?: (ask: Ask) => Ask;
}

export class SetupWorld {
  readonly clock = new ManualClock();
  readonly live: PendingCall[] = [];
  readonly progress: Progress[] = [];
  readonly referee: Referee;
  result: RunResult | undefined;
  listeners = 0;
  readonly #interrupts = new Set<(signal: InterruptSignal) => void>();

  constructor({ operation, targets = [CLAUDE], customize, inspect, behind = (ask) => ask }: SetupWorldOptions) {
    this.referee = new Referee({ operation, targets, release: RELEASE });
    const script: Ask = (call) =>
      new Promise((resolve, reject) => {
        this.live.push({ ...call, resolve, reject });
      });
    const ports = portsOf(behind(customize ? script : this.referee.watch(script)));
    const options = {
      clock: this.clock,
      deadlines: TEST_RUN_DEADLINES,
      onProgress: (progress: Progress) => this.progress.push(progress),
      onInterrupt: (interrupt: (signal: InterruptSignal) => void) => {
        this.listeners += 1;
        this.#interrupts.add(interrupt);
        return () => {
          this.listeners -= 1;
        };
      },
      ...(inspect && { inspect }),
    };
    const run = customize
      ? runCustomization({ operation: operation as 'apply', alias: 'some-skill' }, ports.customization, options)
      : runSetup({ operation, targets }, ports, options);
    void run.then((result) => {
      this.result = result;
    });
  }

  /** Names of the calls that somebody still listens to. */
  asked(): PortName[] {
    return this.live.filter(({ signal, name }) => !signal?.aborted || isAwaited(name)).map(({ name }) => name);
  }

  /** The latest call of this name. */
  find(name: PortName): PendingCall {
    const call = this.live.findLast((each) => each.name === name);
    if (!call) throw new Error(`nobody asked for ${name}; asked: ${this.live.map((each) => each.name).join(', ')}`);
    return call;
  }

  async settle(name: PortName, outcome: unknown = GOOD[name]): Promise<void> {
    const call = this.find(name);
    this.live.splice(this.live.indexOf(call), 1);
    call.resolve(outcome);
    await this.flush();
  }

  async fail(name: PortName): Promise<void> {
    const call = this.find(name);
    this.live.splice(this.live.indexOf(call), 1);
    call.reject(new Error('a port that breaks its word'));
    await this.flush();
  }

  async interrupt(signal: InterruptSignal = 'SIGINT'): Promise<void> {
    this.referee.stop();
    for (const interrupt of this.#interrupts) interrupt(signal);
    await this.flush();
  }

  /** Settles whatever is asked, well, until the run is over. */
  async finish(): Promise<RunResult> {
    await this.flush();
    for (let [call] = this.live; call && !this.result; [call] = this.live) await this.settle(call.name);
    if (!this.result) throw new Error('the run waits for nothing and does not end');
    return this.result;
  }

  /** Lets every promise that can settle do so; nothing here waits for time. */
  flush(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve));
  }
}

/** Their signal only asks them to hurry. */
function isAwaited(name: PortName): boolean {
  return ['acquire', 'add', 'remove', 'handshake', 'installHook', 'uninstallHook'].includes(name);
}
