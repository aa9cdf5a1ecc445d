import { isAbsolute } from 'node:path';
import { parseArgs } from 'node:util';

export type DoctorArguments =
  | { readonly kind: 'help' }
  | { readonly kind: 'examine'; readonly json: boolean; readonly config: string | undefined }
  /** `problem` is fixed text; what was given is not repeated. */
  | { readonly kind: 'misuse'; readonly json: boolean; readonly problem: string };

export function parseArguments(args: readonly string[]): DoctorArguments {
  const json = args.includes('--json');
  let values: { json?: boolean; help?: boolean; config?: string };
  try {
    ({ values } = parseArgs({
      args: [...args],
      options: { json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' }, config: { type: 'string' } },
    }));
  } catch {
    return { kind: 'misuse', json, problem: 'these arguments are not understood' };
  }
  if (values.help) return { kind: 'help' };
  const { config } = values;
  if (config !== undefined && !isAbsolute(config)) {
    return { kind: 'misuse', json, problem: '--config takes an absolute path' };
  }
  return { kind: 'examine', json, config };
}
