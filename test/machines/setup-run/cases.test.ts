/** Whole commands one after the other, as an operator gives them, and the corners that no single chart sees. */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { isShared } from '../../../src/machines/setup/run.records.ts';
import type { RunResult, SetupTarget } from '../../../src/ports/setup/run.ts';
import type { Operation } from '../../../src/ports/setup/target.ts';
import { Lab, runIn } from './lab.ts';
import type { Ask } from './port-calls.ts';
import {
  CLAUDE,
  CODEX,
  LOCAL,
  OLD_SKILL,
  registrationRecord,
  SetupWorld,
  SKILL,
  skillRecord,
  TEST_RUN_DEADLINES,
  target,
} from './world.ts';

afterEach(() => vi.restoreAllMocks());

const codes = ({ findings }: RunResult) => findings.map(({ status, code }) => `${status} ${code}`);

async function command(
  lab: Lab,
  operation: Operation,
  targets: readonly SetupTarget[] = [CLAUDE],
  between?: (ask: Ask) => Ask,
) {
  const run = runIn(lab, { operation, targets, ...(between && { between }) });
  const result = await run.result;
  expect(run.referee.violations).toEqual([]);
  return [result.status, result.exit, ...codes(result)];
}

describe('one command after the other', () => {
  test('from nothing to nothing', async () => {
    const lab = new Lab();
    expect(await command(lab, 'dry-run')).toEqual(['planned', 0, 'absent absent', 'absent skill_absent']);
    expect(await command(lab, 'apply')).toEqual(['ok', 0, 'ok applied', 'ok skill_installed']);
    expect(await command(lab, 'apply')).toEqual([
      'unchanged',
      0,
      'unchanged already_equivalent',
      'unchanged skill_already_equivalent',
    ]);
    expect(await command(lab, 'dry-run')).toEqual([
      'unchanged',
      0,
      'unchanged equivalent',
      'unchanged skill_equivalent',
    ]);
    expect(await command(lab, 'verify')).toEqual(['ok', 0, 'ok mcp_verified', 'ok skill_verified']);
    expect(await command(lab, 'rollback')).toEqual(['ok', 0, 'ok rolled_back', 'ok skill_removed']);
    expect(await command(lab, 'remove')).toEqual(['failed', 1, 'failed ownership_unavailable']);
    expect(lab.records).toEqual([]);
  });

  test('a copy that was changed stays until it is deleted by hand, and its record with it', async () => {
    const lab = new Lab();
    await command(lab, 'apply');
    lab.disk.slot = { kind: 'tree', fingerprint: 'edited', hidden: false };
    expect(await command(lab, 'remove')).toEqual(['failed', 1, 'ok removed', 'divergent skill_divergent']);
    expect(lab.records).toEqual([skillRecord(CLAUDE)]);
    lab.disk.slot = { kind: 'absent' };
    expect(await command(lab, 'remove')).toEqual(['ok', 0, 'ok removed', 'ok skill_absent']);
    expect(lab.records).toEqual([]);
  });

  test('the last of two that share a skill takes it with it', async () => {
    const lab = new Lab();
    await command(lab, 'apply', [CLAUDE, LOCAL]);
    expect(await command(lab, 'remove', [CLAUDE])).toEqual(['ok', 0, 'ok removed', 'unchanged skill_kept_shared']);
    expect(await command(lab, 'remove', [CLAUDE])).toEqual(['failed', 1, 'failed ownership_unavailable']);
    expect(await command(lab, 'remove', [LOCAL])).toEqual(['ok', 0, 'ok removed', 'ok skill_removed']);
  });

  test('what a client says it did counts for nothing', async () => {
    const lab = new Lab();
    const idle =
      (ask: Ask): Ask =>
      async (call) =>
        call.name === 'add' || call.name === 'remove' ? 'ended' : ask(call);
    expect(await command(lab, 'apply', [CLAUDE], idle)).toEqual(['failed', 1, 'failed apply_failed_recovery_pending']);
    expect(lab.records).toEqual([registrationRecord(CLAUDE, { phase: 'pending' })]);
    lab.entries.set('claude-code user', 'ours');
    expect(await command(lab, 'apply')).toEqual(['ok', 0, 'ok pending_recovered', 'ok skill_installed']);
    expect(await command(lab, 'remove', [CLAUDE], idle)).toEqual(['failed', 1, 'failed cleanup_failed']);
    expect(lab.records).toHaveLength(2);
    const failing =
      (ask: Ask): Ask =>
      async (call) => {
        const outcome = await ask(call);
        return call.name === 'remove' ? 'failed' : outcome;
      };
    expect(await command(lab, 'remove', [CLAUDE], failing)).toEqual(['ok', 0, 'ok removed', 'ok skill_removed']);
  });

  test('an entry of somebody else stays, and the skill is not installed for it', async () => {
    const lab = new Lab({ entries: { 'claude-code user': 'foreign' } });
    expect(await command(lab, 'apply', [CLAUDE, CODEX])).toEqual([
      'failed',
      1,
      'divergent divergence_requires_replacement',
      'ok applied',
      'ok skill_installed',
    ]);
    expect(lab.entries.get('claude-code user')).toBe('foreign');
  });

  test('a full disk in the middle of an update puts the old copy back', async () => {
    const lab = new Lab({
      records: [registrationRecord(CLAUDE), skillRecord(CLAUDE, { fingerprint: OLD_SKILL })],
      entries: { 'claude-code user': 'ours' },
      slot: { kind: 'tree', fingerprint: OLD_SKILL, hidden: false },
    });
    const full =
      (ask: Ask): Ask =>
      async (call) =>
        call.name === 'place' ? { ok: false } : ask(call);
    expect(await command(lab, 'apply', [CLAUDE], full)).toEqual([
      'failed',
      1,
      'unchanged already_equivalent',
      'failed skill_install_failed',
    ]);
    expect(lab.disk.slot).toEqual({ kind: 'tree', fingerprint: OLD_SKILL, hidden: false });
    expect(await command(lab, 'apply')).toEqual(['ok', 0, 'unchanged already_equivalent', 'ok skill_updated']);
    expect(lab.record(CLAUDE.skill)).toEqual(skillRecord(CLAUDE));
  });
});

describe('corners', () => {
  test('a server that is given up and then interrupted: both are said, and the skill is not looked at', async () => {
    const world = new SetupWorld({ operation: 'verify' });
    for (const name of ['checkDoctor', 'bindRelease', 'readRecords', 'inspect'] as const) await world.settle(name);
    world.clock.fire(TEST_RUN_DEADLINES.handshakeTimeout);
    await world.interrupt('SIGTERM');
    await world.settle('handshake', 'failed');
    const result = await world.finish();
    expect(codes(result)).toEqual(['failed mcp_timeout', 'failed operation_interrupted']);
    expect(result.exit).toBe(143);
    expect(world.referee.violations).toEqual([]);
  });

  test('a run that waits says for what', async () => {
    const world = new SetupWorld({ operation: 'apply' });
    await world.settle('acquire');
    await world.settle('checkDoctor');
    await world.settle('bindRelease');
    await world.settle('readRecords');
    await world.settle('inspect', 'absent');
    await world.finish();
    expect(world.progress.map(({ step, target: of }) => (of ? `${step} ${of.client}` : step))).toEqual([
      'waiting_for_lock',
      'checking_configuration',
      'reading_release',
      'inspecting claude-code',
      'adding claude-code',
      'checking_skill claude-code',
      'finishing',
    ]);
  });

  test('a chart that breaks lets everything go and says that it failed', async () => {
    for (const method of ['error', 'warn'] as const) vi.spyOn(console, method).mockImplementation(() => {});
    const world = new SetupWorld({ operation: 'apply', targets: [CLAUDE, CODEX] });
    await world.settle('acquire');
    await world.settle('checkDoctor', null);
    expect(world.asked()).toEqual(['release']);
    expect(codes(await world.finish())).toEqual(['failed operation_failed', 'failed operation_failed']);
    expect(world.listeners).toBe(0);
  });

  test.each([
    ['another registration in the home directory', CLAUDE, registrationRecord(LOCAL), true],
    ['one in another project', LOCAL, registrationRecord(LOCAL, { alias: 'pi-session-mcp@ff' }), true],
    ['itself', CLAUDE, registrationRecord(CLAUDE), false],
    ['one that is only pending', CLAUDE, registrationRecord(LOCAL, { phase: 'pending' }), false],
    ['one of a project', CLAUDE, registrationRecord(target('claude-code', 'project')), false],
    [
      'one in the home directory, seen from a project',
      target('claude-code', 'project'),
      registrationRecord(CLAUDE),
      false,
    ],
    ['another client', CODEX, registrationRecord(CLAUDE), false],
    ['the skill itself', CLAUDE, skillRecord(CLAUDE, { fingerprint: SKILL }), false],
  ])('does %s share the skill? (%#)', (_, of, record, expected) => {
    expect(isShared([record], of.registration)).toBe(expected);
  });
});
