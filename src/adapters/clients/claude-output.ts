/**
 * What `claude mcp get` and `claude mcp list` print. There is no JSON form, so the
 * text has a strict grammar: every line has its place, and one more or one less
 * is another client than the one that was measured (docs/clients.md).
 */
import type { IntendedEntry } from '../../ports/setup/registration.ts';
import type { Scope } from '../../ports/setup/target.ts';
import { lastLine, type Printed } from './client-commands.ts';
import { sameList, variableLines } from './entry.ts';

export type ShownEntry =
  | { readonly kind: 'absent' }
  | { readonly kind: 'unreadable' }
  | { readonly kind: 'remote'; readonly scope: Scope }
  | {
      readonly kind: 'stdio';
      readonly scope: Scope;
      readonly command: string;
      /** Joined with spaces by the client. */
      readonly args: string;
      readonly variables: readonly string[];
    };

const UNREADABLE: ShownEntry = { kind: 'unreadable' };
const SCOPES: ReadonlyMap<string, Scope> = new Map([
  ['User', 'user'],
  ['Project', 'project'],
  ['Local', 'local'],
]);
const SCOPE = /^(\w+) config(?: \([^()]*\))?$/;
const LIST_HEADS = ['No MCP servers configured.', 'Checking MCP server health'];

export function readClaudeEntry({ code, stdout, stderr }: Printed, alias: string): ShownEntry {
  const absent = `No MCP server named "${alias}".`;
  const isAbsent = code === 1 && stdout.trim() === '' && lastLine(stderr).startsWith(absent);
  if (isAbsent) return { kind: 'absent' };
  return code === 0 ? readShown(stdout.split('\n'), alias) : UNREADABLE;
}

/** Lines, one after the other. */
class Reader {
  readonly #lines: readonly string[];
  #next = 0;

  constructor(lines: readonly string[]) {
    this.#lines = lines;
  }

  /** What follows the label in the next line; a label of a field is followed by one space, or by nothing at all. */
  field(label: string): string | undefined {
    const line = this.#lines[this.#next];
    if (line !== label && !line?.startsWith(`${label} `)) return undefined;
    this.#next += 1;
    return line.slice(label.length + 1);
  }

  /** All further lines with this indentation, without it. */
  block(indentation: string): string[] {
    const found: string[] = [];
    for (let line = this.#lines[this.#next]; line?.startsWith(indentation); line = this.#lines[this.#next]) {
      found.push(line.slice(indentation.length));
      this.#next += 1;
    }
    return found;
  }

  rest(): string {
    return this.#lines.slice(this.#next).join('\n');
  }
}

function readShown(lines: readonly string[], alias: string): ShownEntry {
  const reader = new Reader(lines);
  if (reader.field(`${alias}:`) !== '') return UNREADABLE;
  const scope = SCOPES.get(SCOPE.exec(reader.field('  Scope:') ?? '')?.[1] ?? '');
  const status = reader.field('  Status:');
  // Whether it starts right now is no part of what is registered.
  while (reader.field('  Issue:') !== undefined);
  const type = reader.field('  Type:');
  if (!scope || !status || !type) return UNREADABLE;
  const shown = type === 'stdio' ? readStdio(reader, scope) : readRemote(reader, scope);
  const farewell = `\nTo remove this server, run: claude mcp remove ${alias} -s ${scope}`;
  return reader.rest().trimEnd() === farewell ? shown : UNREADABLE;
}

function readStdio(reader: Reader, scope: Scope): ShownEntry {
  const command = reader.field('  Command:');
  const args = reader.field('  Args:');
  const heading = reader.field('  Environment:');
  const variables = heading === '' ? reader.block('    ') : [];
  // A time limit for its tools is the user's own matter.
  reader.field('  Timeout:');
  return command && args !== undefined ? { kind: 'stdio', scope, command, args, variables } : UNREADABLE;
}

function readRemote(reader: Reader, scope: Scope): ShownEntry {
  reader.block('  ');
  return { kind: 'remote', scope };
}

/** Does it look like the intended entry? Two entries that print the same cannot be told apart. */
export function looksLike(shown: ShownEntry, entry: IntendedEntry): boolean {
  return (
    shown.kind === 'stdio' &&
    shown.command === entry.command &&
    shown.args === entry.args.join(' ') &&
    sameList([...shown.variables].sort(), variableLines(entry.env))
  );
}

/**
 * `get` knows no entry in a file that it cannot read, nor one that is malformed;
 * only `list` tells. True when it tells nothing of the kind.
 */
export function listsNothingOfOurs({ code, stdout }: Printed, alias: string): boolean {
  const lines = stdout.split('\n');
  const isKnown = code === 0 && LIST_HEADS.some((head) => lines[0]?.startsWith(head));
  return (
    isKnown &&
    !lines.some(
      (line) => line.startsWith('[Has errors]') || line.startsWith(`${alias}:`) || line.includes(`[${alias}]`),
    )
  );
}
