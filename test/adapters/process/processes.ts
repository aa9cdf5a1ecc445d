/** Looks at real processes by a token in their command line. */
import { readdirSync, readFileSync } from 'node:fs';

let count = 0;

/** A number of seconds that `sleep` takes and that no other process mentions. */
export function sleepToken(): string {
  count += 1;
  return `98765.${process.pid}${String(count).padStart(3, '0')}`;
}

function commands(): { readonly pid: number; readonly command: string }[] {
  const found: { readonly pid: number; readonly command: string }[] = [];
  for (const pid of readdirSync('/proc')) {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) continue;
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
      found.push({ pid: Number(pid), command });
    } catch {
      // Gone in between.
    }
  }
  return found;
}

/** Command lines of all live processes that mention the token. */
export function mentioning(token: string): string[] {
  return commands().flatMap(({ command }) => (command.includes(token) ? [command] : []));
}

/** Pids of the processes of this program that mention the token. */
export function withCommand(program: string, token: string): number[] {
  return commands().flatMap(({ pid, command }) =>
    command.startsWith(program) && command.includes(token) ? [pid] : [],
  );
}

export function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
