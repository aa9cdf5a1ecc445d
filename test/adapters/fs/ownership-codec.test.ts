import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatOwnership, keyOf, parseOwnership } from '../../../src/adapters/fs/ownership-codec.ts';
import type { OwnershipRecord } from '../../../src/ports/setup/ownership.ts';
import { REGISTRATION, SKILL } from '../../contracts/setup-records.ts';
import { hex } from './lab.ts';

const HOME_SKILL = { ...SKILL, scope: 'user', alias: 'skill:pi-session-orchestration' } as const;
const PROJECT = {
  ...REGISTRATION,
  client: 'claude-code',
  scope: 'project',
  alias: 'pi-session-mcp@0123456789abcdef',
} as const;

const HOOK = {
  client: 'claude-code',
  scope: 'user',
  alias: 'wake:pi-session-mcp',
  phase: 'owned',
  fingerprint: 'a'.repeat(64),
} as const;

const text = (value: unknown): Buffer => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
const documentOf = (...records: unknown[]) => ({ schemaVersion: 1, records });
const parse = (value: unknown) => parseOwnership(text(value));

describe('a state file', () => {
  it.each<[string, OwnershipRecord[]]>([
    ['nothing', []],
    ['a registration', [REGISTRATION]],
    ['registrations of a project', [PROJECT, { ...PROJECT, scope: 'local' }]],
    ['skills', [SKILL, HOME_SKILL]],
    ['a hook', [HOOK]],
    ['one alias in two projects', [PROJECT, { ...PROJECT, alias: 'pi-session-mcp@fedcba9876543210' }]],
  ])('may hold %s', (_name, records) => {
    expect(parse(documentOf(...records))).toEqual(records);
  });

  it.each<[string, unknown]>([
    ['nothing at all', ''],
    ['something that is not JSON', '{"schemaVersion":1,"records":[]'],
    ['a comment', '{"schemaVersion":1,/* */"records":[]}'],
    ['bytes that are not UTF-8', '{"schemaVersion":1,"records":[]}\ufffd'],
    ['a list', '[]'],
    ['another version', { schemaVersion: 2, records: [] }],
    ['a version that is text', { schemaVersion: '1', records: [] }],
    ['no records', { schemaVersion: 1 }],
    ['an unknown field', { ...documentOf(), more: 1 }],
    ['a field twice', '{"schemaVersion":1,"records":[],"records":[]}'],
    ['a prototype', '{"schemaVersion":1,"records":[],"__proto__":{}}'],
    ['more than 64 KiB', `${JSON.stringify(documentOf())}${' '.repeat(65_536)}`],
    ['the same record twice', documentOf(REGISTRATION, REGISTRATION)],
    ['one key twice', documentOf(REGISTRATION, { ...REGISTRATION, phase: 'owned' })],
    [
      '129 records',
      documentOf(
        ...Array.from({ length: 129 }, (_none, index) => ({
          ...SKILL,
          alias: `${SKILL.alias.slice(0, -3)}${(index + 256).toString(16)}`,
        })),
      ),
    ],
  ])('does not hold %s', (_name, value) => {
    expect(parse(value)).toBeUndefined();
  });

  it('takes bytes that are not UTF-8 for what they are', () => {
    expect(parseOwnership(Buffer.concat([text(documentOf()), Buffer.of(0xff)]))).toBeUndefined();
  });

  it.each<[string, object, object]>([
    ['an unknown client', REGISTRATION, { client: 'cursor' }],
    ['an unknown scope', REGISTRATION, { scope: 'global' }],
    ['an unknown phase', REGISTRATION, { phase: 'gone' }],
    ['a hook of Codex', HOOK, { client: 'codex' }],
    ['a hook of a project', HOOK, { scope: 'project' }],
    ['a hook in a project', HOOK, { alias: 'wake:pi-session-mcp@0123456789abcdef' }],
    ['a hook with a release', HOOK, { release: 'b'.repeat(64) }],
    ['a hook with a predecessor', HOOK, { phase: 'pending', replaces: 'b'.repeat(64) }],
    ['a scope that Codex does not have', REGISTRATION, { scope: 'project', alias: PROJECT.alias }],
    ['another alias', REGISTRATION, { alias: 'pi' }],
    ['a skill of another name', HOME_SKILL, { alias: 'skill:pi-session-review' }],
    ['a path in the alias', PROJECT, { alias: 'pi-session-mcp@/home/me/project' }],
    ['a project in the home', REGISTRATION, { alias: PROJECT.alias }],
    ['no project in a project', PROJECT, { alias: 'pi-session-mcp' }],
    ['a local registration of no project', PROJECT, { scope: 'local', alias: 'pi-session-mcp' }],
    ['a local skill', SKILL, { scope: 'local' }],
    ['a short fingerprint', REGISTRATION, { fingerprint: 'ab' }],
    ['a fingerprint in capitals', REGISTRATION, { fingerprint: hex('A') }],
    ['a fingerprint with a line break', REGISTRATION, { fingerprint: `${hex('a')}\n` }],
    ['a bad release', REGISTRATION, { release: 'none' }],
    ['no release of a registration', REGISTRATION, { release: undefined }],
    ['a release of a skill', HOME_SKILL, { release: hex('a') }],
    ['what a registration replaces', REGISTRATION, { replaces: hex('a') }],
    ['what an owned skill replaces', HOME_SKILL, { phase: 'owned' }],
    ['a field too many', REGISTRATION, { path: '/home/me' }],
    ['a field with nothing', REGISTRATION, { release: null }],
  ])('does not hold %s', (_name, record, change) => {
    expect(parse(documentOf(record))).toHaveLength(1);
    expect(parse(documentOf({ ...record, ...change }))).toBeUndefined();
  });
});

const hash = fc.stringMatching(/^[0-9a-f]{64}$/);
const project = fc.stringMatching(/^@[0-9a-f]{16}$/);
const registration = fc.record({ fingerprint: hash, release: hash, phase: fc.constantFrom('pending', 'owned') });
const place = fc.oneof(
  fc.constantFrom({ client: 'codex', scope: 'user', at: '' }, { client: 'claude-code', scope: 'user', at: '' }),
  project.map((at) => ({ client: 'claude-code', scope: 'project', at })),
);
const record = fc.oneof(
  fc.tuple(place, registration).map(([{ at, ...key }, rest]) => ({ ...key, alias: `pi-session-mcp${at}`, ...rest })),
  fc.tuple(place, fc.record({ fingerprint: hash, replaces: hash })).map(([{ at, ...key }, rest]) => ({
    ...key,
    alias: `skill:pi-session-orchestration${at}`,
    phase: 'pending',
    ...rest,
  })),
) as fc.Arbitrary<OwnershipRecord>;
const records = fc.uniqueArray(record, { selector: keyOf, maxLength: 8 });

describe('the parser', () => {
  it('reads back what was written', () => {
    fc.assert(
      fc.property(records, (list) => {
        expect(parseOwnership(formatOwnership(list) ?? Buffer.of())).toEqual(list);
      }),
    );
  });

  it('never throws, and what it takes is written and read as the same', () => {
    const check = (bytes: Uint8Array): void => {
      const parsed = parseOwnership(bytes);
      if (parsed !== undefined) expect(parseOwnership(formatOwnership(parsed) ?? Buffer.of())).toEqual(parsed);
    };
    const spoiled = fc
      .tuple(records, fc.nat(), fc.integer({ min: 0, max: 255 }), fc.boolean())
      .map(([list, at, byte, cut]) => {
        const bytes = Buffer.from(formatOwnership(list) ?? '');
        bytes[at % bytes.length] = byte;
        return cut ? bytes.subarray(0, at % bytes.length) : bytes;
      });
    fc.assert(fc.property(fc.oneof(fc.uint8Array(), fc.json().map(text), spoiled), check), { numRuns: 1000 });
  });

  it('refuses a key too many at every level, and every key that is given twice', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(record, { selector: keyOf, minLength: 1, maxLength: 3 }),
        fc.string(),
        fc.nat(),
        (list, key, at) => {
          fc.pre(!(key in REGISTRATION) && key !== 'replaces' && key !== 'records' && key !== 'schemaVersion');
          const good = JSON.stringify(documentOf(...list));
          const openings = [...good.matchAll(/\{/g)].map(({ index }) => index + 1);
          const into = openings[at % openings.length] ?? 1;
          const extra = `${JSON.stringify(key)}:1,`;
          const again = /^"[^"]*":(?:1|"[^"]*"),/.exec(good.slice(into))?.[0] ?? '';
          expect(parse(good)).toEqual(list);
          expect(parse(good.slice(0, into) + extra + good.slice(into))).toBeUndefined();
          expect(parse(good.slice(0, into) + again + good.slice(into))).toBeUndefined();
        },
      ),
    );
  });

  it('refuses to write what it would not read', () => {
    expect(formatOwnership([REGISTRATION, REGISTRATION])).toBeUndefined();
    expect(formatOwnership([{ ...REGISTRATION, fingerprint: 'short' }])).toBeUndefined();
  });
});
