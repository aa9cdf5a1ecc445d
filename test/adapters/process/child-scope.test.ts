import { type ChildProcess, spawn } from 'node:child_process';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ChildScope, createChildScope } from '../../../src/adapters/process/child-scope.ts';
import { eventually, REAPER } from '../pi/lab.ts';
import { isAlive, mentioning, sleepToken, withCommand } from './processes.ts';

describe.skipIf(process.platform !== 'linux')('child scope', () => {
  let scope: ChildScope;
  let reports: string[];
  let token: string;

  beforeEach(() => {
    reports = [];
    token = sleepToken();
    const diagnostics = { report: (_: string, event: string) => void reports.push(event) };
    scope = createChildScope({ reaperPath: REAPER, diagnostics });
  });
  afterEach(async () => {
    await scope.endSession('a');
    await scope.endSession('b');
  });

  const guards = () => mentioning(scope.serverId).filter((command) => command.startsWith('/bin/sh'));

  function shell(command: string, variables: Readonly<Record<string, string>>): ChildProcess {
    const env = { ...process.env, ...variables };
    return spawn('/bin/bash', ['-c', command], { detached: true, stdio: 'ignore', env });
  }

  function call(sessionId: string, command: string): { kill(): Promise<void>; ended: Promise<void> } {
    const opened = scope.openCall(sessionId);
    const child = shell(command, opened.variables);
    if (child.pid !== undefined) opened.started(child.pid);
    const ended = new Promise<void>((resolve) => {
      child.once('exit', () => {
        opened.ended();
        resolve();
      });
    });
    return { kill: opened.kill, ended };
  }

  it('costs nothing for a session whose tools started no child', async () => {
    await scope.endSession('a');
    expect(guards()).toEqual([]);
    scope.abandon();
    expect(reports).toEqual([]);
  });

  it('ends a call with everything that left its process group', async () => {
    const one = call(
      'a',
      `sleep ${token} & setsid sleep ${token} & setsid env -i sleep ${token} & wait; sleep ${token}`,
    );
    const other = call('a', `sleep ${token}9`);
    expect(await eventually(() => mentioning(token).length >= 5)).toBe(true);
    await one.kill();
    await one.ended;
    expect(mentioning(token).filter((command) => !command.includes(`${token}9`))).toEqual([]);
    expect(mentioning(`${token}9`)).not.toEqual([]);
    await other.kill();
  });

  it('ends a call that goes on starting children without a mark in sessions of their own', async () => {
    const forker = call('a', `while :; do env -i setsid sleep ${token} & sleep 0.002; done`);
    expect(await eventually(() => mentioning(token).length > 20)).toBe(true);
    await forker.kill();
    await forker.ended;
    expect(mentioning(token)).toEqual([]);
  });

  it('ends with a session what its calls left behind, and only that', async () => {
    const mine = call('a', `nohup sleep ${token} >/dev/null 2>&1 & (setsid sleep ${token} &)`);
    const cleared = call('a', `(env -i sleep ${token} &)`);
    const foreign = call('b', `(setsid sleep ${token}9 &)`);
    await Promise.all([mine.ended, cleared.ended, foreign.ended]);
    expect(await eventually(() => mentioning(token).length === 4)).toBe(true);
    await scope.endSession('a');
    expect(mentioning(token)).toEqual([`sleep ${token}9`]);
    expect(guards()).toHaveLength(1);
    await scope.endSession('b');
    expect(mentioning(token)).toEqual([]);
    expect(await eventually(() => guards().length === 0)).toBe(true);
    expect(reports).toEqual([]);
  });

  it('spares processes without a mark', async () => {
    const stranger = spawn('sleep', [token], { stdio: 'ignore' });
    await call('a', 'true').ended;
    await scope.endSession('a');
    expect(isAlive(stranger.pid ?? 0)).toBe(true);
    stranger.kill('SIGKILL');
  });

  it("starts the reaper's shell again when it was ended by somebody", async () => {
    scope.arm('a');
    expect(await eventually(() => guards().length === 1)).toBe(true);
    const [guard] = withCommand('/bin/sh', scope.serverId);
    process.kill(guard ?? 0, 'SIGKILL');
    expect(await eventually(() => reports.length === 1)).toBe(true);
    expect(reports).toEqual(['tool_child_reaper_unavailable']);
    scope.arm('a');
    expect(await eventually(() => guards().length === 1)).toBe(true);
  });

  it('does not hold the event loop with 500 processes', async () => {
    const many = call('a', `for i in $(seq 500); do sleep ${token} & done; wait`);
    expect(await eventually(() => mentioning(token).length > 500, 10_000)).toBe(true);
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    const start = performance.now();
    await scope.endSession('b');
    await many.kill();
    const took = performance.now() - start;
    delay.disable();
    console.info(`500 processes ended in ${took.toFixed(0)} ms, longest block ${(delay.max / 1e6).toFixed(1)} ms`);
    expect(mentioning(token)).toEqual([]);
    expect(took).toBeLessThan(2_500);
  }, 30_000);
});
