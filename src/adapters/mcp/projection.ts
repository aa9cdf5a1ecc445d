/**
 * What may leave the server: each view copies named fields, so that a field
 * added to a record stays inside until somebody lists it here.
 */
import type { Configuration, ExecutionProfile, ThinkingLevel, WorkspaceMode } from '../../config/configuration.ts';
import type {
  PermissionProfile,
  SessionRecord,
  SessionState,
  TurnRecord,
  TurnState,
} from '../../ports/session-service.ts';
import { SERVER_NAME, SERVER_VERSION } from '../../version.ts';
import { TURN_FAILED } from './messages.ts';

export interface SessionView {
  readonly id: string;
  readonly workspace: string;
  readonly executionProfile: string;
  readonly profile: PermissionProfile;
  readonly provider: string;
  readonly model: string;
  readonly thinkingLevel: string;
  readonly state: SessionState;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly lastError?: string;
}

export interface TurnView {
  readonly turnId: string;
  readonly sessionId: string;
  readonly state: TurnState;
  readonly startedAt: string;
  readonly updatedAt: string;
  readonly completedAt?: string;
  readonly assistantText?: string;
  readonly truncated?: boolean;
  readonly error?: { readonly code: string; readonly message: string };
}

export interface ExecutionProfileView {
  readonly alias: string;
  readonly default: boolean;
  readonly permissionProfile: PermissionProfile;
  readonly provider: string;
  readonly model: string;
  readonly thinkingLevel: ThinkingLevel;
  readonly extensions: readonly string[];
  readonly grantedExtensionTools: readonly string[];
  readonly skills: readonly string[];
}

export interface CapabilitiesView {
  readonly server: { readonly name: string; readonly version: string };
  readonly configuration: { readonly fingerprint: string; readonly reloadPolicy: 'restart-required' };
  readonly workspaces: readonly { readonly alias: string; readonly mode: WorkspaceMode }[];
  readonly executionProfiles: readonly ExecutionProfileView[];
}

function iso(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

/** The public form of a session. */
export function sessionView(record: SessionRecord): SessionView {
  return {
    id: record.id,
    workspace: record.workspace,
    executionProfile: record.executionProfile,
    profile: record.profile,
    provider: record.provider,
    model: record.model,
    thinkingLevel: record.thinkingLevel,
    state: record.state,
    createdAt: iso(record.createdAt),
    updatedAt: iso(record.updatedAt),
    ...(record.lastTurnFailed && { lastError: TURN_FAILED.message }),
  };
}

/** The public form of a turn; text and error only in the state they belong to. */
export function turnView(record: TurnRecord): TurnView {
  return {
    turnId: record.turnId,
    sessionId: record.sessionId,
    state: record.state,
    startedAt: iso(record.startedAt),
    updatedAt: iso(record.updatedAt),
    // `updatedAt` freezes at the terminal transition, so it is the end as well.
    ...(record.state !== 'running' && { completedAt: iso(record.completedAt ?? record.updatedAt) }),
    ...(record.state === 'completed' && {
      assistantText: record.assistantText ?? '',
      truncated: record.truncated ?? false,
    }),
    ...(record.state === 'failed' && { error: { ...TURN_FAILED } }),
  };
}

function profileView(profile: ExecutionProfile): ExecutionProfileView {
  return {
    alias: profile.alias,
    default: profile.default,
    permissionProfile: profile.permissionProfile,
    provider: profile.provider,
    model: profile.model,
    thinkingLevel: profile.thinkingLevel,
    extensions: [...profile.extensions],
    grantedExtensionTools: [...profile.grantedExtensionTools],
    skills: profile.skills.map((skill) => skill.alias),
  };
}

/** Aliases are ASCII, so comparing UTF-16 units compares code points. */
function byAlias(a: { readonly alias: string }, b: { readonly alias: string }): number {
  return a.alias < b.alias ? -1 : a.alias > b.alias ? 1 : 0;
}

/** Intent from the loaded configuration alone; computed once, probes nothing. */
export function capabilitiesView(configuration: Configuration): CapabilitiesView {
  return {
    server: { name: SERVER_NAME, version: SERVER_VERSION },
    configuration: { fingerprint: configuration.fingerprint, reloadPolicy: 'restart-required' },
    workspaces: Object.values(configuration.workspaces)
      .map(({ alias, mode }) => ({ alias, mode }))
      .sort(byAlias),
    executionProfiles: Object.values(configuration.executionProfiles).map(profileView).sort(byAlias),
  };
}
