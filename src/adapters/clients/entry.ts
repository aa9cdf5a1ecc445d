/** Which entries can be handed to a client at all, and when two are the same. */
import type { IntendedEntry } from '../../ports/setup/registration.ts';

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;
const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}]/u;

/** Can it be an argument of a command, without losing anything on the way? */
export function isPassable(entry: IntendedEntry): boolean {
  const texts = [entry.command, ...entry.args, ...Object.values(entry.env)];
  return (
    entry.command !== '' &&
    texts.every((text) => text.isWellFormed() && !text.includes('\0')) &&
    Object.keys(entry.env).every((name) => VARIABLE.test(name))
  );
}

/**
 * Claude Code replaces control characters by spaces and cuts blanks at the end when
 * it prints, and expands `${NAME}` when it starts a server: an entry with any of
 * these could not be told from another one, or would start another one.
 */
export function isPrintable(entry: IntendedEntry): boolean {
  const texts = [entry.command, ...entry.args, ...Object.values(entry.env)];
  return (
    isPassable(entry) &&
    entry.args.every((text) => text !== '') &&
    texts.every((text) => !INVISIBLE.test(text) && text === text.trim() && !text.includes('${'))
  );
}

export function sameList(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((text, index) => text === right[index]);
}

/** The variables as sorted `NAME=value` lines. */
export function variableLines(env: Readonly<Record<string, string>>): string[] {
  return Object.entries(env)
    .map(([name, value]) => `${name}=${value}`)
    .sort();
}
