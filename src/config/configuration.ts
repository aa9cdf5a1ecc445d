/**
 * The loaded configuration: validated, resolved and deeply frozen. Everything
 * at run time reads this and never the file again.
 */
import type { PermissionProfile } from '../ports/session-service.ts';
import type { CACHES, LIFECYCLES, NETWORKS } from './limits.ts';

export const THINKING_LEVELS = ['off', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
export type ThinkingLevel = (typeof THINKING_LEVELS)[number];

/** `unset`: the operator has not chosen yet; behaves like `host`, and Doctor warns (docs/configuration.md). */
export type WorkspaceMode = 'unset' | 'host' | 'container' | 'read-only';

/** No image: the box has this machine's programs, read-only (docs/boundary.md). */
export const DEFAULT_IMAGE = 'node';

/** How the writers of a `container` workspace are meant to be; intent, not proof that any exists (docs/configuration.md). */
export interface ContainerSettings {
  /** 1–16. */
  readonly writers: number;
  readonly lifecycle: (typeof LIFECYCLES)[number];
  /** Aliases of coding profiles, in configured order; at least one. */
  readonly profiles: readonly string[];
  /** `DEFAULT_IMAGE`, or the name of an image in the operator's Podman. */
  readonly image: string;
  /** `pasta` means slirp4netns where Podman is too old for it. */
  readonly network: (typeof NETWORKS)[number];
  readonly cache: (typeof CACHES)[number];
}

export interface Workspace {
  readonly alias: string;
  /** Absolute directory; never leaves the process. */
  readonly directory: string;
  readonly mode: WorkspaceMode;
  /** Present exactly when the mode is `container`. */
  readonly container?: ContainerSettings;
}

export interface GrantedServer {
  readonly alias: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Name in the child's environment → name in the server's own environment. */
  readonly envFrom: Readonly<Record<string, string>>;
  /** Tool alias → the server's tool. */
  readonly tools: Readonly<Record<string, { readonly name: string; readonly readOnly: boolean }>>;
}

export interface SelectedSkill {
  readonly alias: string;
  /** Absolute path of the SKILL.md that the alias resolved to when the configuration loaded. */
  readonly path: string;
}

export interface ExecutionProfile {
  readonly alias: string;
  readonly default: boolean;
  readonly permissionProfile: PermissionProfile;
  readonly provider: string;
  readonly model: string;
  readonly thinkingLevel: ThinkingLevel;
  /** `npm:<name>@<version>`, in configured order. */
  readonly extensions: readonly string[];
  readonly grantedExtensionTools: readonly string[];
  readonly skills: readonly SelectedSkill[];
  readonly mcpServers: readonly GrantedServer[];
}

export interface Configuration {
  /** `sha256:<64 hex>` over the exact bytes that were parsed. */
  readonly fingerprint: string;
  /** Absolute directory of the configuration file. */
  readonly directory: string;
  /** Null-prototype, frozen; look aliases up directly. */
  readonly workspaces: Readonly<Record<string, Workspace>>;
  readonly executionProfiles: Readonly<Record<string, ExecutionProfile>>;
  /** Alias of the one profile with `default: true`. */
  readonly defaultExecutionProfile: string;
  /** Present when the operator wants turn events delivered (docs/turn-events.md). */
  readonly turnEvents?: true;
}

export type StartupCode =
  | 'config_path_required'
  | 'config_unreadable'
  | 'config_not_json'
  | 'invalid_execution_profile_config'
  | 'invalid_thinking_level'
  | 'invalid_execution_modes'
  | 'nested_server_refused'
  | 'node_version_unsupported'
  | 'startup_failed';
