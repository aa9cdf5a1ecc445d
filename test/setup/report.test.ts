import { readFileSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import type { Finding } from '../../src/ports/setup/target.ts';
import { explain } from '../../src/setup/explanations.ts';
import { humanReport } from '../../src/setup/human-report.ts';
import { jsonReport, type Report } from '../../src/setup/report.ts';

const finding = (alias: string, status: Finding['status'], code: Finding['code']): Finding => ({
  target: { client: 'claude-code', scope: 'user', alias },
  status,
  code,
});
const applied: Report = {
  schemaVersion: 1,
  operation: 'apply',
  status: 'ok',
  findings: [finding('pi-session-mcp', 'ok', 'applied'), finding('pi-session-orchestration', 'ok', 'skill_installed')],
};

test('for people: operation, findings with a sentence each, next steps once', () =>
  expect(humanReport(applied, false)).toMatchInlineSnapshot(`
    "apply: ok
    claude-code/user/pi-session-mcp: ok (applied)
      Registered. The client starts the server in its next session.
    claude-code/user/pi-session-orchestration: ok (skill_installed)
      The controller skill was installed; the client finds it by itself.

    Next:
      The same command with --verify checks it.
    "
  `));

test('a next step that several findings share is said once', () => {
  const failed = finding('pi-session-mcp', 'failed', 'inspect_failed');
  const text = humanReport({ ...applied, status: 'failed', findings: [failed, failed] }, false);
  expect(text.match(/Run the same command again/g)).toHaveLength(1);
});

test('a step that another one begins with is not said beside it, nor the same one in other words', () => {
  const codes = ['operation_interrupted', 'interrupted', 'mode_planned', 'writer_planned'] as const;
  const findings = codes.map((code) => finding('shop', 'planned', code));
  expect(humanReport({ ...applied, findings }, false).split('Next:\n')[1]).toBe(
    '  Run the same command again; it goes on where this one stopped.\n  Run the same command with --apply.\n',
  );
});

test('a mode and what is different are told in both forms', () => {
  const mode: Finding = {
    ...finding('shop', 'planned', 'mode_planned'),
    mode: 'container',
    settings: ['image', 'cache'],
  };
  const report = { ...applied, findings: [mode] };
  expect(humanReport(report, false)).toContain('\n  Mode: container. Different: image, cache.\n');
  expect(JSON.parse(jsonReport(report)).findings).toEqual([mode]);
});

test('colours change nothing but colours', () => {
  const coloured = humanReport(applied, true);
  expect(coloured).not.toBe(humanReport(applied, false));
  expect(stripVTControlCharacters(coloured)).toBe(humanReport(applied, false));
});

test('for scripts: one line, only the fields of the model', () => {
  const smuggled = { ...finding('pi-session-mcp', 'ok', 'applied'), path: '/SENTINEL' };
  const target = { ...smuggled.target, id: 'SENTINEL' };
  const text = jsonReport({ ...applied, findings: [{ ...smuggled, target }] });
  expect(text.trimEnd()).not.toContain('\n');
  expect(JSON.parse(text)).toEqual({ ...applied, findings: [finding('pi-session-mcp', 'ok', 'applied')] });
});

/** Read from the port, so that a new code cannot come without its sentence. */
test('every code but the two of misuse is explained', () => {
  const source = readFileSync(new URL('../../src/ports/setup/target.ts', import.meta.url), 'utf8');
  const unions = source.slice(source.indexOf('export type RegistrationCode'), source.indexOf('export type SetupCode'));
  const codes = [...unions.matchAll(/\| '([a-z_]+)'/g)].map(([, code]) => code as Finding['code']);
  expect(codes.length).toBeGreaterThan(60);
  expect(codes.filter((code) => explain(code) === undefined)).toEqual(['target_invalid', 'usage_invalid']);
});
