/** Reads TypeScript as text: what a file imports, and its code without comments and strings. */

export interface Import {
  readonly specifier: string;
  /** Erased by the compiler: `import type`, `export type … from`, `import('…')` in a type. */
  readonly typeOnly: boolean;
}

export interface Scan {
  /** Comments and the contents of strings are blanked; positions and lines stay. */
  readonly code: string;
  readonly comments: readonly string[];
  readonly imports: readonly Import[];
}

// Alternatives in the order in which they win: a quote in a comment is no string, `//` in a string no comment.
const TOKEN =
  /\/\/[^\n]*|\/\*[\s\S]*?\*\/|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|(?<=[=(,:!&|?{};\n[]\s*)\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*/g;

const STATEMENT = /\b(import|export)(\s+type)?\b(?:[\w\s{},*$]*?\bfrom)?\s*(["'])(\d+)\3/g;
const CALL = /(\btypeof\s+|[:<|&=,]\s*)?\bimport\s*\(\s*(["'])(\d+)\2\s*\)(\s*\.\s*[A-Z])?/g;

/** Scans one file. Specifiers are read from the code with each string replaced by its number, so text cannot fool it. */
export function scan(source: string): Scan {
  const comments: string[] = [];
  const strings: string[] = [];
  const numbered = source.replace(TOKEN, (token) => {
    if (token.startsWith('//') || token.startsWith('/*')) {
      comments.push(token);
      return blank(token);
    }
    const quote = token[0] ?? '';
    if (quote === '/' || quote === '`') return blank(token);
    strings.push(token.slice(1, -1));
    return `${quote}${strings.length - 1}${quote}`;
  });
  const imports = [
    ...[...numbered.matchAll(STATEMENT)].map(([, , type, , index]) => entry(strings, index, type !== undefined)),
    ...[...numbered.matchAll(CALL)].map(([, , , index, member]) => entry(strings, index, member !== undefined)),
  ];
  const code = numbered.replace(/(["'])\d+\1/g, '$1$1');
  return { code, comments, imports };
}

function entry(strings: readonly string[], index: string | undefined, typeOnly: boolean): Import {
  return { specifier: strings[Number(index)] ?? '', typeOnly };
}

const blank = (token: string) => token.replace(/[^\n]/g, ' ');
