import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { inputSchemas, inputs, MAX_NAME_CHARACTERS, MAX_PROMPT_CHARACTERS } from '../../../src/adapters/mcp/schemas.ts';
import { INSTRUCTIONS, TOOLS } from '../../../src/adapters/mcp/tools.ts';
import { accepts } from './harness.ts';

const [T, F] = [true, false];
/** The table of the contract: readOnly, destructive, idempotent, openWorld. */
const TABLE = {
  pi_capabilities_get: [T, F, T, F],
  pi_session_start: [F, F, F, F],
  pi_session_list: [T, F, T, F],
  pi_session_get: [T, F, T, F],
  pi_session_prompt: [F, T, F, T],
  pi_turn_get: [T, F, T, F],
  pi_session_abort: [F, T, T, F],
  pi_session_close: [F, T, T, F],
};

const SCHEMA_PARTS = ['type', 'properties', 'required', 'additionalProperties', 'items'];
const KEYWORDS = [...SCHEMA_PARTS, 'description', 'enum', 'minLength', 'maxLength'];

/** Every schema in a schema, itself included. */
function schemas(schema: object): Record<string, unknown>[] {
  const { properties = {}, items } = schema as { properties?: Record<string, object>; items?: object };
  const parts = [...Object.values(properties), ...(items ? [items] : [])];
  return [schema as Record<string, unknown>, ...parts.flatMap(schemas)];
}

describe('the published tools', () => {
  it('are the eight that are documented, with their annotations', () => {
    const published = TOOLS.map(({ name, annotations: a }) => [
      name,
      [a.readOnlyHint, a.destructiveHint, a.idempotentHint, a.openWorldHint],
    ]);
    expect(Object.fromEntries(published)).toEqual(TABLE);
    expect(published).toHaveLength(8);
  });

  it('have plain object schemas of a few well-known keywords, without unions', () => {
    for (const { inputSchema, outputSchema } of TOOLS) {
      for (const schema of [inputSchema, outputSchema]) {
        expect(schema.type).toBe('object');
        for (const part of schemas(schema)) {
          if (part['type'] === 'object') expect(part['additionalProperties']).toBe(false);
          expect(KEYWORDS).toEqual(expect.arrayContaining(Object.keys(part)));
          expect(Object.keys((part['properties'] as object) ?? {})).toEqual(
            expect.arrayContaining((part['required'] as string[]) ?? []),
          );
        }
        expect(() => accepts(schema)).not.toThrow();
      }
      expect(outputSchema.required).toEqual(['ok']);
    }
  });

  it('describe every field', () => {
    for (const { inputSchema, outputSchema } of TOOLS) {
      for (const part of [...schemas(inputSchema), ...schemas(outputSchema)]) {
        if (part['properties'] === undefined) continue;
        for (const field of Object.values(part['properties'] as object)) expect(field).toHaveProperty('description');
      }
    }
  });

  it('have texts that no client cuts', () => {
    expect(INSTRUCTIONS.length).toBeLessThan(2_048);
    for (const tool of TOOLS) expect(tool.description.length).toBeLessThan(1_024);
    expect(JSON.stringify(TOOLS).length).toBeLessThan(24_000);
  });
});

/** Without what only one of the two forms can say: texts, and lengths that zod counts in a check of its own. */
function comparable(schema: unknown): unknown {
  const drop = ['$schema', 'description', 'maxLength'];
  return JSON.parse(JSON.stringify(schema, (key, value) => (drop.includes(key) ? undefined : value)));
}

const emoji = '\u{1f600}';
const lengths = fc.constantFrom(
  0,
  1,
  2,
  MAX_NAME_CHARACTERS,
  MAX_NAME_CHARACTERS + 1,
  MAX_PROMPT_CHARACTERS,
  MAX_PROMPT_CHARACTERS + 1,
);
const characters = fc.constantFrom('a', emoji, '\ud800', '\udc00', '\u0000');
const strings = fc.oneof(
  fc.tuple(characters, lengths).map(([character, length]) => character.repeat(length)),
  fc.tuple(lengths, lengths).map(([a, b]) => `${'a'.repeat(a)}${emoji.repeat(b)}`),
  fc.string({ unit: 'binary' }),
);
const values = fc.oneof({ weight: 4, arbitrary: strings }, fc.jsonValue(), fc.constant(null));
const keys = fc.constantFrom(
  'workspace',
  'executionProfile',
  'sessionId',
  'prompt',
  'turnId',
  'other',
  '__proto__',
  'constructor',
);
/** Through JSON, as arguments arrive, so that `__proto__` is an own key. */
const records = fc
  .array(fc.tuple(keys, values), { maxLength: 3 })
  .map((entries) =>
    JSON.parse(`{${entries.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`)}}`),
  );

describe.each(Object.keys(inputs) as (keyof typeof inputs)[])('the input schema "%s"', (key) => {
  it('says the same as the validator', () => {
    expect(comparable(inputSchemas[key])).toEqual(comparable(z.toJSONSchema(inputs[key], { io: 'input' })));
  });

  it('accepts exactly what the validator accepts', () => {
    const published = accepts(inputSchemas[key]);
    const declared = Object.keys(inputSchemas[key].properties);
    const likely = fc.record(Object.fromEntries(declared.map((name) => [name, strings])));
    const extended = fc.tuple(likely, fc.dictionary(keys, values, { maxKeys: 1 })).map(([a, b]) => ({ ...b, ...a }));
    const agree = (input: unknown) => {
      // Ajv never sees an own `__proto__`, which is an undeclared field like any other.
      const expected = published(input) && !(typeof input === 'object' && Object.hasOwn(input as object, '__proto__'));
      expect(inputs[key].safeParse(input).success).toBe(expected);
    };
    fc.assert(fc.property(fc.oneof(records, likely, extended, fc.jsonValue()), agree), { numRuns: 300 });
  });
});

it.each(Object.keys(inputs) as (keyof typeof inputs)[])('"%s" refuses one field more than it declares', (key) => {
  const complete = Object.fromEntries(Object.keys(inputSchemas[key].properties).map((name) => [name, 'x']));
  expect(inputs[key].safeParse(complete).success).toBe(true);
  expect(inputs[key].safeParse({ ...complete, other: 'x' }).success).toBe(false);
});

it('counts a prompt in code points', () => {
  const fits = (prompt: string) => inputs.prompt.safeParse({ sessionId: 's', prompt }).success;
  expect(fits(emoji.repeat(MAX_PROMPT_CHARACTERS))).toBe(true);
  expect(fits(`${emoji.repeat(MAX_PROMPT_CHARACTERS)}a`)).toBe(false);
  expect(fits('\ud800'.repeat(MAX_PROMPT_CHARACTERS))).toBe(true);
  expect(fits('\ud800'.repeat(MAX_PROMPT_CHARACTERS + 1))).toBe(false);
  expect(inputSchemas.prompt.properties['prompt']?.['maxLength']).toBe(MAX_PROMPT_CHARACTERS);
});
