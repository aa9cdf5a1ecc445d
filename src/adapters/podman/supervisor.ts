/**
 * The first process in every box. It hands stdin on to the command, and when
 * stdin has ended and the command has not within the grace period, it ends
 * everything: a box whose host side is dead in every part still ends. Hostile
 * code can kill the waiting half; the watchdog on the host is for that.
 */

/**
 * Two jobs and a FIFO, not a pipeline: a shell waits for all of a pipeline. The waiting half may kill everything but
 * the first process, whose end is then the box's.
 */
const SCRIPT = `grace=$1 mark=$2; shift 2
printf %s "$mark" >&2
exec 3<&0
mkfifo -m 600 /tmp/.stdin
{ rm /tmp/.stdin; cat <&3; exec >&-; sleep "$grace"; kill -KILL -1; } 2>/dev/null >/tmp/.stdin &
"$@" </tmp/.stdin 3<&- &
command=$!
exec 3<&-
trap 'kill -TERM $command' TERM
trap 'kill -INT $command' INT
trap 'kill -HUP $command' HUP
while :; do
  wait "$command"; status=$?
  kill -0 "$command" 2>/dev/null && continue
  printf %s "$mark" >&2
  exit "$status"
done`;

/** Written to stderr before and after the command's own output, where somebody asks for it. */
export const MARK = '\u0006';

export function supervised(argv: readonly string[], graceSeconds: number, marked: boolean): string[] {
  return ['/bin/sh', '-c', SCRIPT, 'supervisor', String(graceSeconds), marked ? MARK : '', ...argv];
}
