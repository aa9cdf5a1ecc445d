/** Which directory a client reads skills from, and where that really is (docs/skills.md). */
import { type BigIntStats, lstatSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Target } from '../../ports/setup/target.ts';
import { codeOf } from './regular-file.ts';

export interface SlotRoot {
  /** A home is its owner's, links and all. A project may be untrusted: below its root no link is followed. */
  readonly kind: 'home' | 'project';
  /** Absolute. */
  readonly directory: string;
  /** Names of the directories between the root and the skill. */
  readonly below: readonly string[];
}

export type SlotPlace =
  /** `missing`: what has to be created, the outermost first; the last one is `parent`. */
  | { readonly kind: 'place'; readonly parent: string; readonly missing: readonly string[] }
  /** Below a link inside a project. */
  | { readonly kind: 'foreign' }
  /** No root, something that is no directory, a link to nowhere, or unreadable. */
  | { readonly kind: 'unresolved' };

export interface SlotHomes {
  readonly home: string;
  readonly project: string;
}

/** The slot of a target. Claude Code's `user` and `local` share one; Codex reads `~/.agents`. */
export function slotRootOf({ client, scope }: Target, { home, project }: SlotHomes): SlotRoot {
  if (client === 'codex') return { kind: 'home', directory: home, below: ['.agents', 'skills'] };
  const below = ['.claude', 'skills'];
  return scope === 'project'
    ? { kind: 'project', directory: project, below }
    : { kind: 'home', directory: home, below };
}

/** Where the slot's parent really is. Changes nothing and never throws. */
export function resolvePlace({ kind, directory, below }: SlotRoot): SlotPlace {
  try {
    let parent = realpathSync(directory);
    if (!statSync(parent).isDirectory()) return { kind: 'unresolved' };
    for (const [index, name] of below.entries()) {
      const next = join(parent, name);
      const stat = statOf(next);
      if (stat === undefined) return notYet(parent, below.slice(index));
      if (stat.isSymbolicLink() && kind === 'project') return { kind: 'foreign' };
      parent = stat.isSymbolicLink() ? realpathSync(next) : next;
      if (!statSync(parent).isDirectory()) return { kind: 'unresolved' };
    }
    return { kind: 'place', parent, missing: [] };
  } catch {
    return { kind: 'unresolved' };
  }
}

function notYet(existing: string, names: readonly string[]): SlotPlace {
  const missing = names.map((_name, index) => join(existing, ...names.slice(0, index + 1)));
  return { kind: 'place', parent: join(existing, ...names), missing };
}

function statOf(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true });
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
