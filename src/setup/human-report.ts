/** The report for people: what was found, and what to do next. */
import { styleText } from 'node:util';
import type { Finding, FindingDetails, Status } from '../ports/setup/target.ts';
import { explain } from './explanations.ts';
import { counts, type Report } from './report.ts';

const COLOURS: Readonly<Record<Status, 'green' | 'yellow' | 'red' | 'dim'>> = {
  ok: 'green',
  unchanged: 'green',
  planned: 'yellow',
  absent: 'yellow',
  divergent: 'red',
  unsupported: 'red',
  failed: 'red',
};

/**
 * Lines without colours unless `colours` is set. The first line is the operation
 * and its status; each finding follows as `client/scope/alias: status (code)`,
 * with a sentence below it, and a line with its mode and settings if it has any;
 * then every distinct next step, once.
 */
export function humanReport(report: Report, colours: boolean): string {
  const paint = (status: Status, text: string) =>
    colours ? styleText(COLOURS[status], text, { validateStream: false }) : text;
  const lines = [`${report.operation ?? 'setup'}: ${paint(report.status, report.status)}${suffix(report.code)}`];
  const whole =
    report.code && report.findings.every(({ code }) => code !== report.code) ? explain(report.code) : undefined;
  if (whole) lines.push(`  ${whole.meaning}`);
  for (const finding of report.findings) {
    lines.push(`${place(finding)}: ${paint(finding.status, finding.status)} (${finding.code})`);
    const explanation = explain(finding.code);
    if (explanation) lines.push(`  ${explanation.meaning}`);
    const details = detailsOf(finding);
    if (details.length > 0) lines.push(`  ${details.join(' ')}`);
    if (finding.details) lines.push(`  ${counted(finding.details)}`);
  }
  const steps = [whole?.next, ...report.findings.map(({ code }) => explain(code)?.next)];
  const next = withoutRepeats(steps.filter((step) => step !== undefined));
  if (next.length > 0) lines.push('', 'Next:', ...next.map((step) => `  ${step}`));
  return `${lines.join('\n')}\n`;
}

function detailsOf({ mode, settings = [] }: Finding): string[] {
  return [...(mode ? [`Mode: ${mode}.`] : []), ...(settings.length > 0 ? [`Different: ${settings.join(', ')}.`] : [])];
}

/** Also without those that another one begins with: it says more of the same. */
function withoutRepeats(steps: readonly string[]): string[] {
  const all = [...new Set(steps)];
  return all.filter(
    (step) => !all.some((other) => other.length > step.length && other.startsWith(step.replace(/\.$/, ''))),
  );
}

/** As in `branches 3; reasons: stash 1, refused_name 2`. */
function counted(details: FindingDetails): string {
  const { branches, reasons, flags, kept } = counts(details);
  const list = (name: string, record: Readonly<Record<string, number>>) =>
    `${name}: ${Object.entries(record)
      .map(([word, count]) => `${word} ${count}`)
      .join(', ')}`;
  const parts = [
    branches !== undefined && `branches ${branches}`,
    reasons && list('reasons', reasons),
    flags && list('flags', flags),
    kept !== undefined && `kept ${kept}`,
  ];
  return parts.filter((part) => typeof part === 'string').join('; ');
}

function place({ target: { client, scope, alias } }: Finding): string {
  return `${client}/${scope}/${alias}`;
}

function suffix(code: string | undefined): string {
  return code ? ` (${code})` : '';
}
