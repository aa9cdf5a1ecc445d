/**
 * A small process beside every box that outlives whoever started the box. When
 * its stdin ends, however that came, it kills the Podman client and removes the
 * container until it does not exist any more, and then the box's run directory.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import type { BoundaryHost } from '../../ports/writers/boundary.ts';
import { containerName, globalArguments } from './arguments.ts';
import type { Instance } from './instance.ts';
import { startTimeOf } from './owner.ts';

/**
 * `client PID START` names the Podman client. `ending` starts the grace period. Everything is in `"$@"`: Podman and
 * its global arguments. Podman says 1, and only 1, when there is no such container. Killing conmon makes the first
 * `rm` fail, so it is tried again. A client that nobody has named may still be about to make the container.
 */
const SCRIPT = `box=$1 grace=$2 directory=$3; shift 3
client= started=
stop_client() {
  [ -n "$client" ] && read -r stat 2>/dev/null <"/proc/$client/stat" || return 0
  now=\${stat##*) }; set -- $now; shift 19
  [ "$1" = "$started" ] && kill -KILL "$client"
}
exists() { "$@" container exists "$box" >/dev/null 2>&1 </dev/null; [ $? -ne 1 ]; }
remove() {
  stop_client
  tries=0 unseen=0
  [ -n "$client" ] || unseen=10
  while [ $tries -lt 5 ]; do
    if exists "$@"; then
      unseen=0 tries=$((tries + 1))
      "$@" rm --force --time 0 "$box" >/dev/null 2>&1 </dev/null || sleep 0.3
    elif [ $unseen -gt 0 ]; then
      unseen=$((unseen - 1)); sleep 0.3
    else
      rm -rf -- "$directory"
      exit 0
    fi
  done
  exists "$@" || { rm -rf -- "$directory"; exit 0; }
  exit 1
}
timer=
while read -r word first second; do
  case $word in
    client) client=$first started=$second ;;
    ending)
      [ -n "$timer" ] || {
        ( trap 'kill $nap; exit 0' TERM; sleep "$grace" & nap=$!; wait "$nap"; trap - TERM; remove "$@" ) &
        timer=$!
      } ;;
  esac
done
[ -z "$timer" ] || { kill "$timer" 2>/dev/null; wait "$timer"; }
remove "$@"`;

export interface Watchdog {
  readonly pid: number | undefined;
  /** The Podman client runs. */
  watch(client: number): void;
  /** From now on the box has its grace period to end by itself. */
  ending(): void;
  /** Removes what is left, at once. The outcome is `closed`. */
  release(): void;
  /** `removed`: the container does not exist. Whoever waits may end then. */
  readonly closed: Promise<'removed' | 'retained' | 'lost'>;
}

/** Never throws. `lost` as the outcome also when it could not start or somebody killed it. */
export function startWatchdog(host: BoundaryHost, instance: Instance, id: string, graceSeconds: number): Watchdog {
  const box = [containerName(id), String(graceSeconds), instance.runDirectory(id)];
  const podman = [host.podman, ...globalArguments(host, instance)];
  const child = spawn('/bin/sh', ['-c', SCRIPT, 'pi-writer-watchdog', ...box, ...podman], {
    // A session of its own: what ends the launcher's process group must not end this too.
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    cwd: '/',
    env: { ...instance.environment },
  });
  child.stdin?.on('error', () => {});
  child.unref();
  (child.stdin as Socket | null)?.unref();
  const tell = (line: string): void => void child.stdin?.write(`${line}\n`);
  return {
    pid: child.pid,
    watch: (client) => tell(`client ${client} ${startTimeOf(client) ?? 0}`),
    ending: () => tell('ending'),
    release() {
      // Whoever releases it waits for it.
      child.ref();
      child.stdin?.end();
    },
    closed: outcomeOf(child),
  };
}

function outcomeOf(child: ChildProcess): Watchdog['closed'] {
  return new Promise((resolve) => {
    child.once('error', () => resolve('lost'));
    child.once('exit', (code) => resolve(code === 0 ? 'removed' : code === 1 ? 'retained' : 'lost'));
  });
}
