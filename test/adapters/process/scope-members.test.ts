import { execFileSync, spawn } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import {
  type ProcessEntry,
  parseGroups,
  parsePs,
  parseStat,
  readTableForSure,
} from '../../../src/adapters/process/process-table.ts';
import { isInScope, scopeInEnvironment, scopeName } from '../../../src/adapters/process/scope-marker.ts';
import { findMembers, type Root } from '../../../src/adapters/process/scope-members.ts';

function entry(pid: number, parent: number, more: Partial<ProcessEntry> = {}): ProcessEntry {
  return { pid, parent, group: pid, session: pid, started: '100', ...more };
}

function members(table: readonly ProcessEntry[], roots: readonly Root[] = [], spared: readonly number[] = []) {
  const found = findMembers(table, { scope: 'server', roots, spared: new Set(spared) });
  return found.map((one) => one.pid).toSorted((a, b) => a - b);
}

describe('scope', () => {
  it('names server, session and call', () => {
    expect(scopeName('s')).toBe('s');
    expect(scopeName('s', 'x', 7)).toBe('s/x/7');
  });

  it('contains what is inside it, not what begins alike', () => {
    expect(isInScope('s/x/7', 's')).toBe(true);
    expect(isInScope('s/x/7', 's/x')).toBe(true);
    expect(isInScope('s/x/71', 's/x/7')).toBe(false);
    expect(isInScope('s', 's/x')).toBe(false);
  });

  it.each([
    ['PI_SESSION_MCP_SCOPE=a/b\0PATH=/bin\0', 'a/b'],
    ['PATH=/bin\0PI_SESSION_MCP_SCOPE=a\0', 'a'],
    ['PATH=/bin\0PI_SESSION_MCP_SCOPE=a', 'a'],
    ['PATH=/bin\0X=PI_SESSION_MCP_SCOPE=a\0', undefined],
    ['PATH=/bin\0XPI_SESSION_MCP_SCOPE=a\0', undefined],
    ['', undefined],
  ])('is found in an environment', (bytes, scope) => {
    expect(scopeInEnvironment(Buffer.from(bytes))).toBe(scope);
  });
});

describe('process table', () => {
  const rest = '0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 4711 0 0';

  it('reads a stat line whose command looks like one', () => {
    expect(parseStat(`42 (a) S 1) S 7 8 9 ${rest}`)).toEqual({
      pid: 42,
      parent: 7,
      group: 8,
      session: 9,
      started: '4711',
    });
  });

  it('takes no zombie and no nonsense', () => {
    expect(parseStat(`42 (a) Z 7 8 9 ${rest}`)).toBeUndefined();
    expect(parseStat('')).toBeUndefined();
  });

  it('reads the output of ps', () => {
    const text = '    1     0     1 Ss   Mon Nov 30 09:00:00 2026\n  842   841   842 Z+   Mon Nov 30 09:00:01 2026\n\n';
    expect(parsePs(text)).toEqual([{ pid: 1, parent: 0, group: 1, session: 1, started: 'Mon Nov 30 09:00:00 2026' }]);
  });
});

describe('a table that has to be complete', () => {
  const init = '    1     1 Ss\n';

  it('is read from ps by groups, without zombies', () => {
    const text = `${init}  842   841 S+  \n  843   841 Z+\n`;
    const entry842 = { pid: 842, parent: 0, group: 841, session: 841, started: '' };
    expect(parseGroups(text)).toEqual([{ pid: 1, parent: 0, group: 1, session: 1, started: '' }, entry842]);
  });

  it.each([
    ['a line too short', '  842   841\n'],
    ['a line too long', '  842   841 S+ more\n'],
    ['no number', '  842   -   S+\n'],
    ['no known state', '  842   841 ?\n'],
    ['an empty line', ' \n'],
    ['a word of warning', 'ps: something\n'],
  ])('is none with %s', (_, line) => {
    expect(parseGroups(`${init}${line}`)).toBeUndefined();
  });

  it.skipIf(process.platform === 'win32')('is what ps really prints', () => {
    const text = execFileSync('/bin/ps', ['-A', '-o', 'pid=,pgid=,stat='], { encoding: 'utf8' });
    expect(parseGroups(text)?.some(({ pid }) => pid === process.pid)).toBe(true);
  });

  it('shows this process and, on Linux, its mark and what it has started', async () => {
    const child = spawn('sleep', ['1000'], { stdio: 'ignore', detached: true, env: { PATH: '/bin', MARK: 'x/y' } });
    const table = await readTableForSure(0, 'MARK');
    expect(table?.some(({ pid }) => pid === process.pid)).toBe(true);
    const entry = table?.find(({ pid }) => pid === child.pid);
    expect(entry).toMatchObject({ group: child.pid });
    if (process.platform === 'linux') expect(entry?.scope).toBe('x/y');
    child.kill('SIGKILL');
  });
});

describe('members', () => {
  const marked = { scope: 'server/a/1' };

  it('are the marked processes and their descendants, however deep', () => {
    const table = [entry(1, 0), entry(10, 1), entry(20, 10, marked), entry(30, 20), entry(40, 30), entry(50, 10)];
    expect(members(table)).toEqual([20, 30, 40]);
  });

  it('are found after re-parenting by their mark', () => {
    expect(members([entry(1, 0), entry(30, 1, marked), entry(31, 1, { scope: 'other/a/1' })])).toEqual([30]);
  });

  it('are never init, the spared, or what is below the spared alone', () => {
    const table = [entry(1, 0, marked), entry(10, 1, marked), entry(11, 10), entry(12, 10, marked)];
    expect(members(table, [], [10])).toEqual([12]);
    expect(members([entry(10, 1, marked), entry(11, 10)], [], [10])).toEqual([]);
  });

  it('end with a cycle in the table', () => {
    expect(members([entry(10, 11, marked), entry(11, 10)])).toEqual([10, 11]);
  });

  describe('of a shell without a mark', () => {
    const root = { pid: 20, started: '200' };
    const orphan = entry(30, 1, { group: 20, session: 20, started: '210' });

    it('are its group and session', () => {
      expect(members([entry(20, 10, { started: '200' }), orphan], [root])).toEqual([20, 30]);
      expect(members([orphan], [root])).toEqual([30]);
    });

    it('are not those of a later group with the same number', () => {
      expect(members([entry(20, 1, { started: '900' }), orphan], [root])).toEqual([]);
      expect(members([entry(30, 1, { group: 20, session: 20, started: '150' })], [root])).toEqual([]);
    });
  });
});
