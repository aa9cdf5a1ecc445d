import { visit } from 'jsonc-parser';
import type { IssueLog } from './issues.ts';
import { MAX_NESTING } from './limits.ts';

export type ParsedJson =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problem: 'not_json' | 'structure' };

/** Ends the visitor's recursion; it has no other way to stop. */
const TOO_DEEP = Symbol('too deep');

/**
 * Parses UTF-8 JSON (RFC 8259; one leading byte order mark is ignored). What
 * `JSON.parse` would hide becomes an issue: a key that is given twice, and `__proto__`, which no field can be called.
 * Nesting is bounded, because the visitor recurses where `JSON.parse` does not.
 */
export function parseStrictJson(bytes: Uint8Array, log: IssueLog): ParsedJson {
  let text: string;
  let value: unknown;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    value = JSON.parse(text);
  } catch {
    return { ok: false, problem: 'not_json' };
  }
  checkStructure(text, log);
  if (!log.empty) return { ok: false, problem: 'structure' };
  return { ok: true, value };
}

function checkStructure(text: string, log: IssueLog): void {
  const open: Set<string>[] = [];
  let depth = 0;
  const enter = (): void => {
    depth += 1;
    if (depth > MAX_NESTING) throw TOO_DEEP;
  };
  try {
    visit(
      text,
      {
        onObjectBegin: () => {
          enter();
          open.push(new Set());
        },
        onObjectProperty: (key, _offset, _length, _line, _character, path) => {
          if (key === '__proto__') log.add(path(), 'has an unknown field');
          if (open.at(-1)?.has(key)) log.addDuplicate([...path(), key]);
          open.at(-1)?.add(key);
        },
        onObjectEnd: () => {
          depth -= 1;
          open.pop();
        },
        onArrayBegin: enter,
        onArrayEnd: () => {
          depth -= 1;
        },
      },
      { disallowComments: true, allowTrailingComma: false },
    );
  } catch (error) {
    if (error !== TOO_DEEP) throw error;
    log.add([], 'is nested deeper than any field');
  }
}
