import { parse } from 'jsonc-parser';

export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The JSON object in a file of somebody else, a byte order mark allowed; `undefined` for anything else. */
export function parseObject(bytes: Uint8Array): JsonObject | undefined {
  return objectIn(() => JSON.parse(textOf(bytes)));
}

/** The same with comments and trailing commas, as far as it can be made out. */
export function parseCommentedObject(bytes: Uint8Array): JsonObject | undefined {
  return objectIn(() => parse(textOf(bytes), [], { allowTrailingComma: true }));
}

function objectIn(read: () => unknown): JsonObject | undefined {
  try {
    const value = read();
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
