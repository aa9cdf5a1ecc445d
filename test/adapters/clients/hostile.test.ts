/** Real processes that are no client at all, through a real runner. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createRegistrationClient } from '../../../src/adapters/clients/registration.ts';
import type { Inspection, Mutation } from '../../../src/ports/setup/registration.ts';
import { CLAUDE, CODEX, ENTRY, fakeClient, never, spawningRunner, temporary } from './kit.ts';

/** Long enough for a shell on a busy machine, short enough for the one that hangs. */
const PATIENCE_MS = 1_500;

function clientAt(bin: string, name: 'claude' | 'codex', timeoutMs?: number) {
  return createRegistrationClient({
    target: name === 'claude' ? CLAUDE : CODEX,
    entry: ENTRY,
    runner: spawningRunner(timeoutMs),
    environment: { PATH: `${bin}:/usr/bin:/bin` },
    project: temporary(),
    directory: temporary(),
  });
}

const hostile: readonly [what: string, body: string, inspection: Inspection, removal: Mutation][] = [
  ['succeeds and does nothing', 'exit 0', 'unsupported', 'ended'],
  ['fails', 'exit 1', 'unsupported', 'failed'],
  ['prints garbage', "printf '\\377\\000\\033[2J{{{'; exit 0", 'unsupported', 'ended'],
  ['prints 10 MB', 'head -c 10485760 /dev/zero', 'failed', 'failed'],
  ['prints 10 MB of complaints', 'head -c 10485760 /dev/zero >&2', 'failed', 'failed'],
  ['kills itself', 'kill -9 $$', 'failed', 'failed'],
  ['asks a question', 'read answer; echo "$answer"', 'unsupported', 'ended'],
];

for (const name of ['claude', 'codex'] as const) {
  test.each(hostile)(`${name} that %s`, async (_, body, inspection, removal) => {
    const bin = fakeClient(name, body);
    expect(await clientAt(bin, name).inspect(never())).toBe(inspection);
    expect(await clientAt(bin, name).remove(never())).toBe(removal);
  });

  test(`${name} that hangs`, async () => {
    const bin = fakeClient(name, 'exec sleep 3600');
    expect(await clientAt(bin, name, PATIENCE_MS).inspect(never())).toBe('failed');
    expect(await clientAt(bin, name, PATIENCE_MS).add(never())).toBe('failed');
  });

  test(`${name} that is interrupted`, async () => {
    const interrupt = new AbortController();
    const bin = fakeClient(name, 'echo "$@"; exec sleep 3600');
    const looking = clientAt(bin, name).inspect(interrupt.signal);
    interrupt.abort();
    expect(await looking).toBe('failed');
  });

  test(`${name} that is not there, or cannot be executed`, async () => {
    expect(await clientAt('/nonexistent', name).inspect(never())).toBe('unsupported');
    expect(await clientAt('/nonexistent', name).add(never())).toBe('failed');
  });
}

test('a Codex that claims to hold an entry already is asked for nothing more', async () => {
  const bin = fakeClient('codex', 'echo "$4" >> "$(dirname "$0")/asked"; exit 0');
  expect(await clientAt(bin, 'codex').add(never())).toBe('failed');
  expect(existsSync(join(bin, 'asked'))).toBe(true);
  expect(readFileSync(join(bin, 'asked'), 'utf8')).toBe('get\n');
});
