/**
 * What of Pi's agent directory comes along: the credentials of the selected
 * providers, without what could renew them, and what Pi knows of these providers'
 * models. The writer can read all of it, so it is as little as works (docs/writers.md).
 */
import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { replaceFile } from '../adapters/fs/durable-file.ts';

const MAX_BYTES = 4 * 1024 * 1024;
const MODE = 0o600;
const PRIVATE = 0o700;

/**
 * Pi renews a token that has less than five minutes left, and in the box it cannot. The rest is for a
 * check each minute and for the renewal itself.
 */
const RENEW_BEFORE_MS = 7 * 60_000;

type Fields = Readonly<Record<string, unknown>>;

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Lets somebody else finish. Short, and so without an event loop. */
export type Pause = () => void;

const PAUSE_MS = 20;
const waiting = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
const aMoment: Pause = () => void Atomics.wait(waiting, 0, 0, PAUSE_MS);
const READS = 4;

function readOnce(path: string): Fields | undefined {
  let text: string;
  try {
    if (statSync(path).size > MAX_BYTES) throw new Error('too large');
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ''));
  if (!isFields(value)) throw new Error('not an object');
  return value;
}

/**
 * Reads again what cannot be used: Pi writes its files in place, so that half of one may be seen.
 * @returns `undefined` when there is no such file. Throws when it cannot be used.
 */
function readFields(path: string, pause: Pause): Fields | undefined {
  for (let left = READS; ; left -= 1) {
    try {
      return readOnce(path);
    } catch (error) {
      if (left <= 1) throw error;
      pause();
    }
  }
}

function only(fields: Fields | undefined, names: readonly string[]): [string, unknown][] {
  return names.flatMap((name): [string, unknown][] =>
    fields && Object.hasOwn(fields, name) ? [[name, fields[name]]] : [],
  );
}

/** The one field that would outlive the token: whoever reads it inside can do nothing with it later. */
function withoutRenewal(credential: unknown): unknown {
  return isFields(credential) && credential['type'] === 'oauth' ? { ...credential, refresh: '' } : credential;
}

export interface CopyRequest {
  /** Pi's own, absolute. */
  readonly from: string;
  readonly to: string;
  readonly providers: readonly string[];
}

/** Never throws. False: what was there before is still there, or a part of it. */
export function copyCredentials({ from, to, providers }: CopyRequest, pause: Pause = aMoment): boolean {
  try {
    mkdirSync(to, { recursive: true, mode: PRIVATE });
    const credentials = only(readFields(join(from, 'auth.json'), pause), providers);
    const auth = Object.fromEntries(credentials.map(([name, credential]) => [name, withoutRenewal(credential)]));
    if (!put(join(to, 'auth.json'), auth)) return false;
    const models = readFields(join(from, 'models.json'), pause);
    const known = models && isFields(models['providers']) ? models['providers'] : undefined;
    if (!put(join(to, 'models.json'), { providers: Object.fromEntries(only(known, providers)) })) return false;
    const stored = readFields(join(from, 'models-store.json'), pause);
    return stored === undefined || put(join(to, 'models-store.json'), stored);
  } catch {
    return false;
  }
}

/** An unchanged file stays: whoever follows it looks at its time. */
function put(path: string, value: object): boolean {
  const text = `${JSON.stringify(value, null, 2)}\n`;
  try {
    if (readFileSync(path, 'utf8') === text) return true;
  } catch {
    // It is not there yet.
  }
  return replaceFile(path, Buffer.from(text), MODE);
}

/** The providers whose token has to be renewed now: it runs out soon, or nobody can tell when. Never throws. */
export function providersToRenew(
  from: string,
  providers: readonly string[],
  now: number,
  pause: Pause = aMoment,
): readonly string[] {
  try {
    return only(readFields(join(from, 'auth.json'), pause), providers).flatMap(([name, credential]) => {
      if (!isFields(credential) || credential['type'] !== 'oauth') return [];
      const { expires } = credential;
      const isFresh = typeof expires === 'number' && Number.isFinite(expires) && expires - now > RENEW_BEFORE_MS;
      return isFresh ? [] : [name];
    });
  } catch {
    return [];
  }
}
