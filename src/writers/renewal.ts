/** One renewal of a writer's credentials; when there is one, the launcher's chart decides (docs/writers.md). */
import { isAbsolute } from 'node:path';
import { copyCredentials, providersToRenew } from './credentials.ts';
import { readJson, writeJson } from './json-file.ts';
import type { WriterPlaces } from './places.ts';

/** For a start that only looks: nothing of the operator's is touched by it. */
const OFF = 'PI_WRITER_NO_CREDENTIAL_REFRESH';

/** One model of a provider is enough to ask Pi for the provider's credential. */
export interface Selection {
  readonly provider: string;
  readonly model: string;
}

export interface CredentialSource {
  /** Pi's agent directory, absolute. */
  readonly agentDirectory: string;
  readonly selections: readonly Selection[];
}

/** Lets the local Pi renew what is about to run out. Never rejects; whether it has helped shows in Pi's own file. */
export type WarmUp = (agentDirectory: string, selections: readonly Selection[]) => Promise<void>;

export function writeSource({ credentials }: WriterPlaces, source: CredentialSource): boolean {
  return writeJson(credentials, { schemaVersion: 1, ...source });
}

function readSource({ credentials }: Pick<WriterPlaces, 'credentials'>): CredentialSource | undefined {
  const { schemaVersion, agentDirectory, selections } = readJson(credentials) ?? {};
  if (schemaVersion !== 1 || typeof agentDirectory !== 'string' || !isAbsolute(agentDirectory)) return undefined;
  if (!Array.isArray(selections)) return undefined;
  const known = selections.map((one) => Object(one) as Partial<Selection>);
  const isSound = known.every(({ provider, model }) => typeof provider === 'string' && typeof model === 'string');
  return isSound ? { agentDirectory, selections: known as Selection[] } : undefined;
}

/**
 * Copies before it returns, so that nobody who stops waiting uses an older copy than the operator's file;
 * then renews what needs it, and copies again. False when one of the copies could not be made: without the first
 * nobody is asked. Never rejects.
 */
export async function renew(
  places: Pick<WriterPlaces, 'credentials' | 'agent'>,
  warmUp: WarmUp,
  now: number,
): Promise<boolean> {
  const source = readSource(places);
  if (source === undefined) return false;
  const { agentDirectory, selections } = source;
  const providers = [...new Set(selections.map(({ provider }) => provider))];
  const copy = () => copyCredentials({ from: agentDirectory, to: places.agent, providers });
  if (!copy()) return false;
  const due = providersToRenew(agentDirectory, providers, now);
  if (due.length === 0) return true;
  const asked = due.flatMap((name) => selections.find(({ provider }) => provider === name) ?? []);
  await warmUp(agentDirectory, asked);
  return copy();
}

/**
 * Renewals of one writer, never two at the same time: whoever asks for one while another is under way gets that one.
 * @param env Of the launcher; with `PI_WRITER_NO_CREDENTIAL_REFRESH=1` nothing is read, renewed or copied, and what
 * setup has copied before a writer becomes ready is used.
 */
export function createRenewal(
  places: Pick<WriterPlaces, 'credentials' | 'agent'>,
  warmUp: WarmUp,
  env: Readonly<Record<string, string | undefined>>,
): () => Promise<boolean> {
  if (env[OFF] === '1') return async () => true;
  let underWay: Promise<boolean> | undefined;
  return () => {
    underWay ??= renew(places, warmUp, Date.now()).finally(() => {
      underWay = undefined;
    });
    return underWay;
  };
}
