/** One box from its run directory to its end: Podman's client, and the watchdog beside it. */
import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BoundaryHost } from '../../ports/writers/boundary.ts';
import type { BoxEnd } from '../../ports/writers/launcher.ts';
import { type RunSpec, runArguments } from './arguments.ts';
import type { Instance } from './instance.ts';
import { newRunId, type Owner, startTimeOf } from './owner.ts';
import { startWatchdog, type Watchdog } from './watchdog.ts';

/** A dead conmon is noticed by looking: its client would wait for it for ever. */
const MONITOR_POLL_MS = 500;

export type { BoxEnd };

export interface RunningBox {
  readonly client: ChildProcess;
  /** Of the host's side. */
  readonly watchdog: Watchdog;
  /** The command may end by itself; the watchdog removes all of it after its own time, if nobody has by then. */
  ending(): void;
  /** Removes all of it, now. It may be asked again. */
  remove(): void;
  /** The client has ended and the container does not exist any more, or could not be removed. */
  readonly ended: Promise<BoxEnd>;
}

export type BoxSpec = Omit<RunSpec, 'id' | 'owner' | 'user'> & { readonly owner: Owner };

/** In one step: whenever the owner dies, a later start finds the directory and can read whose it was. */
function recordRun(instance: Instance, owner: Owner): string {
  const id = newRunId(owner);
  mkdirSync(instance.runDirectory(id), { mode: 0o700 });
  return id;
}

/** For a later start that finds both us and the watchdog dead. */
function recordClient(instance: Instance, id: string, pid: number): void {
  try {
    writeFileSync(join(instance.runDirectory(id), 'client'), `${pid} ${startTimeOf(pid) ?? 0}`);
  } catch {
    // The watchdog knows it too.
  }
}

function readPid(path: string): number | undefined {
  try {
    const pid = Number.parseInt(readFileSync(path, 'latin1'), 10);
    return Number.isNaN(pid) ? undefined : pid;
  } catch {
    return undefined;
  }
}

/** Calls once when the process that holds the container has been there and is gone. Returns how to stop looking. */
function watchMonitor(path: string, onGone: () => void): () => void {
  let monitor: { pid: number; started: string | undefined } | undefined;
  const timer = setInterval(() => {
    const pid = monitor?.pid ?? readPid(path);
    if (pid === undefined) return;
    const started = startTimeOf(pid);
    monitor ??= { pid, started };
    if (started !== undefined && started === monitor.started) return;
    clearInterval(timer);
    onGone();
  }, MONITOR_POLL_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/** Throws only when the run directory cannot be made. */
export function startBox(host: BoundaryHost, instance: Instance, spec: BoxSpec, stdio: StdioOptions): RunningBox {
  const id = recordRun(instance, spec.owner);
  const user = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  const watchdog = startWatchdog(host, instance, id, spec.graceSeconds);
  const client = spawn(host.podman, runArguments(host, instance, { ...spec, id, user }), {
    // Signals of a terminal or of the launcher's group must not reach it: the launcher passes them on.
    detached: true,
    stdio,
    cwd: '/',
    env: { ...instance.environment },
  });
  if (client.pid !== undefined) {
    watchdog.watch(client.pid);
    recordClient(instance, id, client.pid);
  }
  const end = endOf(client);
  // Its client would wait for a dead conmon for ever.
  const forget = watchMonitor(join(instance.runDirectory(id), 'conmon'), () => watchdog.release());
  const removed = settled(watchdog, () => {
    // Without its watchdog a box could outlive us: better none. One that removes at once takes the place of the lost.
    const second = startWatchdog(host, instance, id, 0);
    if (client.pid !== undefined) second.watch(client.pid);
    second.release();
    return second;
  });
  const ended = end.then(async (how): Promise<BoxEnd> => {
    forget();
    if (how.kind === 'not_started') watchdog.release('never');
    else watchdog.release(how.kind === 'ended' && how.code !== null ? 'done' : undefined);
    return (await removed) ? how : { kind: 'retained' };
  });
  return {
    client,
    watchdog,
    ending: () => watchdog.ending(),
    remove: () => watchdog.release(),
    ended,
  };
}

function endOf(client: ChildProcess): Promise<BoxEnd> {
  return new Promise((resolve) => {
    client.once('error', () => resolve({ kind: 'not_started' }));
    client.once('exit', (code) => resolve({ kind: 'ended', code }));
  });
}

async function settled(watchdog: Watchdog, replace: () => Watchdog): Promise<boolean> {
  const outcome = await watchdog.closed;
  return (outcome === 'lost' ? await replace().closed : outcome) === 'removed';
}
