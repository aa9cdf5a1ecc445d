/**
 * Runs after the server has died without cleaning up: ends every tool child that
 * is left. Its own entry point, so that it starts fast; it is started by the
 * shell of `reaper-guard.ts`, with nothing in its environment.
 *
 * Arguments: the server's scope, the server's start time, then `pid:started` of each known shell.
 */
import { readProcessTable } from './process-table.ts';
import { endMembers, type Root } from './scope-members.ts';

function parseRoot(text: string): Root[] {
  const [pid, started] = text.split(':');
  if (!pid || !/^[1-9]\d*$/.test(pid)) return [];
  return [{ pid: Number(pid), started: started ? started : undefined }];
}

const [scope, since, ...roots] = process.argv.slice(2);
if (scope) {
  const query = { scope, roots: roots.flatMap(parseRoot), spared: new Set([process.pid, process.ppid]) };
  const clean = await endMembers(
    () => query,
    () => readProcessTable(Number(since) || 0),
  );
  process.exitCode = clean ? 0 : 1;
}
