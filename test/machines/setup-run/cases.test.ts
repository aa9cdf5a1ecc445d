/** Whole commands one after the other, as an operator gives them, and the corners that no single chart sees. */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { isHookShared, isShared } from '../../../src/machines/setup/run.records.ts';
import type { RunResult, SetupTarget } from '../../../src/ports/setup/run.ts';
import type { Operation } from '../../../src/ports/setup/target.ts';
import { Lab, runIn } from './lab.ts';
import type { Ask } from './port-calls.ts';
import {
  CLAUDE,
  CODEX,
  hookRecord,
  LOCAL,
  OLD_SKILL,
  registrationRecord,
  SetupWorld,
  SKILL,
  skillRecord,
  TEST_RUN_DEADLINES,
  target,
  WOKEN,
  WOKEN_CODEX,
  WOKEN_LOCAL,
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

describe('the hook', () => {
  test('from nothing to nothing, asked for and then not', async () => {
    const lab = new Lab();
    const last = async (...args: Parameters<typeof command>) => (await command(...args)).at(-1);
    expect(await last(lab, 'dry-run', [WOKEN])).toBe('absent wake_absent');
    expect(await last(lab, 'verify', [CLAUDE])).toBe('failed skill_missing');
    expect(await last(lab, 'apply', [WOKEN])).toBe('ok wake_installed');
    expect(await last(lab, 'apply', [WOKEN])).toBe('unchanged wake_already_equivalent');
    expect(await last(lab, 'verify', [WOKEN])).toBe('ok wake_verified');
    // What nobody asks for is not looked at.
    expect(await last(lab, 'verify', [CLAUDE])).toBe('ok skill_verified');
    expect(await last(lab, 'remove', [CLAUDE])).toBe('ok wake_removed');
    expect(lab.records).toEqual([]);
    expect(lab.hook).toEqual({ files: null, plugin: null });
  });

  test('the last registration of Claude Code takes it with it, whatever the scope', async () => {
    const lab = new Lab();
    const project = target('claude-code', 'project');
    await command(lab, 'apply', [WOKEN_LOCAL, project, CODEX]);
    expect(await command(lab, 'remove', [LOCAL])).toContain('unchanged wake_kept_shared');
    expect(lab.records).toContainEqual(hookRecord());
    expect(await command(lab, 'rollback', [project])).toContain('ok wake_removed');
    expect(await command(lab, 'remove', [CODEX])).toEqual(['ok', 0, 'ok removed', 'unchanged skill_not_owned']);
  });

  test('one that is not from setup stays, and one that somebody switched off goes with the rest', async () => {
    const lab = new Lab({ hook: { files: 'ours', plugin: 'ours' } });
    expect(await command(lab, 'apply', [WOKEN])).toContain('unchanged wake_already_equivalent');
    expect(await command(lab, 'remove', [WOKEN])).toContain('unchanged wake_not_owned');
    expect(lab.hook.plugin).toBe('ours');
    lab.hook.plugin = null;
    await command(lab, 'apply', [WOKEN]);
    lab.hook.plugin = 'disabled';
    expect(await command(lab, 'apply', [WOKEN])).toContain('unchanged wake_disabled');
    expect(await command(lab, 'remove', [CLAUDE])).toContain('ok wake_removed');
  });

  test('a divergent one makes a removal fail, and is finished when it is gone', async () => {
    const lab = new Lab();
    await command(lab, 'apply', [WOKEN]);
    lab.hook.plugin = 'foreign';
    expect(await command(lab, 'remove')).toEqual([
      'failed',
      1,
      'ok removed',
      'ok skill_removed',
      'divergent wake_divergent',
    ]);
    lab.hook.plugin = null;
    expect(await command(lab, 'remove')).toEqual([
      'ok',
      0,
      'ok removed',
      'unchanged skill_not_owned',
      'ok wake_removed',
    ]);
    expect(lab.records).toEqual([]);
  });

  test('of Codex is for its operator, and a failure of nobody', async () => {
    const lab = new Lab();
    for (const operation of ['dry-run', 'apply', 'verify', 'remove'] as const) {
      const result = await command(lab, operation, [WOKEN_CODEX]);
      expect([result[1], result.at(-1)]).toEqual([0, 'unchanged wake_manual']);
    }
  });

  test('without events is said, and does not pass a verification', async () => {
    const lab = new Lab();
    const deaf = { ...WOKEN, wake: { ...WOKEN.wake, hasEvents: false } };
    expect((await command(lab, 'apply', [deaf])).slice(-2)).toEqual(['ok wake_installed', 'unchanged wake_events_off']);
    expect(await command(lab, 'verify', [deaf])).toEqual([
      'failed',
      1,
      'ok mcp_verified',
      'ok skill_verified',
      'ok wake_verified',
      'failed wake_events_off',
    ]);
    expect((await command(lab, 'remove', [deaf])).at(-1)).toBe('ok wake_removed');
  });

  test.each([
    ['another registration of Claude Code', registrationRecord(LOCAL), true],
    ['one in a project', registrationRecord(target('claude-code', 'project')), true],
    ['itself', registrationRecord(CLAUDE), false],
    ['one that is only pending', registrationRecord(LOCAL, { phase: 'pending' }), false],
    ['a skill', skillRecord(LOCAL), false],
    ['the hook itself', hookRecord(), false],
    ['another client', registrationRecord(CODEX), false],
  ])('does %s keep it?', (_, record, expected) => {
    expect(isHookShared([record], CLAUDE.registration)).toBe(expected);
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
