/**
 * The hook of both clients (docs/turn-events.md): `wake.js claude` and `wake.js
 * codex` after each call of the prompt tool, with the call on stdin. Whatever it
 * does not understand ends in silence: a hook must never be in its client's way.
 */
import { homedir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { claimTurn } from '../adapters/fs/event-spool-claims.ts';
import type { SpoolWorld } from '../adapters/fs/event-spool-place.ts';
import { createSpoolReader } from '../adapters/fs/event-spool-reader.ts';
import { startTimeOf } from '../adapters/process/process-table.ts';
import { waitForTurn } from '../app/waking.ts';
import type { SpoolOutcome, WakeTarget } from '../ports/events.ts';
import { type ClientProcess, claudeProcess, codexProcess, isClaudeAttended, watchClient } from './client-process.ts';
import { CODEX_WAITER, queueNotice, readWait, startWaiter } from './codex.ts';
import { MAX_HOOK_INPUT_BYTES, readHookInput } from './hook-input.ts';
import { notice } from './notice.ts';

/** What Claude Code takes for: wake the model and let it read stderr. */
const WAKE_STATUS = 2;

/** @returns nothing when there is too much of it. */
async function readInput(): Promise<string | undefined> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of process.stdin) {
    length += (part as Buffer).length;
    if (length > MAX_HOOK_INPUT_BYTES) return undefined;
    parts.push(part as Buffer);
  }
  return Buffer.concat(parts).toString();
}

function wait(target: WakeTarget, client: ClientProcess, notify: () => Promise<SpoolOutcome>) {
  const world: SpoolWorld = { env: process.env, home: homedir() };
  const reader = createSpoolReader({ ...world, startTimeOf, now: Date.now });
  return waitForTurn(target, {
    look: (wanted) => reader.look(wanted),
    watchSpool: (onChange) => reader.watch(onChange),
    watchClient: (onGone) => watchClient(client, startTimeOf, onGone),
    claim: (wanted) => claimTurn(wanted, { ...world, now: Date.now }),
    notify,
  });
}

async function claude(): Promise<number> {
  // Before anything else: in a client that would wait for this hook, every millisecond counts.
  if (!isClaudeAttended(process.env)) return 0;
  const call = readHookInput((await readInput()) ?? '');
  if (!call) return 0;
  const client = claudeProcess(process.env, startTimeOf);
  const result = await wait(call.target, client, async () => ({ ok: true }));
  if (result !== 'found') return 0;
  process.stderr.write(`${notice(call.target)}\n`);
  return WAKE_STATUS;
}

async function codex(): Promise<number> {
  const call = readHookInput((await readInput()) ?? '');
  const client = call && codexProcess(startTimeOf);
  if (client) startWaiter({ ...call, client }, fileURLToPath(import.meta.url));
  return 0;
}

async function codexWait(text: string | undefined): Promise<number> {
  const job = readWait(text);
  if (job) await wait(job.target, job.client, () => queueNotice(job));
  return 0;
}

async function run(mode: string | undefined, argument: string | undefined): Promise<number> {
  try {
    if (mode === 'claude') return await claude();
    if (mode === 'codex') return await codex();
    return mode === CODEX_WAITER ? await codexWait(argument) : 0;
  } catch {
    return 0;
  }
}

process.exitCode = await run(process.argv[2], process.argv[3]);
// A handle that somebody has left open must not keep the client waiting.
process.exit();
