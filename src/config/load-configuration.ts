import { dirname, isAbsolute, join, resolve } from 'node:path';
import type { Configuration, StartupCode, Workspace } from './configuration.ts';
import { type ExecutionModes, NO_MODES, parseExecutionModes } from './execution-modes.ts';
import type { ConfigurationFiles, ReadFailure } from './files.ts';
import { type ConfigIssue, IssueLog } from './issues.ts';
import { MAX_FILE_BYTES } from './limits.ts';
import { type ParsedConfiguration, parseConfiguration } from './parse-configuration.ts';
import { deepFreeze, recordOf } from './records.ts';
import { parseStrictJson } from './strict-json.ts';

const CONFIG_VARIABLE = 'PI_SESSION_MCP_CONFIG';
/** Where the execution modes of a configuration are; both absolute. */
export const modesFileOf = (configuration: string): string => join(dirname(configuration), 'execution-modes.json');

export interface LoadInput {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Absolute root of the package; `builtin:` falls back to its `skills/`. */
  readonly packageRoot: string;
  readonly files: ConfigurationFiles;
}

export interface LoadFailure {
  readonly ok: false;
  readonly code: StartupCode;
  /** At most 50, in the order of the file; free of paths and values. */
  readonly issues: readonly ConfigIssue[];
  /** With `config_unreadable` only. */
  readonly reason?: ReadFailure;
}

export type LoadResult = { readonly ok: true; readonly configuration: Configuration } | LoadFailure;

/**
 * Loads the configuration that `PI_SESSION_MCP_CONFIG` names, and the execution
 * modes beside it. Each file is read once; the result is deeply frozen. Every
 * failure is a startup code (docs/configuration.md); only defects throw.
 *
 * The variable must hold an absolute path: a relative one would depend on the
 * working directory, which is somebody's project and not the operator's word.
 */
export function loadConfiguration({ env, packageRoot, files }: LoadInput): LoadResult {
  const named = env[CONFIG_VARIABLE];
  if (named === undefined || named === '') return failed('config_path_required', CONFIG_VARIABLE, 'is not set');
  if (!isAbsolute(named)) return failed('config_path_required', CONFIG_VARIABLE, 'must be an absolute path');
  const path = resolve(named);
  const file = files.read(path, MAX_FILE_BYTES);
  if (!file.ok) {
    return { ...failed('config_unreadable', 'document', READ_PROBLEMS[file.reason]), reason: file.reason };
  }

  const log = new IssueLog('configuration');
  const json = parseStrictJson(file.bytes, log);
  if (!json.ok && json.problem === 'not_json') return failed('config_not_json', 'document', 'is not JSON in UTF-8');
  const directory = dirname(path);
  const parsed = json.ok ? parseConfiguration(json.value, { directory, packageRoot, files }, log) : undefined;
  if (!json.ok || parsed === undefined) {
    const code = log.onlyThinkingLevels ? 'invalid_thinking_level' : 'invalid_execution_profile_config';
    return { ok: false, code, issues: log.issues };
  }

  const modesLog = new IssueLog('execution-modes');
  const modes = loadModes(modesFileOf(path), parsed, files, modesLog);
  if (!modesLog.empty) return { ok: false, code: 'invalid_execution_modes', issues: modesLog.issues };
  const workspaces = [...parsed.workspaces].map(([alias, root]): [string, Workspace] => [
    alias,
    { alias, directory: root, mode: 'unset', ...modes.choices.get(alias) },
  ]);
  const configuration = {
    directory,
    workspaces: recordOf(workspaces),
    executionProfiles: parsed.executionProfiles,
    defaultExecutionProfile: parsed.defaultExecutionProfile,
    ...(modes.turnEvents && { turnEvents: true as const }),
  };
  return { ok: true, configuration: withFingerprint(deepFreeze(configuration), file.bytes) };
}

/**
 * The fingerprint is of the bytes that were parsed, but taken when it is first
 * asked for: loading node:crypto would delay the answer to every `initialize`.
 */
function withFingerprint(parts: Omit<Configuration, 'fingerprint'>, bytes: Uint8Array): Configuration {
  let fingerprint: string | undefined;
  return Object.freeze({
    ...parts,
    get fingerprint() {
      fingerprint ??= `sha256:${process.getBuiltinModule('node:crypto').hash('sha256', bytes, 'hex')}`;
      return fingerprint;
    },
  });
}

const READ_PROBLEMS: Readonly<Record<ReadFailure, string>> = {
  missing: 'does not exist',
  not_a_file: 'is not a regular file',
  too_large: `has more than ${MAX_FILE_BYTES} bytes`,
  unreadable: 'cannot be read',
};

/** No file means no choice yet. Any other trouble with it must not turn into permission to write. */
function loadModes(
  path: string,
  parsed: ParsedConfiguration,
  files: ConfigurationFiles,
  log: IssueLog,
): ExecutionModes {
  const file = files.read(path, MAX_FILE_BYTES);
  if (file.ok) {
    const context = { workspaces: new Set(parsed.workspaces.keys()), profiles: parsed.executionProfiles };
    return parseExecutionModes(file.bytes, context, log);
  }
  if (file.reason !== 'missing') log.add([], READ_PROBLEMS[file.reason]);
  return NO_MODES;
}

function failed(code: StartupCode, field: string, problem: string): LoadFailure {
  return { ok: false, code, issues: [{ subject: 'configuration', field, problem }] };
}
