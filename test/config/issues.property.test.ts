/** Whatever is wrong: issues say where, and never what was there. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CONFIG_PATH, type Json, load, MODES_PATH, validDocument } from './kit.ts';

/** Starts so that it can neither be an alias or a declared name nor be part of a fixed text. */
const secret = fc.string({ minLength: 8, maxLength: 40, unit: 'grapheme-ascii' }).map((tail) => `§${tail}§`);
const junk = fc.oneof(
  secret,
  fc.array(secret, { maxLength: 20 }),
  fc.dictionary(secret, secret, { maxKeys: 5 }),
  secret.map((text) => ({ command: text, name: text, tools: { [text]: { name: text } }, envFrom: { [text]: text } })),
  fc.constantFrom<unknown>(null, 0, -1.5, true, '', [], {}),
);

type Place = readonly (string | number)[];

function placesOf(value: unknown, path: Place = []): Place[] {
  if (typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, child]) => placesOf(child, [...path, key]))];
}

/** Puts a copy of `original` at `place`, or below it under a key of its own; a later change may then reach into it. */
function put(document: Json, place: Place, original: unknown, key: string | undefined): Json {
  const value = structuredClone(original);
  const path = key === undefined ? place : [...place, key];
  const last = path.at(-1);
  if (last === undefined) return value;
  const parent = path.slice(0, -1).reduce<Json>((at, part) => at?.[part], document);
  if (typeof parent === 'object' && parent !== null) parent[last] = value;
  return document;
}

const mutation = (base: unknown) => {
  const places = placesOf(base);
  return fc.array(
    fc.record({ place: fc.constantFrom(...places), value: junk, key: fc.option(secret, { nil: undefined }) }),
    { minLength: 1, maxLength: 4 },
  );
};

function shown(result: unknown): string {
  const text = JSON.stringify(result);
  return text.includes('"ok":true') ? '' : text;
}

const MODES = {
  schemaVersion: 1,
  workspaces: { project: { mode: 'container', profiles: ['worker'], image: 'node' }, other: { mode: 'read-only' } },
};

describe('issues', () => {
  test('of the configuration hold no value, made-up name or path', () => {
    fc.assert(
      fc.property(mutation(validDocument()), (changes) => {
        const document = changes.reduce((doc, { place, value, key }) => put(doc, place, value, key), validDocument());
        const text = shown(load(JSON.stringify(document) ?? 'null'));
        expect(text).not.toContain('§');
        expect(text).not.toContain(CONFIG_PATH);
      }),
      { numRuns: 2000 },
    );
  });

  test('of the execution modes hold none either', () => {
    fc.assert(
      fc.property(mutation(MODES), (changes) => {
        const modes = changes.reduce(
          (doc, { place, value, key }) => put(doc, place, value, key),
          structuredClone(MODES) as Json,
        );
        const text = shown(load(validDocument(), { [MODES_PATH]: JSON.stringify(modes) ?? 'null' }));
        expect(text).not.toContain('§');
      }),
      { numRuns: 1000 },
    );
  });

  test('of duplicates, broken syntax and any bytes hold none', () => {
    fc.assert(
      fc.property(secret, fc.uint8Array({ maxLength: 64 }), (text, bytes) => {
        const key = JSON.stringify(text);
        const contents = [
          `{${key}:${key},${key}:1}`,
          `{"workspaces":{${key}:1,${key}:2}}`,
          `{"executionProfiles":{"safe":{"mcpServers":{"a":{"envFrom":{${key}:1,${key}:2}}}}}}`,
          `{${key}`,
          `${key} ${key}`,
          bytes,
        ];
        for (const content of contents) {
          const result = load(content);
          expect(result.ok).toBe(false);
          expect(JSON.stringify(result)).not.toContain('§');
        }
      }),
      { numRuns: 300 },
    );
  });

  test('of plausible values hold none: a key, an address and a path in every text field', () => {
    for (const value of ['SK_LIVE_0123456789', 'https://user:pw@host.example/x', '/home/alice/private', 'alice']) {
      for (const place of placesOf(validDocument())) {
        const result = load(put(validDocument(), place, value, undefined));
        if (!result.ok) expect(JSON.stringify(result)).not.toContain(value);
      }
    }
  });
});
