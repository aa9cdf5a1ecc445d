import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { root } from './repository.ts';

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'build-'));
const out = join(folder, 'dist');

const build = () => run(process.execPath, [join(root, 'scripts', 'build.mjs'), '--out', out]);
const contents = () => readdirSync(out).map((file) => [file, readFileSync(join(out, file), 'utf8')]);

beforeAll(build);
afterAll(() => rmSync(folder, { recursive: true }));

test('the same source gives the same bytes, and an unchanged build leaves the folder alone', async () => {
  const before = contents();
  const { ino } = statSync(out);
  await build();
  expect(statSync(out).ino).toBe(ino);
  rmSync(out, { recursive: true });
  await build();
  expect(contents()).toEqual(before);
});

test.each(['main.js', 'setup.js', 'doctor.js'])('%s can be executed', (file) => {
  expect(statSync(join(out, file)).mode & 0o777).toBe(0o755);
  expect(readFileSync(join(out, file), 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
});

// What the bundler could not see through shows only when the bundle runs, and here no node_modules helps out.
test('the server starts from the bundle alone', async () => {
  const start = run(process.execPath, [join(out, 'main.js')], { cwd: folder, env: {} });
  const refusal = { code: 1, stdout: '', stderr: expect.stringContaining('config_path_required') };
  await expect(start).rejects.toMatchObject(refusal);
});

test('the licences of what is bundled travel with it', () => {
  expect(readFileSync(join(out, 'THIRD-PARTY-LICENSES.txt'), 'utf8')).toMatch(/^xstate 5\.\d+\.\d+ \(MIT\)$/m);
});
