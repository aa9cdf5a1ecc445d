/** What was looked at and what came of it. */
export interface Check {
  readonly part: string;
  readonly what: string;
  readonly passed: boolean;
}

export const checks: Check[] = [];
export const notes: string[] = [];

export type Say = (what: string, passed: boolean, note?: string) => void;

export function saying(part: string): Say {
  process.stdout.write(`${part}\n`);
  return (what, passed, note = '') => {
    checks.push({ part, what, passed });
    if (!passed) notes.push(`${part}: ${what}${note ? `: ${note.slice(0, 2_000)}` : ''}`);
  };
}

interface Report {
  readonly status?: string;
  readonly findings: readonly {
    readonly target: { readonly client: string; readonly alias: string };
    readonly code: string;
  }[];
}

/** The code of one finding in a report of setup, `nothing` without one. */
export function codeOf(stdout: string, alias: string, client = 'writer'): string {
  try {
    const { findings } = JSON.parse(stdout) as Report;
    const found = findings.find(({ target }) => target.client === client && target.alias === alias);
    return found?.code ?? 'nothing';
  } catch {
    return 'no report';
  }
}
