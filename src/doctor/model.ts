/** What the doctor says, and in which order (docs/doctor.md). The human and the JSON form are projections of it. */

export const CHECK_IDS = [
  'node_version_unsupported',
  'package_metadata_unreadable',
  'build_missing',
  'build_stale',
  'version_mismatch',
  'config_missing',
  'config_unreadable',
  'config_invalid',
  'workspace_missing',
  'workspace_not_directory',
  'workspace_unreadable',
  'workspace_not_writable',
  'workspace_gitfile',
  'workspace_mode_unset',
  'workspace_host_writes_accepted',
  'podman_missing',
  'podman_unusable',
  'extension_missing',
  'extension_version_mismatch',
  'skill_missing',
  'skill_unreadable',
  'skill_duplicate',
  'skill_override_outdated',
  'doctor_cli_unavailable',
  'mcp_command_unusable',
  'mcp_environment_missing',
  'search_tool_missing',
  'client_environment_lacks',
  'node_path_unstable',
  'package_path_unstable',
] as const;
export type CheckId = (typeof CHECK_IDS)[number];
export type Severity = 'ok' | 'warning' | 'error';

export interface DoctorCheck {
  readonly id: CheckId;
  readonly severity: Severity;
  /** A fixed component name, validated aliases, or `skill:<name>`; never a path or a value. */
  readonly subject: string;
  /** Fixed text; with `config_invalid` also the declared field and its rule. */
  readonly remediation?: string;
}

export const EXIT = { clean: 0, warnings: 1, errors: 2, misuse: 64 } as const;

export interface DoctorResult {
  readonly schemaVersion: 1;
  /** Nothing was found: exactly when `exitCode` is 0. */
  readonly ok: boolean;
  readonly packageVersion?: string;
  /** By id in the order of `CHECK_IDS`, then by subject in code points. */
  readonly checks: readonly DoctorCheck[];
  readonly exitCode: (typeof EXIT)[keyof typeof EXIT];
}

/** The way it was called could not be understood; nothing was looked at. */
export const MISUSE: DoctorResult = { schemaVersion: 1, ok: false, checks: [], exitCode: EXIT.misuse };

export function resultOf(checks: readonly DoctorCheck[], packageVersion?: string): DoctorResult {
  const ordered = [...checks].sort(
    (a, b) => CHECK_IDS.indexOf(a.id) - CHECK_IDS.indexOf(b.id) || compare(a.subject, b.subject),
  );
  const exitCode = statusOf(ordered);
  return {
    schemaVersion: 1,
    ok: exitCode === EXIT.clean,
    ...(packageVersion === undefined ? {} : { packageVersion }),
    checks: ordered,
    exitCode,
  };
}

function statusOf(checks: readonly DoctorCheck[]): DoctorResult['exitCode'] {
  if (checks.some(({ severity }) => severity === 'error')) return EXIT.errors;
  return checks.some(({ severity }) => severity === 'warning') ? EXIT.warnings : EXIT.clean;
}

/** Subjects are ASCII, where the order of code units is that of code points. */
function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
