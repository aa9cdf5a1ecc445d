/** What `pi_capabilities_get` has to answer (docs/tools.md), and nothing more than that. */
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod/mini';
import { THINKING_LEVELS } from '../../config/configuration.ts';
import { SERVER_NAME } from '../../version.ts';

const text = z.string().check(z.minLength(1));
const strings = z.array(text);

const capabilities = z.strictObject({
  ok: z.literal(true),
  server: z.strictObject({ name: z.literal(SERVER_NAME), version: text }),
  configuration: z.strictObject({
    fingerprint: z.string().check(z.regex(/^sha256:[0-9a-f]{64}$/)),
    reloadPolicy: z.literal('restart-required'),
  }),
  workspaces: z.array(z.strictObject({ alias: text, mode: z.enum(['unset', 'host', 'container', 'read-only']) })),
  executionProfiles: z.array(
    z.strictObject({
      alias: text,
      default: z.boolean(),
      permissionProfile: z.enum(['read-only', 'coding']),
      provider: text,
      model: text,
      thinkingLevel: z.enum(THINKING_LEVELS),
      extensions: strings,
      grantedExtensionTools: strings,
      skills: strings,
    }),
  ),
});

/** One block of JSON text and the structured form, which say the same. */
const result = z.strictObject({
  content: z.tuple([z.strictObject({ type: z.literal('text'), text: z.string() })]),
  structuredContent: capabilities,
  isError: z.optional(z.literal(false)),
});

export function isCapabilitiesResult(value: unknown): boolean {
  const parsed = result.safeParse(value);
  if (!parsed.success) return false;
  try {
    return isDeepStrictEqual(JSON.parse(parsed.data.content[0].text), parsed.data.structuredContent);
  } catch {
    return false;
  }
}
