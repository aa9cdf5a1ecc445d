/**
 * Loaded into the built setup with `--import`: counts every call that changes the
 * disk, and ends the process with SIGKILL right after number CRASH_AT. The product
 * knows nothing of it. Other processes of the run load it too and leave it alone.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const CHANGES = [
  'rename',
  'link',
  'symlink',
  'unlink',
  'rm',
  'rmdir',
  'mkdir',
  'mkdtemp',
  'writeFile',
  'write',
  'fsync',
  'ftruncate',
  'chmod',
  'fchmod',
  'copyFile',
];

if (process.argv[1]?.endsWith('setup.js')) {
  const { CRASH_AT, CRASH_COUNT, CRASH_PID } = process.env;
  const { writeFileSync } = fs;
  if (CRASH_PID) writeFileSync(CRASH_PID, String(process.pid));
  let count = 0;
  const done = () => {
    count += 1;
    if (count === Number(CRASH_AT)) process.kill(process.pid, 'SIGKILL');
  };
  for (const name of CHANGES) {
    const sync = fs[`${name}Sync`];
    if (sync) {
      fs[`${name}Sync`] = (...args) => {
        const result = sync(...args);
        done();
        return result;
      };
    }
    const promised = fs.promises[name];
    if (promised) {
      fs.promises[name] = async (...args) => {
        const result = await promised(...args);
        done();
        return result;
      };
    }
  }
  const probe = await fs.promises.open(new URL(import.meta.url));
  const handle = Object.getPrototypeOf(probe);
  await probe.close();
  for (const name of ['sync', 'write', 'writeFile', 'truncate', 'chmod']) {
    const original = handle[name];
    handle[name] = async function (...args) {
      const result = await original.apply(this, args);
      done();
      return result;
    };
  }
  syncBuiltinESMExports();
  process.on('exit', () => {
    if (CRASH_COUNT) writeFileSync(CRASH_COUNT, String(count));
  });
}
