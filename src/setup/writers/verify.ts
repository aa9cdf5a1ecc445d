/** Is a writer registered as it was, and does its server answer? Never a session, never a provider. */
import { existsSync } from 'node:fs';
import type { EndableProcess } from '../../adapters/clients/verified-process.ts';
import { createKernelLock } from '../../adapters/process/kernel-lock.ts';
import type { Inspection } from '../../ports/setup/registration.ts';
import type { Finding, SetupCode, Status } from '../../ports/setup/target.ts';
import type { WriterPlaces } from '../../writers/places.ts';
import { readRegistration } from '../../writers/registration.ts';
import type { Crew } from './crew.ts';
import { writerFinding } from './findings.ts';
import { standingOf } from './work.ts';

type Outcome = readonly [Status, SetupCode];

export interface VerifyOptions {
  /** Absolute; where the server is started. */
  readonly home: string;
  readonly end: (server: EndableProcess) => Promise<void>;
  /** Aborted, it ends what it has started before it answers, whatever it answers then. */
  readonly signal: AbortSignal;
}

/** Never rejects. */
export async function verifyWriter(crew: Crew, name: string, options: VerifyOptions): Promise<Finding> {
  const { alias } = crew.workspace;
  // What does not start is not started; a look at the work in it is not needed for that.
  const standing = await standingOf(crew.station(name), crew.parts(name), options.signal);
  if (standing !== 'writer_ready') return writerFinding(alias, name, standing);
  const [status, code] = await judge(crew, name, options);
  return { target: { client: 'writer', scope: alias, alias: name }, status, code };
}

/** A writer has one server at a time, and a client has it. */
async function isRunning({ lock: directory }: WriterPlaces, signal: AbortSignal): Promise<boolean> {
  const outcome = await createKernelLock({ directory, waitSeconds: 0 }).acquire(signal);
  if (outcome.kind === 'locked') outcome.lock.release();
  return outcome.kind === 'busy';
}

const NOT_EQUIVALENT: Readonly<Record<Exclude<Inspection, 'equivalent'>, Outcome>> = {
  absent: ['failed', 'registration_absent'],
  divergent: ['divergent', 'registration_foreign'],
  unsupported: ['unsupported', 'client_unsupported'],
  failed: ['failed', 'inspect_failed'],
};

async function judge({ parts, clientOf }: Crew, name: string, options: VerifyOptions): Promise<Outcome> {
  const { home, end, signal } = options;
  const { places } = parts(name);
  const known = readRegistration(places, existsSync);
  if (known.kind === 'missing') return NOT_EQUIVALENT.absent;
  if (known.kind !== 'known') return ['failed', 'journal_unreadable'];
  const { registered } = known;
  const found = await clientOf(registered, name).inspect(signal);
  if (found !== 'equivalent') return NOT_EQUIVALENT[found];
  if (await isRunning(places, signal)) return ['failed', 'writer_busy'];
  const { createServerVerifier } = await import('../../adapters/clients/server-verifier.ts');
  // Of this start alone: the operator's credentials are left as they are.
  const entry = { ...registered.entry, env: { PI_WRITER_NO_CREDENTIAL_REFRESH: '1' } };
  const verifier = createServerVerifier({ entry, environment: process.env, directory: home, end });
  const handshake = await verifier.handshake(signal);
  if (handshake === 'verified') return ['ok', 'mcp_verified'];
  return ['failed', handshake === 'timeout' ? 'mcp_timeout' : 'writer_server_failed'];
}
