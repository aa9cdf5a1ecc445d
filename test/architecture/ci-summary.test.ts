import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { root } from './repository.ts';

const folder = mkdtempSync(join(tmpdir(), 'summary-'));
const json = join(folder, 'vitest.json');
afterAll(() => rmSync(folder, { recursive: true }));

function summary(results: object | undefined, status: string) {
  writeFileSync(json, results ? JSON.stringify({ testResults: [], ...results }) : '');
  const script = join(root, 'scripts', 'ci-summary.mjs');
  const { stdout, status: code } = spawnSync(process.execPath, [script, json, status], { encoding: 'utf8' });
  return { closing: stdout.trim().split('\n').at(-1), code };
}

const unloadable = { testResults: [{ name: 'x.test.ts', status: 'failed', assertionResults: [] }] };

test.each([
  ['all passed', { numPassedTests: 7 }, '0', '7 passed, 0 failed', 0],
  ['some skipped', { numPassedTests: 7, numPendingTests: 1, numTodoTests: 1 }, '0', '7 passed, 0 failed, 2 skipped', 0],
  ['a test failed', { numPassedTests: 7, numFailedTests: 2 }, '1', '7 passed, 2 failed', 1],
  ['a test failed, whatever npm says', { numPassedTests: 7, numFailedTests: 2 }, '0', '7 passed, 2 failed', 1],
  ['another step failed', { numPassedTests: 7 }, '1', '7 passed, 1 failed', 1],
  ['a file could not be loaded', { numPassedTests: 7, ...unloadable }, '1', '7 passed, 1 failed', 1],
  ['nothing ran', { numPassedTests: 0 }, '0', '0 passed, 1 failed', 1],
  ['no results at all', undefined, '0', '0 passed, 1 failed', 1],
])('%s', (_name, results, status, closing, code) => expect(summary(results, status)).toEqual({ closing, code }));
