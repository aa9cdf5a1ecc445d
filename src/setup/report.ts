/** The one result of a run, for both of its forms. */
import type { Finding, FindingDetails, RunCode, Status } from '../ports/setup/target.ts';

export type ReportCode = RunCode;

export interface Report {
  readonly schemaVersion: 1;
  /** `dry-run`, `apply`, `verify`, `rollback`, `remove`; null when the command line could not be read. */
  readonly operation: string | null;
  readonly status: Status;
  /** What stopped the run as a whole, if anything did. */
  readonly code?: ReportCode;
  readonly findings: readonly Finding[];
}

/** Exit statuses of the command (docs/setup.md). */
export const EXIT = { ok: 0, failed: 1, misuse: 64, SIGINT: 130, SIGTERM: 143 } as const;

/** One line of JSON, fields in a fixed order, nothing but what the model has. */
export function jsonReport({ operation, status, code, findings }: Report): string {
  const lines = findings.map(({ target, ...verdict }) => ({
    target: { client: target.client, scope: target.scope, alias: target.alias },
    status: verdict.status,
    code: verdict.code,
    ...(verdict.mode && { mode: verdict.mode }),
    ...(verdict.settings && { settings: [...verdict.settings] }),
    ...(verdict.details && { details: counts(verdict.details) }),
  }));
  return `${JSON.stringify({ schemaVersion: 1, operation, status, ...(code ? { code } : {}), findings: lines })}\n`;
}

/** Numbers under words of ours, whatever else is in it. */
export function counts({ branches, reasons, flags, kept }: FindingDetails): FindingDetails {
  return {
    ...(isCount(branches) && { branches }),
    ...(reasons && { reasons: onlyCounts(reasons) }),
    ...(flags && { flags: onlyCounts(flags) }),
    ...(isCount(kept) && { kept }),
  };
}

function onlyCounts(record: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(record).filter(([word, count]) => /^[a-z_]+$/.test(word) && isCount(count)));
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
