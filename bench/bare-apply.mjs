/**
 * Floor of an apply that keeps its promise about the lock: two Node processes and the commands of the client.
 * Takes the lock, starts the guardian beside it and has the commands (argv[2], JSON) run there; no check, no record.
 */
import { spawn, spawnSync } from 'node:child_process';
import { openSync } from 'node:fs';

const commands = JSON.parse(process.argv[2]);
const lock = openSync('bare-apply.flock', 'w');
spawnSync('/usr/bin/flock', ['-x', '-n', '3'], { stdio: ['ignore', 'ignore', 'ignore', lock], env: {} });
const guardian = spawn(process.execPath, [new URL('./bare-guardian.mjs', import.meta.url).pathname], {
  detached: true,
  stdio: ['pipe', 'pipe', 'ignore', lock],
  env: {},
});

function next() {
  const command = commands.shift();
  if (command === undefined) guardian.stdin.end();
  else guardian.stdin.write(`${JSON.stringify({ command, cwd: process.cwd(), env: process.env })}\n`);
}

guardian.stdout.on('data', next);
next();
