/**
 * A small process beside every box that outlives whoever started the box. When
 * its stdin ends, however that came, it removes the container until it does not
 * exist any more, ends the Podman client, and removes the box's run directory.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import type { BoundaryHost } from '../../ports/writers/boundary.ts';
import { containerName, globalArguments } from './arguments.ts';
import type { Instance } from './instance.ts';
import { startTimeOf } from './owner.ts';

/**
 * What it hears: `client PID START` names the Podman client; `ending` starts the grace period; `done` says that the
 * client has ended by itself, `never` that there has been none. Everything that calls Podman stands in `"$@"`.
 *
 * - The grace period is a timer of its own, beside the one of the launcher's chart: it has to hold when the launcher
 *   hangs. At the launcher's death, which is the end of stdin, nothing is waited for.
 * - A client is not killed before its container exists: killed halfway it leaves conmon and the runtime's first
 *   process behind, of which Podman then knows nothing. One that nobody has named may still be about to make it.
 * - Podman says 1, and only 1, when there is no such container. After a killed conmon the first `rm` fails.
 * - What somebody else's SIGKILL has left halfway is found by conmon's process file.
 */
const SCRIPT = `box=$1 grace=$2 directory=$3; shift 3
client= started= orderly=
exists() { "$@" container exists "$box" >/dev/null 2>&1 </dev/null; [ $? -ne 1 ]; }
client_lives() {
  [ -n "$client" ] && read -r stat 2>/dev/null <"/proc/$client/stat" || return 1
  set -- \${stat##*) }
  [ "$1" != Z ] && shift 19 && [ "$1" = "$started" ]
}
sweep() {
  monitor=
  read -r monitor 2>/dev/null <"$directory/conmon"
  ours() { [ -n "$monitor" ] && grep -aqF -- "$directory/" "/proc/$monitor/cmdline" 2>/dev/null; }
  for _ in 1 2 3 4 5 6 7 8 9 10; do ours || return 0; sleep 0.2; done
  children=
  read -r children 2>/dev/null <"/proc/$monitor/task/$monitor/children"
  kill -KILL $children "$monitor"
}
remove() {
  tries=0 unseen=10 patience=50
  while :; do
    if exists "$@"; then
      [ $tries -lt 5 ] || exit 1
      tries=$((tries + 1))
      "$@" rm --force --time 0 "$box" >/dev/null 2>&1 </dev/null || sleep 0.3
    elif client_lives && [ $patience -gt 0 ]; then
      [ $tries -eq 0 ] || [ $patience -gt 40 ] || kill -KILL "$client"
      patience=$((patience - 1)); sleep 0.2
    elif [ -z "$client" ] && [ $unseen -gt 0 ]; then
      unseen=$((unseen - 1)); sleep 0.3
    else
      break
    fi
  done
  ! client_lives || kill -KILL "$client"
  [ -n "$orderly" ] || sweep
  rm -rf -- "$directory"
  exit 0
}
timer=
while read -r word first second; do
  case $word in
    client) client=$first started=$second ;;
    done) orderly=yes ;;
    never) rm -rf -- "$directory"; exit 0 ;;
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
  /** From now on the box has `graceSeconds` to end by itself, also when whoever says so is gone by then. */
  ending(): void;
  /** Removes what is left, at once. What the client's end tells saves looking. The outcome is `closed`. */
  release(client?: 'done' | 'never'): void;
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
    release(word) {
      // Whoever releases it waits for it.
      child.ref();
      child.stdin?.end(word && `${word}\n`);
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
