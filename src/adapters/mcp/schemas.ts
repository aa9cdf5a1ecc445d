/**
 * The inputs of the tools, once as published JSON Schema and once as validator.
 * The published form is written out because generating it costs start-up time;
 * a test proves that both accept the same values.
 */
import * as z from 'zod';

export type JsonSchema = Readonly<Record<string, unknown>>;

export interface ObjectSchema extends JsonSchema {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties: false;
}

/** Unicode code points, as JSON Schema counts them: an emoji is one character. */
export const MAX_PROMPT_CHARACTERS = 100_000;
/** Every alias fits; so does every id. Anything longer can only be a mistake. */
export const MAX_NAME_CHARACTERS = 64;

/** Counts code points; a lone surrogate counts as one. */
function countCharacters(text: string): number {
  let count = 0;
  for (let index = 0; index < text.length; index += 1) {
    const pair = text.codePointAt(index) ?? 0;
    if (pair > 0xffff) index += 1;
    count += 1;
  }
  return count;
}

/** zod counts UTF-16 units, so that only lengths between the two bounds need counting. */
function atMost(characters: number) {
  return z.string().check(z.minLength(1), (payload) => {
    const text = payload.value;
    if (text.length <= characters) return;
    if (text.length <= characters * 2 && countCharacters(text) <= characters) return;
    payload.issues.push({ code: 'too_big', origin: 'string', maximum: characters, inclusive: true, input: text });
  });
}

const name = atMost(MAX_NAME_CHARACTERS);

export const inputs = {
  none: z.strictObject({}),
  start: z.strictObject({ workspace: name, executionProfile: z.optional(name) }),
  session: z.strictObject({ sessionId: name }),
  prompt: z.strictObject({ sessionId: name, prompt: atMost(MAX_PROMPT_CHARACTERS) }),
  turn: z.strictObject({ sessionId: name, turnId: name }),
} as const;

function text(description: string, maxLength: number = MAX_NAME_CHARACTERS): JsonSchema {
  return { type: 'string', minLength: 1, maxLength, description };
}

function inputSchema(properties: Record<string, JsonSchema>, required: string[]): ObjectSchema {
  return { type: 'object', properties, required, additionalProperties: false };
}

const sessionId = text('The `id` of a session, as pi_session_start returned it.');

export const inputSchemas: Readonly<Record<keyof typeof inputs, ObjectSchema>> = {
  none: { type: 'object', properties: {}, additionalProperties: false },
  start: inputSchema(
    {
      workspace: text('Alias of a workspace from pi_capabilities_get.'),
      executionProfile: text(
        'Alias of an execution profile from pi_capabilities_get. Left out: the default profile, which is read-only.',
      ),
    },
    ['workspace'],
  ),
  session: inputSchema({ sessionId }, ['sessionId']),
  prompt: inputSchema(
    {
      sessionId,
      prompt: text(
        'The task as plain text, complete in itself: goal, scope, limits and what to report back. Counted in Unicode code points.',
        MAX_PROMPT_CHARACTERS,
      ),
    },
    ['sessionId', 'prompt'],
  ),
  turn: inputSchema({ sessionId, turnId: text('The `turnId` that pi_session_prompt returned.') }, [
    'sessionId',
    'turnId',
  ]),
};
