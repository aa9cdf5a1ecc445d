/** What setup works on and what it says about it (docs/setup.md). */

export type ClientName = 'codex' | 'claude-code';
export type Scope = 'user' | 'project' | 'local';
export type Operation = 'dry-run' | 'apply' | 'verify' | 'rollback' | 'remove';

/** One registration that a client can hold. */
export interface Target {
  readonly client: ClientName;
  /** Codex knows `user` only. */
  readonly scope: Scope;
}

export type Status = 'planned' | 'ok' | 'unchanged' | 'absent' | 'divergent' | 'unsupported' | 'failed';

export type RegistrationCode =
  | 'absent'
  | 'equivalent'
  | 'divergent'
  | 'already_equivalent'
  | 'divergence_requires_replacement'
  | 'registration_fingerprint_mismatch'
  | 'release_binding_mismatch'
  | 'applied'
  | 'pending_recovered'
  | 'ownership_unavailable'
  | 'apply_failed_recovery_pending'
  | 'registration_not_equivalent'
  | 'mcp_verified'
  | 'mcp_unsupported'
  | 'mcp_timeout'
  | 'mcp_failed'
  | 'rolled_back'
  | 'removed'
  | 'ownership_diverged'
  | 'cleanup_failed'
  | 'client_unsupported'
  | 'inspect_failed';

/** What stops a run before, or between, its targets. */
export type RunCode =
  | 'target_invalid'
  | 'config_required'
  | 'usage_invalid'
  | 'platform_unsupported'
  | 'operation_interrupted'
  | 'operation_failed'
  | 'doctor_failed'
  | 'release_unavailable'
  | 'ownership_unavailable';

export type SkillCode =
  | 'skill_absent'
  | 'skill_equivalent'
  | 'skill_linked'
  | 'skill_update_planned'
  | 'skill_divergent'
  | 'skill_source_invalid'
  | 'skill_installed'
  | 'skill_already_equivalent'
  | 'skill_updated'
  | 'skill_install_failed'
  | 'skill_verified'
  | 'skill_missing'
  | 'skill_not_equivalent'
  | 'skill_removed'
  | 'skill_kept_shared'
  | 'skill_not_owned';

export type CustomizationCode =
  | 'skill_customize_planned'
  | 'skill_customized'
  | 'skill_override_current'
  | 'skill_override_outdated'
  | 'skill_base_updated'
  | 'skill_not_shipped'
  | 'skill_bases_corrupt'
  | 'skill_override_invalid'
  | 'skill_customize_failed';

export type InitCode =
  | 'config_planned'
  | 'config_written'
  | 'config_exists'
  | 'config_write_failed'
  | 'workspace_invalid'
  | 'pi_unavailable'
  | 'model_unavailable'
  | 'thinking_level_unsupported';

export type ModeCode =
  | 'mode_planned'
  | 'mode_applied'
  | 'mode_unchanged'
  | 'mode_not_recorded'
  | 'mode_required'
  | 'mode_settings_invalid'
  | 'mode_write_failed'
  | 'modes_invalid'
  | 'workspace_unknown'
  | 'host_writes_not_accepted'
  | 'container_unusable'
  | 'image_missing';

export type WriterFindingCode =
  | 'writer_planned'
  | 'writer_provisioned'
  | 'writer_registered'
  | 'writer_ready'
  | 'writer_collected'
  | 'writer_finished'
  | 'writer_reset'
  | 'writer_recreated'
  | 'writer_removed'
  | 'writer_unchanged'
  | 'writer_absent'
  | 'writer_busy'
  | 'writer_not_provisioned'
  | 'writer_not_ready'
  | 'writer_has_work'
  | 'writer_unknown'
  | 'writers_none'
  | 'writer_gone'
  | 'writer_server_failed'
  | 'registration_absent'
  | 'registration_foreign'
  | 'writer_client_required'
  | 'image_missing'
  | 'image_unusable'
  | 'image_kept'
  | 'image_renewed'
  | 'limits_not_enforced'
  | 'writer_settings_changed'
  | 'writer_outlives_mode'
  | 'checkout_has_changes'
  | 'submodules_empty'
  | 'workspace_not_container'
  | 'control_required'
  | 'acceptance_required'
  | 'acceptance_outdated'
  | 'collection_incomplete'
  | 'branches_need_care'
  | 'earlier_work_kept'
  | 'work_left'
  | 'restart_unfinished'
  | 'removal_unfinished'
  | 'journal_unreadable'
  | 'clone_unreadable'
  | 'fence_unavailable'
  | 'interrupted'
  | 'defect'
  // One for each step of a writer (src/ports/writers/lifecycle.ts) but the look at its clone.
  | 'record_failed'
  | 'forget_failed'
  | 'clone_failed'
  | 'prepare_failed'
  | 'configure_failed'
  | 'wrap_failed'
  | 'register_failed'
  | 'control_failed'
  | 'accept_failed'
  | 'collect_failed'
  | 'reset_failed'
  | 'recreate_failed'
  | 'unregister_failed'
  | 'dispose_failed';

export type WakeCode =
  | 'wake_absent'
  | 'wake_equivalent'
  | 'wake_update_planned'
  | 'wake_disabled'
  | 'wake_divergent'
  | 'wake_installed'
  | 'wake_updated'
  | 'wake_already_equivalent'
  | 'wake_verified'
  | 'wake_missing'
  | 'wake_not_equivalent'
  | 'wake_removed'
  | 'wake_kept_shared'
  | 'wake_not_owned'
  | 'wake_unsupported'
  | 'wake_failed'
  | 'wake_manual'
  | 'wake_events_off';

export type SetupCode =
  | RegistrationCode
  | RunCode
  | SkillCode
  | CustomizationCode
  | InitCode
  | ModeCode
  | WriterFindingCode
  | WakeCode;

/** What one chart ends with: the status and the code of one finding. */
export interface Verdict<TCode extends SetupCode = SetupCode> {
  readonly status: Status;
  readonly code: TCode;
}

/** `configuration`: what a writer's server was told of its profiles, beside their names. */
export type SettingName =
  | 'writers'
  | 'lifecycle'
  | 'profiles'
  | 'image'
  | 'network'
  | 'cache'
  | 'configuration'
  | 'client';

/** Of what has come out of a writer: counts, and never a name (docs/writers-git.md). */
export interface FindingDetails {
  readonly branches?: number;
  /** Why it is incomplete. */
  readonly reasons?: Readonly<Record<string, number>>;
  /** What deserves a look. */
  readonly flags?: Readonly<Record<string, number>>;
  /** Earlier branches. */
  readonly kept?: number;
}

/** One line of a report. Nothing but these fields ever leaves setup. */
export interface Finding extends Verdict {
  readonly target: { readonly client: string; readonly scope: string; readonly alias: string };
  /** Of a mode: which one is recorded, or would be. */
  readonly mode?: 'host' | 'read-only' | 'container';
  /** Which settings are others than those that were recorded, or that a writer was made with. */
  readonly settings?: readonly SettingName[];
  readonly details?: FindingDetails;
}
