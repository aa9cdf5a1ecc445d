/** How bad each finding is, and what to do about it. Texts are fixed: they hold no path, value or alias. */
import type { CheckId, DoctorCheck, Severity } from './model.ts';

interface Remedy {
  readonly severity: Severity;
  readonly text: string;
}

const error = (text: string): Remedy => ({ severity: 'error', text });
const warning = (text: string): Remedy => ({ severity: 'warning', text });

const REINSTALL = 'Install the package again; in a checkout, run "npm ci" and "npm run build".';
const PATH_OF_SKILL = 'the path in "skillCatalog"';

const REMEDIES: Readonly<Record<CheckId, Remedy>> = {
  node_version_unsupported: error('Use Node 22.19 or newer, and register the server with it.'),
  package_metadata_unreadable: error(`The package.json of this package is damaged. ${REINSTALL}`),
  build_missing: error(`Files of the build are missing, or are not those that were built. ${REINSTALL}`),
  build_stale: warning('The sources have changed since the build. Run "npm run build".'),
  version_mismatch: error(`The build belongs to another version than package.json. ${REINSTALL}`),
  config_missing: error(
    'Set PI_SESSION_MCP_CONFIG to the absolute path of an existing configuration file, or pass --config PATH.',
  ),
  config_unreadable: error(
    'Make the configuration a regular file of at most 1 MiB that you may read; a link must lead to one.',
  ),
  config_invalid: error('Correct the configuration; docs/configuration.md has the rules.'),
  workspace_missing: error('Create the directory, or correct its path in "workspaces".'),
  workspace_not_directory: error('Let the path in "workspaces" lead to a directory.'),
  workspace_unreadable: error('Give yourself read and search permission on the directory.'),
  workspace_not_writable: error(
    'Give yourself write permission on the directory, or set its mode to "read-only" in execution-modes.json.',
  ),
  workspace_gitfile: warning(
    'A linked worktree or submodule shares hooks and settings with its repository. Use a full clone for coding.',
  ),
  workspace_mode_unset: warning(
    'Coding may write here because nobody has chosen a mode. Choose one with "pi-session-mcp-setup --repo ALIAS".',
  ),
  workspace_host_writes_accepted: { severity: 'ok', text: '' },
  podman_missing: error('Install Podman, or choose another mode for this workspace.'),
  podman_unusable: error(
    'Writers need rootless Podman on Linux: run as an ordinary user, or choose another mode for this workspace.',
  ),
  extension_missing: error('Install the pinned version with "pi install", as the user whose sessions load it.'),
  extension_version_mismatch: error(
    'Install the pinned version with "pi install", or pin the version that is installed; a linked package does not count.',
  ),
  skill_missing: error(`Create the file, or correct ${PATH_OF_SKILL}.`),
  skill_unreadable: error(`Let ${PATH_OF_SKILL} lead to a regular file of 1 byte to 256 KiB that you may read.`),
  skill_duplicate: error('Take one of the two aliases that lead to the same file out of "skills".'),
  skill_override_outdated: warning(
    'The shipped skill has changed since it was copied. Review it, then run "pi-session-mcp-setup --apply --customize-skill NAME".',
  ),
  doctor_cli_unavailable: error(
    `The doctor itself cannot be loaded: files of the build are missing, or this Node is older than 22.19. ${REINSTALL}`,
  ),
  mcp_command_unusable: error('Let "command" of this server be the absolute path of a file that you may execute.'),
  mcp_environment_missing: warning(
    'A variable that "envFrom" reads is not set here. Set it where the client is started, or sessions of this profile cannot start.',
  ),
  search_tool_missing: warning(
    'Install it (ripgrep for rg, fd or fdfind for fd), or the grep and find tools of Pi download it or fail.',
  ),
  client_environment_lacks: warning('Codex does not pass this variable on to the server.'),
  node_path_unstable: warning(
    'This Node disappears when its version manager, Homebrew or a clean-up replaces it. Register the server with a Node that stays, or run setup again after each change.',
  ),
  package_path_unstable: warning(
    'The package lies in a cache or a temporary directory. Install it for good, with "npm install -g", before you register it.',
  ),
};

/** A finding, with its severity and its text; `text` only where the fixed one is not enough. */
export function finding(id: CheckId, subject: string, text: string = REMEDIES[id].text): DoctorCheck {
  return { id, severity: REMEDIES[id].severity, subject, remediation: text };
}

export function passed(id: CheckId, subject: string): DoctorCheck {
  return { id, severity: 'ok', subject };
}

export function judge(id: CheckId, subject: string, isGood: boolean): DoctorCheck {
  return isGood ? passed(id, subject) : finding(id, subject);
}
