/**
 * A writer as a server of a client. What was asked of which client is written
 * down before it is asked, so that a later run knows what may be taken back.
 */
import { isAbsolute } from 'node:path';
import type { IntendedEntry, RegistrationClient } from '../ports/setup/registration.ts';
import type { Target } from '../ports/setup/target.ts';
import type { Consulted } from '../ports/writers/lifecycle.ts';
import { WRITER_CLIENTS } from './clients.ts';
import { readJson, writeJson } from './json-file.ts';
import type { WriterPlaces } from './places.ts';

export interface RegisteredWriter {
  readonly target: Target;
  /** Absolute: where a local registration belongs to. */
  readonly project: string;
  readonly entry: IntendedEntry;
}

export type ClientOf = (registered: RegisteredWriter, alias: string) => RegistrationClient;

/** `missing`: no client was ever asked. `unreadable`: nobody can tell. */
export type RegistrationRead =
  | { readonly kind: 'known'; readonly registered: RegisteredWriter }
  | { readonly kind: 'missing' | 'unreadable' };

export function readRegistration({ registration }: WriterPlaces, exists: (path: string) => boolean): RegistrationRead {
  if (!exists(registration)) return { kind: 'missing' };
  const { schemaVersion, client, scope, project, command, args } = readJson(registration) ?? {};
  const target = WRITER_CLIENTS.find((known) => known.client === client && known.scope === scope);
  const isPath = (value: unknown): value is string => typeof value === 'string' && isAbsolute(value);
  const isSound = Array.isArray(args) && args.every(isPath) && isPath(command) && isPath(project);
  if (schemaVersion !== 1 || !target || !isSound) return { kind: 'unreadable' };
  return { kind: 'known', registered: { target, project, entry: { command, args, env: {} } } };
}

function record({ registration }: WriterPlaces, { target, project, entry }: RegisteredWriter): boolean {
  const { command, args } = entry;
  return writeJson(registration, { schemaVersion: 1, ...target, project, command, args });
}

/**
 * Does its client hold what was registered? Where there is no record, nobody has been asked yet,
 * so it is lost; `register` then looks for itself. Changes nothing, never rejects.
 */
export async function consult(
  places: WriterPlaces,
  clientOf: ClientOf,
  exists: (path: string) => boolean,
  signal: AbortSignal,
): Promise<Consulted> {
  const known = readRegistration(places, exists);
  if (known.kind !== 'known') return known.kind === 'missing' ? 'absent' : 'unknown';
  const found = await clientOf(known.registered, places.name).inspect(signal);
  if (found === 'absent') return 'absent';
  return found === 'equivalent' ? 'present' : 'unknown';
}

/** Only ever adds, and believes nothing but a look afterwards. */
export async function register(
  places: WriterPlaces,
  wanted: RegisteredWriter,
  clientOf: ClientOf,
  exists: (path: string) => boolean,
  signal: AbortSignal,
): Promise<boolean> {
  const before = readRegistration(places, exists);
  if (before.kind === 'unreadable') return false;
  if (before.kind === 'known' && !isSame(before.registered, wanted)) {
    if (!(await takeBack(places, before.registered, clientOf, signal))) return false;
  }
  if (!record(places, wanted)) return false;
  const client = clientOf(wanted, places.name);
  const found = await client.inspect(signal);
  if (found !== 'absent') return found === 'equivalent';
  if ((await client.add(signal)) === 'retained') return false;
  return (await client.inspect(signal)) === 'equivalent';
}

/** Takes away what was registered as it was registered; another entry of the name stays, and is a failure. */
export async function unregister(
  places: WriterPlaces,
  clientOf: ClientOf,
  exists: (path: string) => boolean,
  signal: AbortSignal,
): Promise<boolean> {
  const known = readRegistration(places, exists);
  if (known.kind === 'known') return takeBack(places, known.registered, clientOf, signal);
  return known.kind === 'missing';
}

async function takeBack(
  places: WriterPlaces,
  registered: RegisteredWriter,
  clientOf: ClientOf,
  signal: AbortSignal,
): Promise<boolean> {
  const client = clientOf(registered, places.name);
  const found = await client.inspect(signal);
  if (found !== 'equivalent') return found === 'absent';
  if ((await client.remove(signal)) === 'retained') return false;
  return (await client.inspect(signal)) === 'absent';
}

function isSame(left: RegisteredWriter, right: RegisteredWriter): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}
