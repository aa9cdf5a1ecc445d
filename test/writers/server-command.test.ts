import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { INSIDE } from '../../src/writers/places.ts';
import { serverCommand } from '../../src/writers/server-command.ts';

const BUILT_FILE = join(import.meta.dirname, '..', '..', 'scripts', 'build.mjs');
const MINUTE_S = 60;

test('what replaces a credential while it is being copied is followed', () => {
  const root = mkdtempSync(join(tmpdir(), 'server-command-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const [agent, bin, home] = ['agent', 'bin', 'home'].map((name) => join(root, name)) as [string, string, string];
  for (const directory of [agent, bin]) mkdirSync(directory);
  const now = Date.now() / 1000;
  /** Written some time before the copy is: a copy with a time of its own would look newer. */
  const write = (path: string, minutesAgo: number, text: string) => {
    writeFileSync(path, text);
    const at = now - minutesAgo * MINUTE_S;
    utimesSync(path, at, at);
  };
  const program = (name: string, script: string) => {
    writeFileSync(join(bin, name), `#!/bin/sh\ncd ${root}\n${script}\n`);
    chmodSync(join(bin, name), 0o700);
  };
  write(join(agent, 'auth.json'), 2, 'old');
  write(join(agent, 'models.json'), 2, 'unchanged');
  write(join(root, 'next'), 1, 'new');
  execFileSync('mkfifo', [join(root, 'looked')]);
  // In place of ten seconds: the file is replaced, and after the look at it the server ends.
  program('sleep', 'mv next agent/auth.json 2>/dev/null && exit 0\necho > looked\nexit 1');
  program('node', 'read -r _ < looked');

  const script = serverCommand(BUILT_FILE, process.execPath)?.argv[2]?.replaceAll(INSIDE.agent, agent) ?? '';
  const env = { PATH: `${bin}:/usr/bin:/bin`, PI_CODING_AGENT_DIR: home };
  execFileSync('/bin/sh', ['-c', script], { env, timeout: 20_000 });
  expect(['auth.json', 'models.json'].map((name) => readFileSync(join(home, name), 'utf8'))).toEqual([
    'new',
    'unchanged',
  ]);
});
