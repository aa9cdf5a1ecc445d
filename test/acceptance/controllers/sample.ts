/** What a sound run looks like, made by hand, for the tests of the checks. */

import type { Call, McpCall } from '../kit/driving/transcript.ts';
import type { Evidence } from './evidence.ts';
import { TASKS, type TaskName, WAIT_SECONDS } from './tasks.ts';

export type Mutable<T> = T extends object ? { -readonly [K in keyof T]: Mutable<T[K]> } : T;

export const TOKEN = 'TOKEN0123456789abcdef';
export const CREDENTIAL = 'feedfacefeedface';
const ROOT = '/srv/run';

const at = (second: number) => new Date(Date.UTC(2030, 0, 1, 0, 0, second)).toISOString();
export const ms = (second: number) => Date.parse(at(second));

function mcp(tool: string, args: object, result: object): McpCall {
  const text = JSON.stringify({ ok: true, ...result });
  return { kind: 'mcp', tool, args: args as McpCall['args'], results: [text, text] };
}

const session = (workspace: string, state: string) => ({
  session: { id: `s-${workspace}`, workspace, executionProfile: 'accept-code', state },
});

function start(workspace: string): McpCall {
  return mcp('pi_session_start', { workspace, executionProfile: 'accept-code' }, session(workspace, 'idle'));
}

function turn(workspace: string, task: TaskName, from: number, end?: { readonly to: number; readonly state?: string }) {
  const ids = { sessionId: `s-${workspace}`, turnId: `t-${task}` };
  const startedAt = at(from);
  const over = end && { state: end.state ?? 'completed', completedAt: at(end.to), assistantText: 'STATUS: done' };
  return { turn: { ...ids, state: 'running', startedAt, ...over } };
}

function prompt(workspace: string, task: TaskName, from: number): McpCall {
  return mcp('pi_session_prompt', { sessionId: `s-${workspace}`, prompt: TASKS[task] }, turn(workspace, task, from));
}

function look(workspace: string, task: TaskName, from: number, to: number, state = 'completed'): McpCall {
  const view = turn(workspace, task, from, { to, state });
  return mcp('pi_turn_get', { sessionId: view.turn.sessionId, turnId: view.turn.turnId }, view);
}

const close = (workspace: string) =>
  mcp('pi_session_close', { sessionId: `s-${workspace}` }, session(workspace, 'closed'));

const CAPABILITIES = mcp(
  'pi_capabilities_get',
  {},
  {
    server: { name: 'pi-session-mcp', version: '1.2.3' },
    configuration: { fingerprint: 'sha256:abc', reloadPolicy: 'restart-required' },
    executionProfiles: [{ alias: 'accept-code', skills: ['implementation', 'handshake'] }],
  },
);

function evidence(calls: readonly Call[], rest: Pick<Evidence, 'fixtures'> & Partial<Evidence>): Evidence {
  const seen = { pid: 2, startTime: '1', since: 0, controller: true, server: false, inside: true };
  return {
    client: 'codex',
    made: {
      version: '1.2.3',
      fingerprint: 'sha256:abc',
      token: TOKEN,
      credentials: [CREDENTIAL],
      paths: [ROOT],
      privateDirectory: `${ROOT}/private`,
      handshakeSkill: `${ROOT}/private/skills/handshake/SKILL.md`,
    },
    setup: { statuses: ['pi-session-mcp:applied', 'pi-session-orchestration:skill_installed'], skillCopied: true },
    controller: {
      code: 0,
      failure: undefined,
      finished: true,
      answer: 'ALL DONE',
      others: [],
      firstRequest: 'skills: pi-session-orchestration',
      said: 'whatever it said',
      calls: [CAPABILITIES, { kind: 'own', text: `git -C ${ROOT}/fixtures/one status` }, ...calls],
    },
    worker: { prompts: Object.values(TASKS), reads: [`${ROOT}/private/skills/handshake/SKILL.md`] },
    processes: {
      seen: [
        { ...seen, command: 'client' },
        { ...seen, pid: 3, command: 'node main.js', server: true },
        { ...seen, pid: 4, command: `sleep ${WAIT_SECONDS}` },
      ],
      left: [],
    },
    lateFile: false,
    ...rest,
  };
}

/** First turns from second 1 to 5 and 2 to 6, the follow-up from 10 to 20. */
export function soundParallel(): Evidence {
  const calls = [
    start('cx-slug'),
    start('cx-stats'),
    prompt('cx-slug', 'repair-slug', 1),
    prompt('cx-stats', 'repair-stats', 2),
    look('cx-slug', 'repair-slug', 1, 5),
    look('cx-stats', 'repair-stats', 2, 6),
    prompt('cx-slug', 'follow-up', 10),
    look('cx-slug', 'follow-up', 10, 20),
    close('cx-slug'),
    close('cx-stats'),
  ];
  const slug = {
    alias: 'cx-slug',
    status: [' M slug.js', ' M slug.test.js', '?? HANDSHAKE.txt'],
    tests: { passed: 3, failed: 0 },
    written: { 'slug.js': ms(3), 'slug.test.js': ms(12), 'HANDSHAKE.txt': ms(13) },
    handshake: `${TOKEN}\n`,
  };
  const stats = {
    alias: 'cx-stats',
    status: [' M stats.js'],
    tests: { passed: 2, failed: 0 },
    written: { 'stats.js': ms(4) },
    handshake: undefined,
  };
  return evidence(calls, { fixtures: { slug, stats } });
}

/** The neighbour runs from second 2 to 9, the other turn from 1 until its abort at 5. */
export function soundAbort(): Evidence {
  const calls = [
    start('cx-wait'),
    start('cx-range'),
    prompt('cx-wait', 'wait', 1),
    prompt('cx-range', 'repair-range', 2),
    mcp('pi_session_abort', { sessionId: 's-cx-wait' }, session('cx-wait', 'idle')),
    look('cx-wait', 'wait', 1, 5, 'aborted'),
    look('cx-range', 'repair-range', 2, 9),
    close('cx-wait'),
    close('cx-range'),
  ];
  const untouched = {
    alias: 'cx-wait',
    status: [],
    tests: { passed: 1, failed: 0 },
    written: {},
    handshake: undefined,
  };
  const range = {
    alias: 'cx-range',
    status: [' M range.js'],
    tests: { passed: 2, failed: 0 },
    written: { 'range.js': ms(7) },
    handshake: undefined,
  };
  return evidence(calls, { fixtures: { wait: untouched, range } });
}
