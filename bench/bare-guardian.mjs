/** The other half of `bare-apply.mjs`: runs what it is told, one command at a time, and looks at no process table. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

for await (const line of createInterface({ input: process.stdin })) {
  const { command, cwd, env } = JSON.parse(line);
  const child = spawn(command[0], command[1], { cwd, env, detached: true, stdio: 'ignore' });
  await new Promise((done) => child.once('close', done));
  process.stdout.write('done\n');
}
