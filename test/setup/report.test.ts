import { readFileSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import type { Finding } from '../../src/ports/setup/target.ts';
import type { ChangeFlags, CollectedRef, Collection } from '../../src/ports/writers/git.ts';
import { explain } from '../../src/setup/explanations.ts';
import { humanReport } from '../../src/setup/human-report.ts';
import { jsonReport, type Report } from '../../src/setup/report.ts';
import { collectedDetails, collectedRemarks } from '../../src/setup/writers/findings.ts';

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

const ref = (flags: Partial<ChangeFlags>, isTruncated = false): CollectedRef => ({
  branch: 'SENTINEL',
  commit: 'SENTINEL',
  change: 'created',
  files: 1,
  flags: { symlink: 0, gitlink: 0, executable: 0, toolFile: 0, oddName: 0, ...flags },
  isTruncated,
});
const collection: Collection = {
  refs: [ref({ symlink: 1, toolFile: 2 }), ref({ symlink: 3, oddName: 1 }), ref({}, true)],
  incomplete: { refused_refs: 3, stash: 1 },
  refused: { name: 2, twin: 1 },
  kept: 4,
};

test('what has come out of a writer is counted, and never named', () => {
  const first = { ...finding('shop-1', 'failed', 'collection_incomplete'), details: collectedDetails(collection) };
  const remarks = collectedRemarks(collection).map(({ code, details }) => ({
    ...finding('shop-1', 'ok', code),
    details,
  }));
  const report: Report = { ...applied, operation: 'finish', status: 'failed', findings: [first, ...remarks] };
  const lines = humanReport(report, false).split('\n');
  expect(lines.filter((line) => /^ {2}(branches|flags|kept) /.test(line.replace(':', ' ')))).toEqual([
    '  branches 3; reasons: refused_name 2, refused_twin 1, stash 1',
    '  flags: links 4, runs_by_itself 2, odd_names 1, not_looked_at 1',
    '  kept 4',
  ]);
  const { findings } = JSON.parse(jsonReport(report)) as Report;
  expect(findings.map(({ code, details }) => [code, details])).toEqual([
    ['collection_incomplete', { branches: 3, reasons: { refused_name: 2, refused_twin: 1, stash: 1 } }],
    ['branches_need_care', { flags: { links: 4, runs_by_itself: 2, odd_names: 1, not_looked_at: 1 } }],
    ['earlier_work_kept', { kept: 4 }],
  ]);
  expect(humanReport(report, false) + jsonReport(report)).not.toContain('SENTINEL');
  const plain: Collection = { refs: [ref({})], incomplete: {}, refused: {}, kept: 0 };
  expect([collectedDetails(plain), collectedRemarks(plain)]).toEqual([{ branches: 1 }, []]);
});

test('details are counts under words of ours, whatever else is in them', () => {
  const reasons = { stash: 1, '/SENTINEL': 2, other_refs: 'SENTINEL' as unknown as number, partial_wip: -1 };
  const details = { branches: 1.5, kept: 'SENTINEL' as unknown as number, reasons, name: 'SENTINEL' };
  const report = { ...applied, findings: [{ ...finding('shop-1', 'ok', 'writer_collected'), details }] };
  expect(JSON.parse(jsonReport(report)).findings[0].details).toEqual({ reasons: { stash: 1 } });
  expect(humanReport(report, false)).toContain('\n  reasons: stash 1\n');
});
