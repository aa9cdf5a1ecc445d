import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { copyCredentials, providersToRenew } from '../../src/writers/credentials.ts';
import { placesOf } from '../../src/writers/places.ts';
import { createRenewal, renew, type WarmUp, writeSource } from '../../src/writers/renewal.ts';

const NOW = 1_800_000_000_000;
const MINUTE = 60_000;
const nobody: WarmUp = async () => {};

let root: string;
let from: string;
let to: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'credentials-'));
  from = join(root, 'pi');
  to = join(root, 'shop-1', 'agent');
  mkdirSync(from);
  mkdirSync(to, { recursive: true });
});
afterEach(() => rmSync(root, { recursive: true }));

const put = (name: string, value: unknown) => writeFileSync(join(from, name), JSON.stringify(value));
const copied = (name: string): unknown => JSON.parse(readFileSync(join(to, name), 'utf8'));
const token = (expires: unknown, access = 'ACCESS') => ({
  type: 'oauth',
  access,
  refresh: 'RENEWAL',
  expires,
  account: 'a',
});
const copy = (...providers: string[]) => copyCredentials({ from, to, providers });

describe('what comes along', () => {
  test('selected providers only, and of a token nothing that renews it', () => {
    put('auth.json', {
      one: token(NOW),
      two: { type: 'api_key', key: 'KEY' },
      other: token(NOW, 'OTHER'),
      third: { type: 'api_key', key: 'OTHER' },
    });
    put('models.json', { providers: { one: { baseUrl: 'u' }, other: { apiKey: 'OTHER' } }, more: 'OTHER' });
    put('settings.json', { secret: 'OTHER' });
    expect(copy('one', 'two')).toBe(true);
    expect(copied('auth.json')).toEqual({ one: { ...token(NOW), refresh: '' }, two: { type: 'api_key', key: 'KEY' } });
    expect(copied('models.json')).toEqual({ providers: { one: { baseUrl: 'u' } } });
    const all = readdirSync(to)
      .map((name) => readFileSync(join(to, name), 'utf8'))
      .join();
    expect(all).not.toMatch(/RENEWAL|OTHER/);
    expect(readdirSync(to).map((name) => statSync(join(to, name)).mode & 0o777)).toEqual([0o600, 0o600]);
  });

  test('names of objects’ own members are nobody’s provider', () => {
    put('auth.json', {});
    expect(copy('__proto__', 'toString')).toBe(true);
    expect(copied('auth.json')).toEqual({});
  });

  test('nothing there is nothing to copy; what cannot be read is a failure, and changes nothing', () => {
    expect(copy('one')).toBe(true);
    expect(copied('auth.json')).toEqual({});
    put('auth.json', { one: { type: 'api_key', key: 'KEY' } });
    copy('one');
    writeFileSync(join(from, 'auth.json'), '{ half');
    expect(copy('one')).toBe(false);
    expect(copied('auth.json')).toEqual({ one: { type: 'api_key', key: 'KEY' } });
  });

  test('half of a file is read again: Pi writes in place', () => {
    const whole = JSON.stringify({ one: token(NOW) });
    const path = join(from, 'auth.json');
    const finish = vi.fn(() => writeFileSync(path, whole));
    for (const half of ['', whole.slice(0, whole.length / 2)]) {
      writeFileSync(path, half);
      expect(copyCredentials({ from, to, providers: ['one'] }, finish)).toBe(true);
      expect(copied('auth.json')).toEqual({ one: { ...token(NOW), refresh: '' } });
      writeFileSync(path, half);
      expect(providersToRenew(from, ['one'], NOW, finish)).toEqual(['one']);
    }
    expect(finish).toHaveBeenCalledTimes(4);
  });

  test('an unchanged copy is left alone, so that nobody inside reads it anew', () => {
    put('auth.json', { one: token(NOW) });
    copy('one');
    const { ino } = statSync(join(to, 'auth.json'));
    copy('one');
    expect(statSync(join(to, 'auth.json')).ino).toBe(ino);
  });
});

describe('renewal', () => {
  const places = () => placesOf(root, 'shop-1');
  const source = () =>
    writeSource(places(), {
      agentDirectory: from,
      selections: [
        { provider: 'one', model: 'm' },
        { provider: 'two', model: 'n' },
      ],
    });

  test.each<[string, unknown, boolean]>([
    ['long valid', NOW + 60 * MINUTE, false],
    ['valid for a little longer than Pi asks for', NOW + 7 * MINUTE + 1, false],
    ['about to run out', NOW + 7 * MINUTE, true],
    ['run out', NOW - 1, true],
    ['of unknown date', undefined, true],
    ['of no date', 'soon', true],
  ])('a token that is %s', async (_what, expires, isDue) => {
    source();
    put('auth.json', { one: token(expires), two: { type: 'api_key', key: 'KEY' }, other: token(0) });
    const warmUp = vi.fn<WarmUp>(async () => put('auth.json', { one: token(NOW + 60 * MINUTE, 'FRESH') }));
    expect(await renew(places(), warmUp, NOW)).toBe(true);
    expect(warmUp.mock.calls).toEqual(isDue ? [[from, [{ provider: 'one', model: 'm' }]]] : []);
    expect(copied('auth.json')).toMatchObject({ one: { access: isDue ? 'FRESH' : 'ACCESS', refresh: '' } });
  });

  test('each one goes by the time that it is then', async () => {
    vi.useFakeTimers({ now: NOW, toFake: ['Date'] });
    try {
      source();
      put('auth.json', { one: token(NOW + 8 * MINUTE) });
      const asked: number[] = [];
      const again = createRenewal(places(), async () => void asked.push(Date.now()), {});
      expect(await again()).toBe(true);
      expect(asked).toEqual([]);
      vi.setSystemTime(NOW + MINUTE);
      expect(await again()).toBe(true);
      expect(asked).toEqual([NOW + MINUTE]);
    } finally {
      vi.useRealTimers();
    }
  });

  test('what is there is copied before anybody is asked, and before the caller goes on', async () => {
    source();
    put('auth.json', { one: token(0, 'OLDER') });
    copy('one');
    put('auth.json', { one: token(0, 'OLD') });
    const answer = Promise.withResolvers<void>();
    const seen: unknown[] = [];
    const warmUp: WarmUp = async () => {
      seen.push(copied('auth.json'));
      await answer.promise;
    };
    const renewal = renew(places(), warmUp, NOW);
    seen.push(copied('auth.json'));
    expect(seen).toEqual(Array(2).fill({ one: { ...token(0, 'OLD'), refresh: '' } }));
    put('auth.json', { one: token(NOW + 60 * MINUTE, 'FRESH') });
    answer.resolve();
    expect(await renewal).toBe(true);
    expect(copied('auth.json')).toMatchObject({ one: { access: 'FRESH' } });
  });

  test('whose result could not be copied is not asked for', async () => {
    source();
    put('auth.json', { one: token(0) });
    put('models.json', 'no object');
    const warmUp = vi.fn<WarmUp>(nobody);
    expect(await renew(places(), warmUp, NOW)).toBe(false);
    expect(warmUp).not.toHaveBeenCalled();
  });

  test('is joined by who asks meanwhile; the next one is a new one', async () => {
    source();
    put('auth.json', { one: token(0) });
    const answers = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let asked = 0;
    const again = createRenewal(places(), () => answers[asked++]?.promise ?? Promise.resolve(), {});
    const both = [again(), again()];
    expect(asked).toBe(1);
    put('auth.json', { one: token(0, 'FRESH') });
    answers[0]?.resolve();
    expect(await Promise.all(both)).toEqual([true, true]);
    expect(copied('auth.json')).toMatchObject({ one: { access: 'FRESH' } });
    const next = again();
    expect(asked).toBe(2);
    answers[1]?.resolve();
    expect(await next).toBe(true);
  });

  test('a start that only looks touches nothing', async () => {
    source();
    put('auth.json', { one: token(0) });
    const warmUp = vi.fn<WarmUp>(nobody);
    expect(await createRenewal(places(), warmUp, { PI_WRITER_NO_CREDENTIAL_REFRESH: '1' })()).toBe(true);
    expect(warmUp).not.toHaveBeenCalled();
    expect(readdirSync(to)).toEqual([]);
  });

  test('without a record of where from, nothing is copied', async () =>
    expect(await renew(places(), nobody, NOW)).toBe(false));
});
