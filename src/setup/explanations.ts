/** What each code means for the operator, and what to do next. Fixed texts: no value ever enters one. */
import type { SetupCode } from '../ports/setup/target.ts';
import { APPLY, type Explanation } from './explanation.ts';
import { WRITER } from './writers/explanations.ts';

const DOCTOR = 'Run pi-session-mcp-doctor with the same configuration; it names what is wrong.';
const AGAIN = 'Run the same command again.';
const OUT = 'with the client (claude mcp remove pi-session-mcp -s SCOPE, or codex mcp remove pi-session-mcp)';
const LOOK = 'Look at it with the client (claude mcp get pi-session-mcp, or codex mcp get pi-session-mcp)';

const RUN: Readonly<Record<string, Explanation>> = {
  config_required: {
    meaning: 'No configuration was named, or not by an absolute path.',
    next: 'Give its absolute path with --config or in PI_SESSION_MCP_CONFIG, or write a first one with --init.',
  },
  platform_unsupported: {
    meaning: 'Setup works on Linux and macOS only.',
    next: 'Register the server by hand; docs/installation.md shows how.',
  },
  operation_interrupted: { meaning: 'The run was interrupted; nothing of it is left running.', next: AGAIN },
  operation_failed: {
    meaning: 'The run failed unexpectedly; what setup owns is on record.',
    next: 'See that HOME is an absolute path and that the working directory exists, then run the same command again.',
  },
  doctor_failed: { meaning: 'The offline check found errors, so nothing was changed.', next: DOCTOR },
  release_unavailable: {
    meaning: 'The files of this package cannot be read completely, or there is a link among them.',
    next: 'Install the package again, or build it, and start setup from there.',
  },
};

const REGISTRATION: Readonly<Record<string, Explanation>> = {
  absent: { meaning: 'Not registered.', next: APPLY },
  equivalent: { meaning: 'Registered exactly as it should be.' },
  divergent: {
    meaning: 'Another entry of this name is registered; setup leaves it alone.',
    next: `${LOOK}; remove it there if you do not need it, then --apply.`,
  },
  already_equivalent: { meaning: 'Already registered exactly like this; nothing was changed.' },
  divergence_requires_replacement: {
    meaning: 'Another entry of this name is registered; setup never replaces one.',
    next: `${LOOK}; remove it there if you do not need it, then --apply.`,
  },
  registration_fingerprint_mismatch: {
    meaning: 'Setup registered this with another Node, package or configuration path.',
    next: `Run --remove with the installation and --config that registered it, then --apply with this one. Is it gone? Remove the entry ${OUT}, run --remove once, then --apply.`,
  },
  release_binding_mismatch: {
    meaning: 'The package has changed since it was registered.',
    next: `Remove the entry ${OUT}, run --remove once, then --apply.`,
  },
  applied: {
    meaning: 'Registered. The client starts the server in its next session.',
    next: 'The same command with --verify checks it.',
  },
  pending_recovered: {
    meaning: 'An interrupted run had registered it; it is complete now.',
    next: 'The same command with --verify checks it.',
  },
  ownership_unavailable: {
    meaning: 'Setup has no usable record of this, or another run holds the lock; nothing was changed.',
    next: `If another setup is running, wait for it. If setup did not register this, remove it ${OUT}.`,
  },
  apply_failed_recovery_pending: {
    meaning: 'The client did not end up with the entry; the attempt is on record.',
    next: `${AGAIN} It finishes what was begun, or says why it cannot.`,
  },
  registration_not_equivalent: {
    meaning: 'The client does not hold the expected entry.',
    next: 'The same command with --dry-run shows more.',
  },
  mcp_verified: { meaning: 'The server started, listed its eight tools and answered.' },
  mcp_unsupported: { meaning: 'The server answered, but not like this version.', next: 'Install the package again.' },
  mcp_timeout: { meaning: 'The server did not answer in time.', next: AGAIN },
  mcp_failed: { meaning: 'The server did not start or gave no valid answer.', next: DOCTOR },
  rolled_back: { meaning: 'The registration is gone again.' },
  removed: { meaning: 'The registration is gone.' },
  ownership_diverged: {
    meaning: 'What is registered is not what setup registered; it was left alone.',
    next: `Remove the entry ${OUT}, then run --remove once to clear the record.`,
  },
  cleanup_failed: { meaning: 'The entry could not be removed, or its record not cleared.', next: AGAIN },
  client_unsupported: {
    meaning: 'The client is not installed here, or prints what setup does not understand; nothing was changed.',
    next: 'Run claude mcp list or codex mcp list: does it run, is its configuration intact? Claude Code also cannot show a path with control characters or ${.',
  },
  inspect_failed: {
    meaning: 'The client did not come to an end or printed too much; nothing was changed.',
    next: AGAIN,
  },
};

const SKILL: Readonly<Record<string, Explanation>> = {
  skill_absent: { meaning: 'The controller skill is not installed.' },
  skill_equivalent: { meaning: 'The controller skill is installed as it should be.' },
  skill_linked: { meaning: 'Your own link to the skill is as good; it stays yours.' },
  skill_update_planned: {
    meaning: 'The installed skill is older than yours.',
    next: APPLY,
  },
  skill_divergent: {
    meaning: 'The skill there was edited, or is not from setup; it was left alone.',
    next: 'To keep changes, move them to your own version (--customize-skill). Delete the copy; --apply installs it again.',
  },
  skill_source_invalid: {
    meaning: 'The skill to install cannot be used, or its place cannot be resolved.',
    next: 'Check your own version in the skills/ directory beside the configuration.',
  },
  skill_installed: { meaning: 'The controller skill was installed; the client finds it by itself.' },
  skill_already_equivalent: { meaning: 'The controller skill was already there.' },
  skill_updated: { meaning: 'The controller skill was updated.' },
  skill_install_failed: { meaning: 'The controller skill could not be installed.', next: AGAIN },
  skill_verified: { meaning: 'The controller skill is installed as it should be.' },
  skill_missing: {
    meaning: 'The controller skill is not installed.',
    next: APPLY,
  },
  skill_not_equivalent: {
    meaning: 'Another version of the controller skill is installed.',
    next: 'The same command with --dry-run shows more.',
  },
  skill_removed: { meaning: 'The controller skill is gone.' },
  skill_kept_shared: { meaning: 'The skill stays: another registration of this client still uses it.' },
  skill_not_owned: { meaning: 'The skill there is not from setup and stays.' },
};

const CUSTOMIZATION: Readonly<Record<string, Explanation>> = {
  skill_customize_planned: {
    meaning: 'You have no version of this skill.',
    next: APPLY,
  },
  skill_customized: {
    meaning: 'The shipped skill was copied to skills/ beside your configuration.',
    next: 'Edit it there and restart the server; for the controller skill run --apply for your target again.',
  },
  skill_override_current: { meaning: 'Your version is based on the skill that ships now.' },
  skill_override_outdated: {
    meaning: 'The shipped skill has changed since you copied it, or nobody knows what you copied.',
    next: 'Merge what you want by hand; --apply then acknowledges it and never touches your files.',
  },
  skill_base_updated: { meaning: 'The change is acknowledged. Your files are untouched.' },
  skill_not_shipped: {
    meaning: 'The package ships no skill of this name.',
    next: 'Shipped: pi-session-orchestration, pi-session-implementation, pi-session-review.',
  },
  skill_bases_corrupt: {
    meaning: 'The record of what your versions are based on cannot be read.',
    next: 'Repair or remove skills/.pi-session-mcp-bases.json beside your configuration.',
  },
  skill_override_invalid: { meaning: 'What is in the place of your version is no usable skill directory.' },
  skill_customize_failed: { meaning: 'The skill could not be copied or recorded.', next: AGAIN },
};

const INIT: Readonly<Record<string, Explanation>> = {
  config_planned: { meaning: 'This configuration would be written.', next: 'Leave out --dry-run to write it.' },
  config_written: { meaning: 'The configuration was written, readable by you alone.' },
  config_exists: {
    meaning: 'There is a configuration, or execution-modes.json, in that place; nothing was changed.',
    next: 'Edit it by hand (docs/configuration.md), or give another place with --config.',
  },
  config_write_failed: {
    meaning: 'The configuration could not be written; nothing was left behind.',
    next: 'See that its directory can be made and written to, and that the disk has room.',
  },
  workspace_invalid: {
    meaning: 'The workspace is not an existing directory with a usable name.',
    next: 'Give it as --workspace ALIAS=DIRECTORY; an alias is lower-case letters, digits, - and _.',
  },
  pi_unavailable: { meaning: "Pi's own files cannot be read.", next: 'Run pi once and see what it says.' },
  model_unavailable: {
    meaning: 'Pi has no such model with a credential.',
    next: 'Run pi, then /login, or set an API key as Pi documents it; /model lists the exact names.',
  },
  thinking_level_unsupported: {
    meaning: 'The model does not support this thinking level.',
    next: 'Leave out --thinking to get one that it supports.',
  },
};

const MODE: Readonly<Record<string, Explanation>> = {
  mode_planned: { meaning: 'This mode would be recorded.', next: APPLY },
  mode_applied: {
    meaning: 'The mode is recorded.',
    next: 'It holds for servers that start from now on: start a new session of the client.',
  },
  mode_unchanged: { meaning: 'Exactly this mode is recorded already.' },
  mode_not_recorded: {
    meaning: 'This mode is not recorded, and the one before holds; the rest of this report says why.',
  },
  mode_required: {
    meaning: 'No container can be used here, or no profile for coding can work in one, so the choice is yours.',
    next: 'Give --mode read-only, or --mode host with --accept-host-writes. --mode container --profiles A,B, where A,B are profiles for coding, says what is missing.',
  },
  mode_settings_invalid: {
    meaning: 'A profile of --profiles is none, is not for coding, uses Cursor, or is named twice; nothing was changed.',
    next: 'Name profiles of your configuration whose permissionProfile is coding.',
  },
  mode_write_failed: { meaning: 'execution-modes.json could not be written; it is as it was.' },
  modes_invalid: { meaning: 'execution-modes.json cannot be used as it is; nothing was changed.', next: DOCTOR },
  workspace_unknown: { meaning: 'The configuration has no workspace of this name.' },
  host_writes_not_accepted: {
    meaning: 'In mode host, sessions change files in your own checkout and run commands with your rights.',
    next: 'If that is what you want, add --accept-host-writes.',
  },
  container_unusable: {
    meaning: 'Rootless Podman cannot be used here; nothing was changed, and no weaker mode was taken instead.',
    next: 'docs/boundary.md lists what it needs; scripts/install-podman.sh installs that on Debian.',
  },
};

const WAKE: Readonly<Record<string, Explanation>> = {
  wake_absent: {
    meaning: 'The wake hook is not installed.',
    next: APPLY,
  },
  wake_equivalent: { meaning: 'The wake hook is installed as it should be.' },
  wake_update_planned: {
    meaning: 'The wake hook is of another release, or half installed.',
    next: APPLY,
  },
  wake_disabled: {
    meaning: 'You have switched the wake hook off in Claude Code; setup does not switch it on again.',
    next: 'claude plugin enable pi-session-mcp-wake@pi-session-mcp switches it on.',
  },
  wake_divergent: {
    meaning: 'A plugin or marketplace of this name is not from setup, or not where setup puts it; it was left alone.',
    next: 'claude plugin list and claude plugin marketplace list show it; remove it there if you do not need it.',
  },
  wake_installed: {
    meaning: 'The wake hook was installed as a plugin of Claude Code; its next session has it.',
    next: 'The same command with --verify checks it.',
  },
  wake_updated: { meaning: 'The wake hook was updated; the next session of Claude Code has it.' },
  wake_already_equivalent: { meaning: 'The wake hook was already there.' },
  wake_verified: { meaning: 'The wake hook is installed as it should be.' },
  wake_missing: {
    meaning: 'The wake hook is not installed.',
    next: APPLY,
  },
  wake_not_equivalent: {
    meaning: 'What is installed is not the wake hook of this release.',
    next: 'The same command with --dry-run shows more.',
  },
  wake_removed: { meaning: 'The wake hook is gone; a session that runs keeps it to its end.' },
  wake_kept_shared: { meaning: 'The wake hook stays: another registration of Claude Code still uses it.' },
  wake_not_owned: { meaning: 'Setup has installed no wake hook, so none was removed.' },
  wake_unsupported: {
    meaning: 'Claude Code is not installed here, or its plugin commands print what setup does not understand.',
    next: 'Waking needs a newer Claude Code; everything else works without it.',
  },
  wake_failed: {
    meaning: 'Claude Code did not come to what was asked of it; the attempt is on record.',
    next: `${AGAIN} It finishes what was begun.`,
  },
  wake_manual: {
    meaning: 'Codex has no command that adds or removes a hook, so nothing was changed or checked: it is yours to do.',
    next:
      'pi-session-mcp-setup --print-codex-hook prints what belongs into, or comes out of, config.toml of Codex. ' +
      'At its next start Codex says that a hook needs review: look at the command and trust it.',
  },
  wake_events_off: {
    meaning: 'Turn events are off, so nobody is woken.',
    next: 'Set "turnEvents": true in execution-modes.json beside the configuration, and start the client again.',
  },
};

const ALL: Readonly<Record<string, Explanation>> = {
  ...RUN,
  ...REGISTRATION,
  ...SKILL,
  ...CUSTOMIZATION,
  ...INIT,
  ...MODE,
  ...WRITER,
  ...WAKE,
};

/** @returns Nothing for a code that explains itself, like the two of misuse. */
export function explain(code: SetupCode): Explanation | undefined {
  return ALL[code];
}
