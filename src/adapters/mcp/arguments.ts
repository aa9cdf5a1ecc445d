/** Checks tool arguments and words what is wrong with them without repeating what was sent. */
import type * as z from 'zod';
import type { JsonSchema, ObjectSchema } from './schemas.ts';

export type CheckedArguments<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly message: string };

interface Issue {
  readonly code: string;
  readonly path: readonly PropertyKey[];
}

function ofField(name: string, declared: JsonSchema, issue: Issue, value: unknown): string {
  if (value === undefined) return `"${name}" is missing`;
  switch (issue.code) {
    case 'invalid_type':
      return `"${name}" must be a string`;
    case 'too_small':
      return `"${name}" must not be empty`;
    case 'too_big':
      return `"${name}" is longer than ${String(declared['maxLength'])} characters`;
    default:
      return `"${name}" is not valid`;
  }
}

function describe(schema: ObjectSchema, issue: Issue, input: object): string {
  const [field] = issue.path;
  const declared = typeof field === 'string' ? schema.properties[field] : undefined;
  if (typeof field === 'string' && declared) {
    return ofField(field, declared, issue, (input as Record<string, unknown>)[field]);
  }
  const names = Object.keys(schema.properties).map((key) => `"${key}"`);
  return names.length === 0 ? 'this tool takes no fields' : `no fields but ${names.join(' and ')} are accepted`;
}

const MAX_FIELDS = 32;

function hasMoreFieldsThan(limit: number, input: object): boolean {
  let count = 0;
  for (const _ in input) {
    count += 1;
    if (count > limit) return true;
  }
  return false;
}

/** `schema` is the published form of `validator`; the message names declared fields only. */
export function checkArguments<T>(validator: z.ZodType<T>, schema: ObjectSchema, input: unknown): CheckedArguments<T> {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    return { ok: false, message: 'Invalid arguments: they must be an object.' };
  }
  // No tool takes more; checking each of a few hundred thousand names would block everybody else.
  if (hasMoreFieldsThan(MAX_FIELDS, input)) return { ok: false, message: 'Invalid arguments: too many fields.' };
  const result = validator.safeParse(input);
  if (result.success) return { ok: true, value: result.data };
  const faults = result.error.issues.map((issue) => describe(schema, issue, input));
  return { ok: false, message: `Invalid arguments: ${[...new Set(faults)].join('; ')}.` };
}
