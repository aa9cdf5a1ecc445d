/** Owners, marks and lines: small decisions on which much depends. */
import { spawn } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { unmark } from '../../../src/adapters/podman/capture.ts';
import {
  bootId,
  formatOwner,
  isProvablyDead,
  newRunId,
  ownerOfRun,
  parseOwner,
  startTimeOf,
  thisProcess,
} from '../../../src/adapters/podman/owner.ts';
import { diagnosticLines } from '../../../src/adapters/podman/relay.ts';

describe.skipIf(process.platform !== 'linux')('owners', () => {
  const me = thisProcess();

  test('survive being written down', () => {
    expect(parseOwner(formatOwner(me))).toEqual(me);
    expect(ownerOfRun(newRunId(me))).toEqual(me);
    expect(newRunId(me)).not.toBe(newRunId(me));
  });

  test.each(['', 'x', `${me.boot}:0:1`, `${me.boot}:1`, `${me.boot}:-1:1`, `${me.boot}:1:1:1`, `${me.boot}:1:1\n`])(
    '%j is none of ours',
    (text) => {
      expect(parseOwner(text)).toBeUndefined();
      expect(ownerOfRun(text)).toBeUndefined();
    },
  );

  test('are dead only when that is proven', async () => {
    expect(isProvablyDead(me)).toBe(false);
    expect(isProvablyDead({ ...me, started: '1' })).toBe(true);
    expect(isProvablyDead({ ...me, boot: me.boot.replaceAll(/[0-9a-f]/g, '0') })).toBe(true);
    const child = spawn('sleep', ['1000']);
    const pid = child.pid ?? 0;
    const owner = { boot: bootId(), pid, started: startTimeOf(pid) ?? '' };
    expect(isProvablyDead(owner)).toBe(false);
    child.kill('SIGKILL');
    await new Promise((resolve) => child.once('exit', resolve));
    expect(isProvablyDead(owner)).toBe(true);
  });
});

describe('what a command wrote to stderr', () => {
  test.each<[string, string | undefined]>([
    ['podman: no', undefined],
    ['\u0006\u0006', ''],
    ['warning\n\u0006mine\u0006late words', 'mine'],
    ['\u0006with \u0006 inside\u0006', 'with \u0006 inside'],
    ['\u0006cut short', 'cut short'],
  ])('%j', (raw, expected) => expect(unmark(Buffer.from(raw))?.toString()).toBe(expected));
});

describe('stderr of a boxed server', () => {
  const through = (...chunks: (string | Buffer)[]): string => {
    let out = '';
    const take = diagnosticLines((line) => {
      out += line;
    });
    for (const chunk of chunks) take(Buffer.from(chunk));
    return out;
  };
  const line = '{"level":"warn","event":"x"}\n';

  test('diagnostics pass, in any pieces', () => {
    expect(through(line, line)).toBe(line + line);
    expect(through(...[...line].map((char) => char))).toBe(line);
  });

  test.each([
    'Error: /home/me: no such file\n',
    'time="…" level=warning\n',
    '{"a":1}\n',
    '"x"\n',
    'null\n',
    '{"level":"x"}',
    '\n',
  ])('%j does not', (text) => {
    expect(through(text)).toBe('');
  });

  test('a line without an end is forgotten, and the next one is not', () => {
    expect(through('x'.repeat(100_000), `\n${line}`)).toBe(line);
  });
});
