/** The result for a person: the verdict, then the problems, then the rest in a line each. */
import type { DoctorCheck, DoctorResult, Severity } from './model.ts';

export type Paint = (severity: Severity, text: string) => string;

/** SGR colours: red, yellow, green. */
const COLOURS: Readonly<Record<Severity, number>> = { error: 31, warning: 33, ok: 32 };
const INDENT = ' '.repeat(9);

export const plain: Paint = (_, text) => text;
export const coloured: Paint = (severity, text) => `\u001b[${COLOURS[severity]}m${text}\u001b[39m`;

export function humanReport(result: DoctorResult, paint: Paint): string {
  const { checks } = result;
  const problems = [...bySeverity(checks, 'error'), ...bySeverity(checks, 'warning')];
  const sections = [
    verdict(result, paint),
    ...problems.map((check) => describe(check, paint)),
    [...notes(checks), ...closing(problems.length, bySeverity(checks, 'ok').length)].join('\n'),
  ];
  return `${sections.filter((section) => section !== '').join('\n\n')}\n`;
}

function bySeverity(checks: readonly DoctorCheck[], severity: Severity): readonly DoctorCheck[] {
  return checks.filter((check) => check.severity === severity);
}

function verdict({ checks, packageVersion }: DoctorResult, paint: Paint): string {
  const name = packageVersion === undefined ? 'pi-session-mcp' : `pi-session-mcp ${packageVersion}`;
  const errors = bySeverity(checks, 'error').length;
  const warnings = bySeverity(checks, 'warning').length;
  const counts = [...count('error', errors), ...count('warning', warnings)];
  if (counts.length === 0) return `${name}: ${paint('ok', `no problems, ${checks.length} checks passed`)}`;
  return `${name}: ${paint(errors > 0 ? 'error' : 'warning', counts.join(', '))}`;
}

function count(noun: string, number: number): string[] {
  if (number === 0) return [];
  return [`${number} ${noun}${number === 1 ? '' : 's'}`];
}

function describe({ id, severity, subject, remediation }: DoctorCheck, paint: Paint): string {
  const head = `${paint(severity, severity.padEnd(INDENT.length))}${id}  ${subject}`;
  return remediation === undefined ? head : `${head}\n${INDENT}${remediation}`;
}

/** A choice that is no problem, but that nobody should have to look for. */
function notes(checks: readonly DoctorCheck[]): string[] {
  const accepted = checks.filter(({ id }) => id === 'workspace_host_writes_accepted').map(({ subject }) => subject);
  const blind = checks.some(({ id, severity }) => id.startsWith('config_') && severity === 'error');
  return [
    ...(accepted.length > 0 ? [`You have accepted that coding writes directly into: ${accepted.join(', ')}.`] : []),
    ...(blind ? ['Workspaces and profiles are looked at once the configuration is accepted.'] : []),
  ];
}

function closing(problems: number, good: number): string[] {
  if (problems === 0) return [];
  return [`${good} other ${good === 1 ? 'check' : 'checks'} passed.`];
}
