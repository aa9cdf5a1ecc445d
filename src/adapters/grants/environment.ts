/** What a granted server sees of the environment: little, and only what the operator names. */
import { getDefaultEnvironment } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { GrantedServer } from '../../config/configuration.ts';

export type ChildEnvironment =
  | { readonly ok: true; readonly variables: Readonly<Record<string, string>> }
  | { readonly ok: false; readonly missing: number };

/**
 * The MCP SDK's default set, then what `envFrom` copies, then the marks. A server
 * without its credential would start and fail at every call, so a variable that
 * is not there counts as missing. An empty one is there.
 */
export function childEnvironment(
  { envFrom }: Pick<GrantedServer, 'envFrom'>,
  source: Readonly<Record<string, string | undefined>>,
  marks: Readonly<Record<string, string>>,
): ChildEnvironment {
  const copied: Record<string, string> = {};
  let missing = 0;
  for (const [target, name] of Object.entries(envFrom)) {
    const value = source[name];
    if (value === undefined) missing += 1;
    else copied[target] = value;
  }
  if (missing > 0) return { ok: false, missing };
  return { ok: true, variables: { ...getDefaultEnvironment(), ...copied, ...marks } };
}
