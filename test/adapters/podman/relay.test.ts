/** What the launcher's chart hears of a box and does to it, with a program in Podman's place: no box is needed. */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Instance } from '../../../src/adapters/podman/instance.ts';
import { thisProcess } from '../../../src/adapters/podman/owner.ts';
import { type Relay, relay } from '../../../src/adapters/podman/relay.ts';
import type { BoundaryHost } from '../../../src/ports/writers/boundary.ts';

const DIAGNOSTIC = '{"level":"info","event":"tested"}';
/** One container at a time, which is there from `run` on and until its client has ended or somebody removes it. */
const PODMAN = `#!/bin/sh
here=\${0%/*}
case "$*" in
  *" run "*)
    echo $$ >"$here/client"
    echo "Error: $here" >&2
    echo '${DIAGNOSTIC}' >&2
    [ ! -e "$here/deaf" ] || exec sleep 1000
    cat >"$here/input"
    rm "$here/client"
    exit 7 ;;
  *" container exists "*) [ -e "$here/client" ] || exit 1 ;;
  *" rm "*) kill -KILL "$(cat "$here/client")"; rm "$here/client" ;;
esac
`;

let directory: string;
let stdin: PassThrough;
let stderr: PassThrough;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'relay-'));
  for (const name of ['boxes', 'clone', 'fake']) mkdirSync(join(directory, name));
  writeFileSync(join(directory, 'fake/podman'), PODMAN);
  chmodSync(join(directory, 'fake/podman'), 0o755);
  stdin = new PassThrough();
  stderr = new PassThrough();
});
afterEach(() => {
  expect(readdirSync(join(directory, 'boxes'))).toEqual([]);
  rmSync(directory, { recursive: true });
});

function start(): Relay {
  const host: BoundaryHost = {
    ...{ podman: join(directory, 'fake/podman'), version: '5.4.2', runtime: 'crun', cgroupManager: 'cgroupfs' },
    ...{ limits: { memory: false, cpu: false, processes: false }, seccompProfile: '/p.json', networks: ['none'] },
  };
  const instance: Instance = {
    ...{ directory, store: `${directory}/store`, runRoot: `${directory}/run`, skeleton: directory },
    ...{ seccomp: '/p.json', runs: `${directory}/boxes`, environment: { PATH: '/usr/bin:/bin' } },
    runDirectory: (id) => `${directory}/boxes/${id}`,
  };
  const spec = { writer: 'w', owner: thisProcess(), rootMounts: [], rootPath: directory, network: 'none' } as const;
  const started = relay(host, instance, spec, { argv: ['true'] }, { stdin, stderr });
  if (!started) throw new Error('not started');
  return started;
}

const inputEnded = (box: Relay) => new Promise<string>((resolve) => box.watchInput(() => resolve('heard')));

test('the client’s end of stdin is heard and handed on; the command’s status and its diagnostics come back', async () => {
  const box = start();
  const heard = inputEnded(box);
  stdin.end('hello');
  expect(await heard).toBe('heard');
  expect(await box.ended).toEqual({ kind: 'ended', code: 7 });
  expect(String(stderr.read())).toBe(`${DIAGNOSTIC}\n`);
});

test('an end that came before anybody listened is heard', async () => {
  const box = start();
  stdin.end();
  await box.ended;
  expect(await inputEnded(box)).toBe('heard');
});

test('who stops looking hears nothing', async () => {
  const box = start();
  let heard = 0;
  box.watchInput(() => {
    heard += 1;
  })();
  stdin.end();
  await box.ended;
  expect(heard).toBe(0);
});

test('the command’s stdin can be ended while the client’s is open', async () => {
  const box = start();
  box.end();
  expect(await box.ended).toEqual({ kind: 'ended', code: 7 });
  expect(existsSync(join(directory, 'fake/input'))).toBe(true);
});

test('a command that hears nothing can be removed, also twice', async () => {
  writeFileSync(join(directory, 'fake/deaf'), '');
  const box = start();
  await new Promise((resolve) => stderr.once('data', resolve));
  box.end();
  box.remove();
  box.remove();
  expect(await box.ended).toEqual({ kind: 'ended', code: null });
});

test('without a place for the run, nothing is started', () => {
  rmSync(join(directory, 'boxes'), { recursive: true });
  expect(start).toThrow('not started');
  mkdirSync(join(directory, 'boxes'));
});
