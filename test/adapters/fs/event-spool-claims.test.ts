import { chmodSync, mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { claimTurn } from '../../../src/adapters/fs/event-spool-claims.ts';
import { namesIn, openLab, TARGET, TURN } from './event-spool-lab.ts';

const DAY_MS = 24 * 60 * 60 * 1_000;
const idOf = (index: number) => `${String(index).padStart(8, '0')}${TURN.slice(8)}`;
const claimsOf = ({ runtime }: ReturnType<typeof openLab>) => join(runtime, 'pi-session-mcp', 'claims');

describe('a turn', () => {
  test('is claimed once, however many try at the same time', async () => {
    const { options } = openLab();
    const claims = await Promise.all(Array.from({ length: 20 }, () => claimTurn(TARGET, options)));
    expect(claims.toSorted()).toEqual(['claimed', ...Array.from({ length: 19 }, () => 'taken')]);
    expect(await claimTurn({ ...TARGET, turnId: idOf(1) }, options)).toBe('claimed');
  });

  test.each(['../../escape', '', '.', `${TURN}/x`, `${TURN}\0`])(
    'that is called %j cannot be claimed',
    async (turnId) => {
      const lab = openLab();
      expect(await claimTurn({ ...TARGET, turnId }, lab.options)).toBe('unavailable');
      expect(namesIn(claimsOf(lab))).toEqual([]);
    },
  );
});

describe('claims', () => {
  test('lie beside the spool, and no writer reaches them', async () => {
    const lab = openLab();
    await claimTurn(TARGET, lab.options);
    expect(namesIn(claimsOf(lab))).toEqual([TURN]);
    const outside = openLab({ withoutRuntime: true });
    await claimTurn(TARGET, outside.options);
    expect(namesIn(join(outside.state, 'claims'))).toEqual([TURN]);
  });

  test('cannot be made where others could', async () => {
    const lab = openLab({ withoutRuntime: true });
    mkdirSync(lab.state, { recursive: true, mode: 0o700 });
    symlinkSync(lab.root, join(lab.state, 'claims'));
    expect(await claimTurn(TARGET, lab.options)).toBe('unavailable');
    const open = openLab({ withoutRuntime: true });
    mkdirSync(join(open.state, 'claims'), { recursive: true, mode: 0o700 });
    chmodSync(join(open.state, 'claims'), 0o770);
    expect(await claimTurn(TARGET, open.options)).toBe('unavailable');
  });

  test('that nobody can need any more go, old ones and too many', async () => {
    const lab = openLab();
    await claimTurn(TARGET, lab.options);
    const claims = claimsOf(lab);
    for (let index = 0; index < 1_100; index += 1) {
      writeFileSync(join(claims, idOf(index)), '');
      utimesSync(join(claims, idOf(index)), 0, (lab.time.now - (index + 1) * 1_000) / 1_000);
    }
    writeFileSync(join(claims, 'not-a-claim'), '');
    utimesSync(join(claims, TURN), 0, (lab.time.now - DAY_MS - 1_000) / 1_000);
    expect(await claimTurn({ ...TARGET, turnId: idOf(5_000) }, lab.options)).toBe('claimed');
    const left = namesIn(claims);
    expect(left).toHaveLength(1_024 + 2);
    expect(left).toContain(idOf(0));
    expect(left).not.toContain(idOf(1_099));
    expect(left).not.toContain(TURN);
    expect(left).toContain('not-a-claim');
  });
});
