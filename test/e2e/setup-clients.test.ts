/** Clients that misbehave, under the built setup: the right code, nothing left behind, and the next run gets there. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { processesOf } from './kit/processes.ts';
import { until } from './kit/until.ts';
import { codes, makeOperator, type Operator, runSetup, type SetupRun, treeOf } from './setup-kit/operator.ts';

const root = mkdtempSync(join(tmpdir(), 'setup-clients-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let count = 0;
const fresh = () => {
  count += 1;
  return makeOperator(join(root, String(count)));
};
const target = (client: string) => ['--target', `${client}:user:pi-session-mcp`, '--json'];
const settled = ({ root: place }: Operator) => until('no process left', () => processesOf(place).length === 0);
const first = (run: SetupRun) => codes(run)[0];

describe.each(['codex', 'claude-code'])('%s', (client) => {
  test.each([
    ['get:silent', 'unsupported (client_unsupported)'],
    ['get:garbage', 'unsupported (client_unsupported)'],
    ['get:flood', 'unsupported (client_unsupported)'],
  ])('looking: %s', async (mischief, expected) => {
    const operator = fresh();
    const before = treeOf(join(operator.home, '.fake'));
    const run = await runSetup(operator, ['--apply', ...target(client)], { FAKE_MISCHIEF: mischief });
    expect(run.code).toBe(1);
    expect([expected, 'failed (inspect_failed)']).toContain(first(run));
    expect(run.stdout + run.stderr).not.toContain('SENTINEL');
    expect(treeOf(join(operator.home, '.fake'))).toEqual(before);
    await settled(operator);
  });

  test.each([
    ['add:idle', 'failed (apply_failed_recovery_pending)'],
    ['add:silent', 'failed (apply_failed_recovery_pending)'],
    ['add:garbage', 'failed (apply_failed_recovery_pending)'],
    ['add:flood', 'failed (apply_failed_recovery_pending)'],
    ['add:undone', 'failed (apply_failed_recovery_pending)'],
    ['add:fork', 'ok (applied)'],
    ['add:escape', 'ok (applied)'],
  ])('adding: %s', async (mischief, expected) => {
    const operator = fresh();
    const run = await runSetup(operator, ['--apply', ...target(client)], { FAKE_MISCHIEF: mischief });
    expect(first(run)).toBe(expected);
    expect(run.stdout + run.stderr).not.toContain('SENTINEL');
    await settled(operator);
    const again = await runSetup(operator, ['--apply', ...target(client)]);
    expect(again.code).toBe(0);
    expect((await runSetup(operator, ['--remove', ...target(client)])).code).toBe(0);
  });

  test.each([
    ['remove:idle', 'failed (cleanup_failed)'],
    ['remove:silent', 'failed (cleanup_failed)'],
    ['remove:fork', 'ok (removed)'],
    ['remove:escape', 'ok (removed)'],
  ])('removing: %s', async (mischief, expected) => {
    const operator = fresh();
    await runSetup(operator, ['--apply', ...target(client)]);
    const run = await runSetup(operator, ['--remove', ...target(client)], { FAKE_MISCHIEF: mischief });
    expect(first(run)).toBe(expected);
    await settled(operator);
    if (run.code !== 0) expect(first(await runSetup(operator, ['--remove', ...target(client)]))).toBe('ok (removed)');
  });
});

test('a client that is not there', async () => {
  const operator = fresh();
  rmSync(join(operator.root, 'bin', 'codex'));
  const run = await runSetup(operator, ['--apply', ...target('codex')]);
  expect([run.code, first(run)]).toEqual([1, 'unsupported (client_unsupported)']);
});

describe('two at once', () => {
  test('the second waits for the first, and finds its work done', async () => {
    const operator = fresh();
    const runs = await Promise.all([1, 2, 3].map(() => runSetup(operator, ['--apply', ...target('codex')])));
    expect(runs.map(first).sort()).toEqual([
      'ok (applied)',
      'unchanged (already_equivalent)',
      'unchanged (already_equivalent)',
    ]);
  });

  test('different clients', async () => {
    const operator = fresh();
    const runs = await Promise.all(
      ['codex', 'claude-code'].map((client) => runSetup(operator, ['--apply', ...target(client)])),
    );
    expect(runs.map(({ code }) => code)).toEqual([0, 0]);
    const verified = await runSetup(operator, [
      '--dry-run',
      ...target('codex'),
      '--target',
      'claude-code:user:pi-session-mcp',
    ]);
    expect(codes(verified)).toEqual(Array(2).fill(['unchanged (equivalent)', 'unchanged (skill_equivalent)']).flat());
  });
});
