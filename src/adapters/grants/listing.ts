/** From a page of `tools/list` to what can be told of its tools. */
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import type { JsonSchema, ListedTool, PageOutcome } from '../../ports/grants.ts';
import { isRecord, type JsonRecord, jsonBytes } from './records.ts';

/** A schema goes to the provider with every request of the session. */
const MAX_SCHEMA_BYTES = 65_536;
const MAX_DESCRIPTION = 8_192;
const MAX_NAME = 256;

/** Throws on a schema that nothing can be held against. */
export type CompileSchema = (schema: JsonSchema) => (value: unknown) => boolean;

/** One for each schema: an `$id` that two schemas share must not make them one. */
const compileSchema: CompileSchema = (schema) => {
  const validate = new AjvJsonSchemaValidator().getValidator(schema as never);
  return (value) => validate(value).valid;
};

export interface Page {
  readonly outcome: PageOutcome;
  /** Granted tool → does its structured result keep to the output schema? Only for tools that have one. */
  readonly outputs: ReadonlyMap<string, (value: unknown) => boolean>;
}

const REFUSED: Page = { outcome: { ok: false }, outputs: new Map() };

/** Only what is granted has to be well formed; of other tools the name is all that matters. */
export function readPage(result: unknown, isGranted: (name: string) => boolean, compile = compileSchema): Page {
  if (!isRecord(result) || !Array.isArray(result['tools'])) return REFUSED;
  const { nextCursor } = result;
  if (nextCursor !== undefined && typeof nextCursor !== 'string') return REFUSED;
  const tools: ListedTool[] = [];
  const outputs = new Map<string, (value: unknown) => boolean>();
  for (const tool of result['tools'] as readonly unknown[]) {
    if (!isRecord(tool) || typeof tool['name'] !== 'string' || tool['name'].length > MAX_NAME) return REFUSED;
    const { name } = tool;
    if (!isGranted(name)) {
      tools.push({ name, description: '', inputSchema: null });
      continue;
    }
    const output = compiledOutput(tool, compile);
    const inputSchema = output === null ? null : usableInput(tool, compile);
    if (output) outputs.set(name, output);
    tools.push({ name, description: describe(tool), inputSchema });
  }
  return { outcome: { ok: true, tools, nextCursor: nextCursor ?? null }, outputs };
}

/** Null: there is an output schema, and it is unusable. */
function compiledOutput({ outputSchema }: JsonRecord, compile: CompileSchema) {
  if (outputSchema === undefined) return undefined;
  return isObjectSchema(outputSchema) ? attempt(() => compile(outputSchema)) : null;
}

function usableInput({ inputSchema }: JsonRecord, compile: CompileSchema): JsonSchema | null {
  if (!isObjectSchema(inputSchema) || attempt(() => compile(inputSchema)) === null) return null;
  // Some providers insist on it.
  return inputSchema['properties'] === undefined ? { ...inputSchema, properties: {} } : inputSchema;
}

function isObjectSchema(schema: unknown): schema is JsonSchema {
  return (
    isRecord(schema) && schema['type'] === 'object' && attempt(() => jsonBytes(schema) <= MAX_SCHEMA_BYTES) === true
  );
}

function describe({ description, title }: JsonRecord): string {
  const text = [description, title].find((each) => typeof each === 'string' && each.trim() !== '');
  return String(text ?? '')
    .trim()
    .slice(0, MAX_DESCRIPTION)
    .toWellFormed();
}

/** Null when it throws: a schema can break its reader in many ways, the depth of the stack among them. */
function attempt<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}
