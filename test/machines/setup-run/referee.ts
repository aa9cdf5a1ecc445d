/**
 * Watches one run from outside and holds it to what is promised about the order
 * of things (docs/setup.md), whatever the charts think of it.
 */
import type { OwnershipRead, OwnershipRecord, RecordKey } from '../../../src/ports/setup/ownership.ts';
import type { SetupTarget } from '../../../src/ports/setup/run.ts';
import type { SkillSource, SlotContent } from '../../../src/ports/setup/skill-slot.ts';
import type { Operation, Target } from '../../../src/ports/setup/target.ts';
import { type Ask, CHANGES, type PortCall } from './port-calls.ts';

export interface Game {
  readonly operation: Operation;
  readonly targets: readonly SetupTarget[];
  /** What the release is bound to. */
  readonly release: string;
}

type Rule = (call: PortCall) => string | undefined;

const keyOf = ({ client, scope, alias }: RecordKey) => `${client} ${scope} ${alias}`;

export class Referee {
  readonly violations: string[] = [];
  /** Names of the calls, in the order in which they began. */
  readonly history: string[] = [];
  readonly #game: Game;
  readonly #live = new Set<PortCall>();
  /** Written in this run. */
  readonly #durable = new Map<string, OwnershipRecord>();
  #records: readonly OwnershipRecord[] = [];
  #isLocked = false;
  #isReleased = false;
  #isStopped = false;
  /** Since the last change of the registration. */
  #inspection: unknown;
  /** Since the last change of the hook. */
  #hooked: unknown;
  /** Since the last change of the slot. */
  #slot: SlotContent | undefined;
  #source: string | undefined;
  #displaced: string | undefined;
  #discarded: string | undefined;

  constructor(game: Game) {
    this.#game = game;
  }

  /** The run has been interrupted: nothing may begin any more but its end. */
  stop(): void {
    this.#isStopped = true;
  }

  watch(ask: Ask): Ask {
    return async (call) => {
      this.#begin(call);
      try {
        const outcome = await ask(call);
        this.#end(call, outcome);
        return outcome;
      } catch (error) {
        this.#end(call, undefined);
        throw error;
      }
    };
  }

  #begin(call: PortCall): void {
    this.history.push(call.name);
    for (const rule of [this.#time, this.#owner, this.#registration, this.#skill, this.#hook]) {
      const violation = rule(call);
      if (violation) this.violations.push(`${call.name}: ${violation}`);
    }
    if (CHANGES.includes(call.name)) this.#live.add(call);
    if (call.name === 'release') this.#isReleased = true;
  }

  readonly #time: Rule = ({ name }) => {
    if (this.#isReleased) return 'begins after the end';
    if (this.#live.size > 0 && (CHANGES.includes(name) || name === 'release')) return 'overlaps with a change';
    if (this.#isStopped && name !== 'release') return 'begins although the run was stopped';
    const mayChange = this.#isLocked && this.#game.operation !== 'dry-run' && this.#game.operation !== 'verify';
    return CHANGES.includes(name) && !mayChange
      ? 'changes something without a lock, or without being asked'
      : undefined;
  };

  /** Records are about our own targets. */
  readonly #owner: Rule = ({ name, input }) => {
    if (name !== 'put' && name !== 'drop') return undefined;
    const ours = this.#game.targets.flatMap((target) => [
      keyOf(target.registration),
      keyOf(target.skill),
      ...(target.wake.key ? [keyOf(target.wake.key)] : []),
    ]);
    return ours.includes(keyOf(input as RecordKey)) ? undefined : 'is about a foreign record';
  };

  readonly #registration: Rule = ({ name, input, target }) => {
    const mine = this.#targetOf(target);
    const record = input as OwnershipRecord;
    const isOther = /^(skill|wake):/.test(record?.alias ?? '');
    if (name === 'add') {
      const pending = mine && this.#durable.get(keyOf(mine.registration));
      const isMeant = pending?.fingerprint === mine?.fingerprint && pending?.release === this.#game.release;
      if (pending?.phase !== 'pending' || !isMeant) return 'without a durable pending record';
      return this.#inspection === 'absent' ? undefined : 'although the entry was not seen to be absent';
    }
    if (name === 'remove') {
      const known = mine && this.#records.find((each) => keyOf(each) === keyOf(mine.registration));
      const isMatch = known?.fingerprint === mine?.fingerprint && known?.release === this.#game.release;
      return isMatch && this.#inspection === 'equivalent' ? undefined : 'of what is not provably ours';
    }
    if (isOther) return undefined;
    if (name === 'drop') return this.#inspection === 'absent' ? undefined : 'before absence was seen';
    if (name !== 'put') return undefined;
    const wanted = record.phase === 'owned' ? 'equivalent' : 'absent';
    return this.#inspection === wanted ? undefined : `${record.phase}, but the client said ${this.#inspection}`;
  };

  readonly #skill: Rule = ({ name, input, target }) => {
    const record = input as OwnershipRecord;
    const isSkill = record?.alias?.startsWith('skill:');
    const mine = this.#targetOf(target);
    const pending = mine && this.#durable.get(keyOf(mine.skill));
    if (name === 'stage' || name === 'place') {
      return pending?.phase === 'pending' && pending.fingerprint === this.#source ? undefined : 'without a record';
    }
    if (name === 'displace') {
      const isKnown = this.#records.some((each) => each.fingerprint === input || each.replaces === input);
      const isSafe = this.#game.operation !== 'apply' || pending?.replaces === input;
      return isKnown && isSafe && this.#seen() === input ? undefined : 'of a copy that is not ours';
    }
    if (name === 'discard') return this.#displaced === input ? undefined : 'of what was not displaced';
    if (name === 'put' && isSkill && record.phase === 'owned') {
      return this.#seen() === record.fingerprint ? undefined : 'owned, but the slot does not hold it';
    }
    if (name === 'drop' && isSkill) {
      const isGone = this.#discarded !== undefined || ['absent', 'linked'].includes(this.#slot?.kind ?? '');
      return isGone ? undefined : 'while the copy is there';
    }
    return undefined;
  };

  readonly #hook: Rule = ({ name, input }) => {
    const record = input as OwnershipRecord;
    const isHook = record?.alias?.startsWith('wake:');
    const pending = [...this.#durable.values()].find(({ alias }) => alias.startsWith('wake:'));
    if (name === 'installHook') {
      if (pending?.phase !== 'pending') return 'without a durable pending record';
      return ['absent', 'outdated'].includes(String(this.#hooked)) ? undefined : `the client said ${this.#hooked}`;
    }
    if (name === 'uninstallHook') {
      const isKnown = this.#records.some(({ alias }) => alias.startsWith('wake:'));
      const isWanted = this.#records.some(({ client, phase, alias }) => {
        return client === 'claude-code' && phase === 'owned' && alias.startsWith('pi-session-mcp');
      });
      return isKnown && !isWanted && this.#hooked !== 'divergent' ? undefined : 'of what is not ours, or still wanted';
    }
    if (!isHook) return undefined;
    if (name === 'drop') return this.#hooked === 'absent' ? undefined : 'before absence was seen';
    if (name !== 'put') return undefined;
    const wanted = record.phase === 'owned' ? ['equivalent'] : ['absent', 'outdated'];
    return wanted.includes(String(this.#hooked)) ? undefined : `${record.phase}, but the client said ${this.#hooked}`;
  };

  /** A skill of Claude Code outside of projects is the same one for both scopes. */
  #targetOf(target: Target | undefined): SetupTarget | undefined {
    return (
      this.#game.targets.find(({ client, scope }) => client === target?.client && scope === target.scope) ??
      this.#game.targets.find(({ skill }) => skill.client === target?.client && skill.scope === target.scope)
    );
  }

  #seen(): string | undefined {
    return this.#slot?.kind === 'tree' && !this.#slot.hidden ? this.#slot.fingerprint : undefined;
  }

  #end(call: PortCall, outcome: unknown): void {
    const { name, input } = call;
    this.#live.delete(call);
    const isOk = (outcome as { ok?: boolean } | undefined)?.ok === true;
    if (name === 'acquire') this.#isLocked = outcome === 'locked';
    if (name === 'readRecords') this.#forget();
    if (name === 'readRecords' && isOk) this.#records = (outcome as Extract<OwnershipRead, { ok: true }>).records;
    if (name === 'put' && isOk) this.#durable.set(keyOf(input as RecordKey), input as OwnershipRecord);
    if (name === 'inspect') this.#inspection = outcome;
    if (name === 'add' || name === 'remove') {
      this.#inspection = undefined;
      if (outcome === 'retained' || outcome === undefined) this.#isStopped = true;
    }
    if (name === 'inspectHook') this.#hooked = outcome;
    if (name === 'installHook' || name === 'uninstallHook') {
      this.#hooked = undefined;
      if (outcome === 'retained' || outcome === undefined) this.#isStopped = true;
    }
    if (name === 'look') this.#slot = outcome as SlotContent;
    if (name === 'readSource' && isOk) this.#source = (outcome as Extract<SkillSource, { ok: true }>).fingerprint;
    if (['recover', 'place', 'displace'].includes(name)) this.#slot = undefined;
    if (name === 'displace' && isOk) this.#displaced = input as string;
    if (name === 'discard' && isOk) this.#discarded = input as string;
  }

  /** A chart begins, and has seen nothing yet. */
  #forget(): void {
    this.#inspection = undefined;
    this.#hooked = undefined;
    this.#slot = undefined;
    this.#source = undefined;
    this.#displaced = undefined;
    this.#discarded = undefined;
  }
}
