/** Is a writer registered as it was, and does its server answer? Never a session, never a provider. */
import { existsSync } from 'node:fs';
import type { EndableProcess } from '../../adapters/clients/verified-process.ts';
import { createKernelLock } from '../../adapters/process/kernel-lock.ts';
import type { Finding, SetupCode, Status } from '../../ports/setup/target.ts';
import type { WriterPlaces } from '../../writers/places.ts';
import { readRegistration } from '../../writers/registration.ts';
import type { Crew } from './crew.ts';

const NEVER = new AbortController().signal;

type Outcome = readonly [Status, SetupCode];

/** Never rejects. */
export async function verifyWriter(
  crew: Crew,
  name: string,
  home: string,
  end: (server: EndableProcess) => Promise<void>,
): Promise<Finding> {
  const [status, code] = await judge(crew, name, home, end);
  return { target: { client: 'writer', scope: crew.workspace.alias, alias: name }, status, code };
}

/** A writer has one server at a time, and a client has it. */
async function isRunning({ lock: directory }: WriterPlaces): Promise<boolean> {
  const outcome = await createKernelLock({ directory, waitSeconds: 0 }).acquire(NEVER);
  if (outcome.kind === 'locked') outcome.lock.release();
  return outcome.kind === 'busy';
}

async function judge(
  { parts, clientOf }: Crew,
  name: string,
  home: string,
  end: (server: EndableProcess) => Promise<void>,
): Promise<Outcome> {
  const { places } = parts(name);
  const known = readRegistration(places, existsSync);
  if (known.kind === 'missing') return ['absent', 'writer_absent'];
  if (known.kind !== 'known') return ['failed', 'journal_unreadable'];
  const { registered } = known;
  const found = await clientOf(registered, name).inspect(NEVER);
  if (found === 'unsupported') return ['unsupported', 'client_unsupported'];
  if (found === 'failed') return ['failed', 'inspect_failed'];
  if (found !== 'equivalent') return ['failed', 'registration_not_equivalent'];
  if (await isRunning(places)) return ['failed', 'writer_busy'];
  const { createServerVerifier } = await import('../../adapters/clients/server-verifier.ts');
  // Of this start alone: the operator's credentials are left as they are.
  const entry = { ...registered.entry, env: { PI_WRITER_NO_CREDENTIAL_REFRESH: '1' } };
  const verifier = createServerVerifier({ entry, environment: process.env, directory: home, end });
  const handshake = await verifier.handshake(NEVER);
  return [handshake === 'verified' ? 'ok' : 'failed', `mcp_${handshake}`];
}
