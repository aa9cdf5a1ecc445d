/** What the doctor finds, on real files: one row for each way in which something can be wrong. */
import { cpSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { humanReport, plain } from '../../src/doctor/human-report.ts';
import { CHECK_IDS, type DoctorResult } from '../../src/doctor/model.ts';
import { runDoctor } from '../../src/doctor/run-doctor.ts';
import { Lab, SECRET } from './lab.ts';
import { buildManifest, REPOSITORY } from './repository.ts';
import { extensionRows } from './rows/extensions.ts';
import { configurationRows, packageRows } from './rows/package.ts';
import { HOST, MODES } from './rows/row.ts';
import { skillRows } from './rows/skills.ts';
import { clientRows, pathRows, serverRows, toolRows } from './rows/surroundings.ts';
import { workspaceRows } from './rows/workspaces.ts';

const groups = {
  package: packageRows,
  configuration: configurationRows,
  workspace: workspaceRows,
  extensions: extensionRows,
  skills: skillRows,
  'external servers': serverRows,
  tools: toolRows,
  'client environment': clientRows,
  paths: pathRows,
};

let lab: Lab;
beforeEach(() => {
  lab = new Lab();
});
afterEach(() => lab.remove());

function problems({ checks }: DoctorResult): string[] {
  const bad = checks.filter(({ severity }) => severity !== 'ok');
  return bad.map(({ severity, id, subject }) => `${severity} ${id} ${subject}`);
}

function statusOf(found: readonly string[]): number {
  if (found.some((line) => line.startsWith('error'))) return 2;
  return found.length > 0 ? 1 : 0;
}

describe.each(Object.entries(groups))('%s', (_group, rows) => {
  test.each(rows.map((row) => [row.world, row] as const))('%s', async (_world, { prepare, input, found }) => {
    prepare?.(lab);
    const before = lab.listing();
    const result = await runDoctor(lab.input(input?.(lab)));
    expect(problems(result)).toEqual(found);
    expect(result).toMatchObject({ schemaVersion: 1, ok: found.length === 0, exitCode: statusOf(found) });
    for (const { id, severity, remediation = '' } of result.checks) {
      expect(remediation.length > 10, id).toBe(severity !== 'ok');
    }
    // Every path and every value of a lab carries it, whatever went wrong.
    expect(`${JSON.stringify(result)}${humanReport(result, plain)}`.toLowerCase()).not.toContain(SECRET);
    expect(lab.listing(), 'looking changes nothing').toBe(before);
  });
});

test('there is a row for everything that the doctor can name', () => {
  const named = Object.values(groups).flatMap((rows) => rows.flatMap(({ found }) => found));
  const ids = new Set(named.map((line) => line.split(' ')[1]));
  // Never bad, needs an ordinary user, needs a broken build: see the tests below and of the command line.
  const others = ['workspace_not_writable', 'workspace_host_writes_accepted', 'doctor_cli_unavailable'];
  expect(CHECK_IDS.filter((id) => !ids.has(id))).toEqual(others);
});

test('findings come by id and subject, each only where an earlier one leaves room for it', async () => {
  lab.configure({ coder: {}, workspaces: { shop: '../shop', 'a-b': '../gone', a: '../gone' } }).write(MODES, HOST);
  const { checks } = await runDoctor(lab.input());
  const order = checks.map(({ id }) => CHECK_IDS.indexOf(id));
  expect(order).toEqual([...order].sort((a, b) => a - b));
  const subjects = (wanted: string) => checks.filter(({ id }) => id === wanted).map(({ subject }) => subject);
  expect(subjects('workspace_missing')).toEqual(['a', 'a-b', 'shop']);
  expect(subjects('workspace_not_directory')).toEqual(['shop']);
  expect(checks).toContainEqual({ id: 'workspace_host_writes_accepted', severity: 'ok', subject: 'shop' });
});

test('a refused field is named with its rule', async () => {
  lab.configure({ profile: { default: SECRET } });
  const { checks } = await runDoctor(lab.input());
  const text = 'Correct this: default must be true or false.';
  expect(checks).toContainEqual({ id: 'config_invalid', severity: 'error', subject: 'reader', remediation: text });
});

test('a checkout is stale when a source changes, and not before', async () => {
  const place = 'package/src/main.ts';
  cpSync(`${REPOSITORY}/src/main.ts`, lab.path(place), { recursive: true });
  expect(problems(await runDoctor(lab.input()))).toEqual([]);
  lab.write(place, `${readFileSync(lab.path(place), 'utf8')}\n`);
  expect(problems(await runDoctor(lab.input()))).toEqual(['warning build_stale build']);
});

test('the list of the build has the digests of what was built and of our own sources alone', () => {
  const inputs = { 'node_modules/x/index.js': {}, 'src/version.ts': {}, 'src/main.ts': {} };
  const { files, sources } = JSON.parse(buildManifest(REPOSITORY, new Map([['main.js', 'x']]), { inputs }));
  expect(files).toEqual({ 'main.js': '2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881' });
  expect(Object.keys(sources)).toEqual(['src/main.ts', 'src/version.ts']);
});
