/** The executable itself, on a real spool and with real processes. */
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startTimeOf } from '../../src/adapters/process/process-table.ts';
import { MAX_HOOK_INPUT_BYTES } from '../../src/wake/hook-input.ts';
import { markedNotice, notice } from '../../src/wake/notice.ts';
import { forge, namesIn, openLab, SESSION, TARGET, TURN, turnOf } from '../adapters/fs/event-spool-lab.ts';
import { until } from '../e2e/kit/until.ts';
import { attended, CONVERSATION, promptCall, startClient, startHook } from './hook-lab.ts';

const SILENT = { code: 0, stdout: '', stderr: '' };
const WOKEN = { code: 2, stdout: '', stderr: `${notice(TARGET)}\n` };
const claimed = ({ runtime }: { readonly runtime: string }) => namesIn(join(runtime, 'pi-session-mcp', 'claims'));

async function stage() {
  const lab = openLab();
  const client = await startClient();
  await lab.spool.open();
  const env = { HOME: lab.home, XDG_RUNTIME_DIR: lab.runtime, ...attended(client) };
  return { ...lab, client, env };
}

describe('in Claude Code', () => {
  test('wakes with one sentence when the turn ends', async () => {
    const { env, spool } = await stage();
    const { ended } = startHook(['claude'], env, promptCall());
    await spool.write(turnOf({ turnId: TURN.replace('6', '5') }));
    await spool.write(turnOf());
    expect(await ended).toMatchObject(WOKEN);
  });

  test('wakes for a turn that has ended before the hook began', async () => {
    const { env, spool } = await stage();
    await spool.write(turnOf({ state: 'aborted' }));
    expect(await startHook(['claude'], env, promptCall()).ended).toMatchObject(WOKEN);
  });

  test('wakes once, however many hooks wait for the turn', async () => {
    const { env, spool } = await stage();
    const hooks = [1, 2, 3].map(() => startHook(['claude'], env, promptCall()).ended);
    await spool.write(turnOf());
    const runs = await Promise.all(hooks);
    expect(runs.map(({ code }) => code).toSorted()).toEqual([0, 0, 2]);
  });

  test('ends with its client, although that was killed outright', async () => {
    const { env, client } = await stage();
    const { ended, child } = startHook(['claude'], env, promptCall());
    // It waits, or there would be nothing to end.
    await until('the hook watches', () => readFileSync(`/proc/${child.pid}/status`, 'utf8').includes('sleeping'));
    client.kill('SIGKILL');
    expect(await ended).toMatchObject(SILENT);
  });

  test.each([
    ['-p', { CLAUDE_CODE_ENTRYPOINT: 'sdk-cli', CLAUDE_CODE_SESSION_ATTENDED: '0' }],
    ['a client that says nothing about itself', { CLAUDE_CODE_ENTRYPOINT: '', CLAUDE_CODE_SESSION_ATTENDED: '' }],
    ['a terminal that nobody attends', { CLAUDE_CODE_SESSION_ATTENDED: '0' }],
    ['a host that calls itself otherwise', { CLAUDE_CODE_ENTRYPOINT: 'sdk-ts' }],
  ])('does not hold up %s, not even for its input', async (_, signs) => {
    const { env, spool, runtime } = await stage();
    await spool.write(turnOf());
    // stdin stays open: a hook that reads it would wait for ever.
    expect(await startHook(['claude'], { ...env, ...signs }, undefined).ended).toMatchObject(SILENT);
    expect(claimed({ runtime })).toEqual([]);
  });

  test('a forged event costs one wake and no more, and says nothing of its own', async () => {
    const { env, instance, spool } = await stage();
    forge(join(instance, `${TURN}.json`));
    expect(await startHook(['claude'], env, promptCall()).ended).toMatchObject(WOKEN);
    await spool.write(turnOf());
    expect(await startHook(['claude'], env, promptCall()).ended).toMatchObject(SILENT);
  });
});

describe('is silent in both clients', () => {
  test.each([
    ['garbage', 'garbage'],
    ['nothing', ''],
    ['another tool', promptCall({ tool_name: 'mcp__pi__pi_turn_get' })],
    ['more than it reads', promptCall({ tool_input: 'x'.repeat(MAX_HOOK_INPUT_BYTES) })],
  ])('about %s', async (_, input) => {
    const { env, spool, runtime } = await stage();
    await spool.write(turnOf());
    for (const mode of ['claude', 'codex', 'neither']) {
      expect(await startHook([mode], env, input).ended).toMatchObject(SILENT);
    }
    expect(claimed({ runtime })).toEqual([]);
  });

  test.runIf(process.platform === 'linux')('about a call of Codex that no Codex has made', async () => {
    const { env, spool, runtime } = await stage();
    await spool.write(turnOf());
    expect(await startHook(['codex'], env, promptCall()).ended).toMatchObject(SILENT);
    expect(claimed({ runtime })).toEqual([]);
  });
});

describe('the waiter behind Codex', () => {
  /** Stands in for `codex`: writes down how it was called. */
  function fakeCodex(root: string): { readonly program: string; readonly called: () => string } {
    const program = join(root, 'codex');
    writeFileSync(program, `#!/bin/sh\n{ printf '%s\\n' "$@"; echo ENV; env; } > "${root}/called"\n`);
    chmodSync(program, 0o700);
    return { program, called: () => readFileSync(join(root, 'called'), 'utf8') };
  }

  test('queues a marked notice for its conversation, with nothing of the client’s secrets', async () => {
    const { env, client, root, spool } = await stage();
    const { program, called } = fakeCodex(root);
    const started = startTimeOf(client.pid ?? 0);
    const orders = { target: TARGET, conversation: CONVERSATION, client: { pid: client.pid, started, program } };
    const secrets = { OPENAI_API_KEY: 'secret', PATH: '/usr/bin:/bin' };
    const { ended } = startHook(['codex-wait', JSON.stringify(orders)], { ...env, ...secrets }, '');
    await spool.write(turnOf());
    expect(await ended).toMatchObject(SILENT);
    const [args = '', childEnv = ''] = called().split('ENV\n');
    expect(args.trim().split('\n')).toEqual(['queue', '--thread', CONVERSATION, '--message', markedNotice(TARGET)]);
    expect(childEnv).not.toMatch(/secret|CLAUDE/);
    expect(args).toContain(SESSION);
  });

  test('ends with its client and queues nothing', async () => {
    const { env, client, root } = await stage();
    const { program } = fakeCodex(root);
    const orders = { target: TARGET, conversation: CONVERSATION, client: { pid: client.pid, started: '1', program } };
    expect(await startHook(['codex-wait', JSON.stringify(orders)], env, '').ended).toMatchObject(SILENT);
    expect(namesIn(root)).not.toContain('called');
  });
});
