/**
 * The real clients, idle in a terminal, are woken when the turn that they have
 * delegated ends. Only tried when PI_SESSION_MCP_CLIENTS says where they are.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { processesOf } from '../e2e/kit/processes.ts';
import { type Stage, useStage } from '../e2e/kit/stage.ts';
import { until } from '../e2e/kit/until.ts';
import { missing } from './kit/clients.ts';
import { type Endpoint, type Script, startEndpoint } from './kit/scripted-endpoint.ts';
import { missingTerminal, type Terminal } from './kit/terminal.ts';
import { claudeEnvironment, openClaude, openCodex, prepareClaude } from './kit/wake-clients.ts';

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const NOTICE = 'has ended; read it with pi_turn_get';
const TIMEOUT_MS = 120_000;
const PATIENCE_MS = 40_000;

function idOf(object: 'session' | 'turn', field: string, body: string): string {
  return new RegExp(`${object}\\\\*":{\\\\*"${field}\\\\*":\\\\*"(${UUID})`).exec(body)?.[1] ?? '';
}

/** Delegates, says that it waits, and polls nothing; reads the turn when it is told to. */
const waiting: Script = (_, body) => {
  // Clients also ask for titles and the like, without tools.
  if (!body.includes('pi_session_start')) return { text: 'aside' };
  const sessionId = idOf('session', 'id', body);
  const turnId = idOf('turn', 'turnId', body);
  if (!sessionId) return { tool: 'pi_session_start', args: { workspace: 'app' } };
  if (!turnId) return { tool: 'pi_session_prompt', args: { sessionId, prompt: 'Say the word.' } };
  if (!body.includes(NOTICE)) return { text: 'I WAIT' };
  return body.includes('MARMALADE') ? { text: 'ALL READ' } : { tool: 'pi_turn_get', args: { sessionId, turnId } };
};

const MODES = { schemaVersion: 1, workspaces: {}, turnEvents: true };

/** A stage whose Pi goes on until `finish`. */
async function openScene() {
  let finish = (): void => {};
  const gate = new Promise<undefined>((resolve) => {
    finish = () => resolve(undefined);
  });
  onTestFinished(finish);
  const stage = await useStage({ modes: MODES, model: { steps: [{ text: 'MARMALADE', delay: () => gate }] } });
  return { stage, finish, endpoint: await startEndpoint(waiting) };
}

const woken = ({ asked }: Endpoint) => asked.filter(({ body }) => body.includes(NOTICE));

function isHook(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('wake.js');
  } catch {
    return false;
  }
}
const hooksOf = (stage: Stage) => processesOf(stage.root).filter(isHook);

async function delegate(terminal: Terminal, ready: string): Promise<void> {
  const what = (sign: string) => () => `${sign} on the screen:\n${terminal.screen()}`;
  await until(what(ready), () => terminal.screen().includes(ready), PATIENCE_MS);
  await terminal.say('delegate it');
  await until(what('I WAIT'), () => terminal.screen().includes('I WAIT'), PATIENCE_MS);
}

/** The client is idle, the turn ends, and nobody types. @returns how long it took to be woken, in ms. */
async function expectWoken(terminal: Terminal, endpoint: Endpoint, finish: () => void): Promise<number> {
  const before = endpoint.asked.length;
  finish();
  const began = performance.now();
  await until(
    () => `a wake:\n${terminal.screen()}`,
    () => woken(endpoint).length > 0,
    PATIENCE_MS,
  );
  const ms = performance.now() - began;
  await until(
    () => `ALL READ on the screen:\n${terminal.screen()}`,
    () => terminal.screen().includes('ALL READ'),
  );
  // Woken, the turn read: two requests, and not one more.
  expect(endpoint.asked.length - before).toBe(2);
  expect(endpoint.asked.at(-1)?.body).toContain('MARMALADE');
  return ms;
}

const CLAUDE = missing('claude') ?? missingTerminal();
const CODEX = missing('codex') ?? missingTerminal();
// The reporter tells how many were skipped, and not why.
for (const reason of new Set([CLAUDE, CODEX])) if (reason) console.warn(`SKIPPED, waking real clients: ${reason}`);

describe('Claude Code', () => {
  it('is woken by the end of the turn', { timeout: TIMEOUT_MS }, async (context) => {
    context.skip(CLAUDE !== undefined, CLAUDE);
    const { stage, endpoint, finish } = await openScene();
    const terminal = await openClaude(stage, endpoint.origin);
    await delegate(terminal, 'Claude Code');
    console.log(`Claude Code was woken after ${Math.round(await expectWoken(terminal, endpoint, finish))} ms`);
  });

  it('leaves no hook behind when it is killed outright', { timeout: TIMEOUT_MS }, async (context) => {
    context.skip(CLAUDE !== undefined, CLAUDE);
    const { stage, endpoint } = await openScene();
    const terminal = await openClaude(stage, endpoint.origin);
    await delegate(terminal, 'Claude Code');
    await until('a hook that waits', () => hooksOf(stage).length > 0);
    process.kill(terminal.pid, 'SIGKILL');
    await until('the end of the hook', () => hooksOf(stage).length === 0);
  });

  it('is not held up without a terminal', { timeout: TIMEOUT_MS }, async (context) => {
    context.skip(CLAUDE !== undefined, CLAUDE);
    const { stage, endpoint } = await openScene();
    const [program = '', ...args] = await prepareClaude(stage);
    const child = spawn(program, ['-p', 'delegate it', ...args], {
      env: claudeEnvironment(stage, endpoint.origin),
      cwd: stage.path('app'),
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let stdout = '';
    child.stdout.on('data', (part: Buffer) => {
      stdout += part;
    });
    // The turn never ends, so a client that waits for the hook would not either.
    const [code] = await once(child, 'close');
    expect({ code, stdout: stdout.trim() }).toEqual({ code: 0, stdout: 'I WAIT' });
    expect(woken(endpoint)).toEqual([]);
  });
});

describe('Codex', () => {
  it('is woken by the end of the turn', { timeout: TIMEOUT_MS }, async (context) => {
    context.skip(CODEX !== undefined, CODEX);
    const { stage, endpoint, finish } = await openScene();
    const terminal = openCodex(stage, endpoint.origin);
    await delegate(terminal, 'Ask Codex');
    console.log(`Codex was woken after ${Math.round(await expectWoken(terminal, endpoint, finish))} ms`);
    expect(woken(endpoint)[0]?.body).toContain('not written by the user');
  });

  it('leaves no waiter behind when it is killed outright', { timeout: TIMEOUT_MS }, async (context) => {
    context.skip(CODEX !== undefined, CODEX);
    const { stage, endpoint } = await openScene();
    const terminal = openCodex(stage, endpoint.origin);
    await delegate(terminal, 'Ask Codex');
    await until('a waiter', () => hooksOf(stage).length > 0);
    process.kill(terminal.pid, 'SIGKILL');
    await until('the end of the waiter', () => hooksOf(stage).length === 0);
  });
});
