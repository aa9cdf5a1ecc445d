/** `execution-modes.json`, the operator's choice per workspace (docs/configuration.md). */
import * as z from 'zod/mini';
import { type ContainerSettings, DEFAULT_IMAGE, type ExecutionProfile, type WorkspaceMode } from './configuration.ts';
import type { IssueLog } from './issues.ts';
import {
  CACHES,
  IMAGE_NAME,
  isWriterCount,
  LIFECYCLES,
  MAX_CONTAINER_PROFILES,
  MAX_WRITERS,
  NETWORKS,
} from './limits.ts';
import { list } from './schema.ts';
import { parseStrictJson } from './strict-json.ts';

export interface ModeChoice {
  readonly mode: WorkspaceMode;
  readonly container?: ContainerSettings;
}

export interface ExecutionModes {
  /** Workspaces without an entry are not in it. */
  readonly choices: ReadonlyMap<string, ModeChoice>;
  readonly turnEvents: boolean;
}

export interface ModeContext {
  readonly workspaces: ReadonlySet<string>;
  readonly profiles: Readonly<Record<string, ExecutionProfile>>;
}

/** Built when there is a file to read, so that a start without one does not pay for them. */
function schemas() {
  return {
    document: z.strictObject({
      schemaVersion: z.literal(1),
      workspaces: z.record(z.string(), z.unknown()),
      turnEvents: z._default(z.boolean(), false),
    }),
    host: z.strictObject({ mode: z.literal('host'), acceptHostWrites: z.literal(true) }),
    container: z.strictObject({
      mode: z.literal('container'),
      writers: z._default(
        z.number().check(z.refine(isWriterCount, `must be a whole number from 1 to ${MAX_WRITERS}`)),
        1,
      ),
      lifecycle: z._default(z.enum(LIFECYCLES), LIFECYCLES[0]),
      profiles: list(z.string(), MAX_CONTAINER_PROFILES).check(
        z.refine((names) => names.length > 0, 'must have at least 1 entry'),
      ),
      image: z._default(z.string().check(z.regex(IMAGE_NAME, 'must be an image name or id')), DEFAULT_IMAGE),
      network: z._default(z.enum(NETWORKS), NETWORKS[0]),
      cache: z._default(z.enum(CACHES), CACHES[0]),
    }),
    'read-only': z.strictObject({ mode: z.literal('read-only') }),
  };
}

/** What holds without a file. */
export const NO_MODES: ExecutionModes = { choices: new Map(), turnEvents: false };

/** Reads the modes. Whatever is wrong goes to the log, and then the result must not be used. */
export function parseExecutionModes(bytes: Uint8Array, context: ModeContext, log: IssueLog): ExecutionModes {
  const choices = new Map<string, ModeChoice>();
  const parsed = parseStrictJson(bytes, log);
  if (!parsed.ok) {
    if (parsed.problem === 'not_json') log.add([], 'is not JSON in UTF-8');
    return NO_MODES;
  }
  const shapes = schemas();
  const document = shapes.document.safeParse(parsed.value);
  if (!document.success) {
    log.addAll([], document.error);
    return NO_MODES;
  }
  for (const [alias, entry] of Object.entries(document.data.workspaces)) {
    if (log.settled) break;
    const choice = parseEntry(alias, entry, shapes, context, log);
    if (choice !== undefined) choices.set(alias, choice);
  }
  return { choices, turnEvents: document.data.turnEvents };
}

function parseEntry(
  alias: string,
  entry: unknown,
  shapes: ReturnType<typeof schemas>,
  context: ModeContext,
  log: IssueLog,
): ModeChoice | undefined {
  const path = ['workspaces', alias];
  if (!context.workspaces.has(alias))
    log.add(path, 'has an entry in execution-modes.json, and the configuration has no such workspace');
  const mode = typeof entry === 'object' && entry !== null && 'mode' in entry ? entry.mode : undefined;
  if (mode !== 'host' && mode !== 'container' && mode !== 'read-only') {
    log.add([...path, 'mode'], 'must be "host", "container" or "read-only"');
    return undefined;
  }
  const result = shapes[mode].safeParse(entry);
  if (!result.success) {
    log.addAll(path, result.error);
    return undefined;
  }
  if (result.data.mode !== 'container') return { mode };
  const { mode: _, ...container } = result.data;
  checkProfiles(alias, container.profiles, context, log);
  return { mode, container };
}

/** Cursor's runtime brings its own authentication and processes, which a writer's boundary does not cover. */
function checkProfiles(alias: string, profiles: readonly string[], context: ModeContext, log: IssueLog): void {
  for (const [index, name] of profiles.entries()) {
    const path = ['workspaces', alias, 'profiles', index];
    const profile = context.profiles[name];
    if (profile === undefined) log.add(path, 'is not an execution profile');
    else if (profile.permissionProfile !== 'coding') log.add(path, 'must be a coding profile');
    else if (profile.provider.toLowerCase() === 'cursor') log.add(path, 'must not use the Cursor provider');
    if (profiles.indexOf(name) < index) log.add(path, 'is already listed');
  }
}
