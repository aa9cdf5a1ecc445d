/**
 * A shell that waits for the server's end on a pipe and then becomes the reaper.
 * While it waits it costs one small process; the kernel closes the pipe however
 * the server dies.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import type { Root } from './scope-members.ts';

/** `done` ends it; the last `roots` line becomes the reaper's arguments. */
const SCRIPT = `roots=
while IFS= read -r line; do
  case $line in
    done) exit 0 ;;
    'roots '*) roots=\${line#roots } ;;
  esac
done
exec "$0" "$@" $roots`;

export interface ReaperCommand {
  readonly node: string;
  readonly reaper: string;
  readonly scope: string;
  readonly since: number;
}

export interface ReaperGuard {
  /** Starts the shell unless it runs. */
  ensure(): void;
  /** Tells which shells are known now; nothing happens when it does not run. */
  tell(roots: readonly Root[]): void;
  /** There is nothing left to reap: lets the shell end. */
  release(): void;
  pid(): number | undefined;
}

/** `onUnavailable` is called when it could not start or ended by itself. */
export function createReaperGuard(command: ReaperCommand, onUnavailable: () => void): ReaperGuard {
  let running: ChildProcess | undefined;

  function lost(child: ChildProcess): void {
    if (running !== child) return;
    running = undefined;
    onUnavailable();
  }

  return {
    ensure() {
      if (running) return;
      const { node, reaper, scope, since } = command;
      const child = spawn('/bin/sh', ['-c', SCRIPT, node, reaper, scope, String(since)], {
        // A session of its own: a client that ends the server's process group must not end this too.
        detached: true,
        stdio: ['pipe', 'ignore', 'ignore'],
        cwd: '/',
        env: {},
      });
      running = child;
      child.on('error', () => lost(child));
      child.on('exit', () => lost(child));
      child.stdin?.on('error', () => lost(child));
      child.unref();
      // A pipe of a child is a socket in Node; it must not keep the server alive.
      (child.stdin as Socket | null)?.unref();
    },
    tell(roots) {
      const known = roots.map((root) => `${root.pid}:${root.started ?? ''}`);
      running?.stdin?.write(`roots ${known.join(' ')}\n`);
    },
    release() {
      const child = running;
      running = undefined;
      child?.stdin?.end('done\n');
    },
    pid: () => running?.pid,
  };
}
