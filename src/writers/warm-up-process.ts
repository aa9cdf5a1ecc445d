/** The warm-up as a process of its own: Pi's SDK is large, and the launcher runs for hours. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { WarmUp } from './renewal.ts';

/**
 * Pi waits for its lock at most twice 30 s, once to read and once to write, and 15 s for the provider. Whoever
 * is ended before that may have used up a refresh token, and not have written down the next one.
 */
const LIMIT_MS = 90_000;

/** How the way to a provider is told on the operator's machine (docs/writers.md). */
const NETWORK = [
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy'],
  ...['NODE_EXTRA_CA_CERTS', 'NODE_USE_SYSTEM_CA', 'SSL_CERT_FILE', 'SSL_CERT_DIR'],
];
const KEPT = ['HOME', 'PATH', 'LANG', ...NETWORK];

type Environment = Readonly<Record<string, string | undefined>>;

function environment(all: Environment): Environment {
  return Object.fromEntries(KEPT.flatMap((name) => (all[name] ? [[name, all[name]]] : [])));
}

export interface WarmUpParts {
  /** `warm-up.js`, absolute. */
  readonly script: string;
  /** Of the launcher; few of them are passed on. */
  readonly env: Environment;
  /** One for each warm-up; ends it by force. */
  readonly bound: () => AbortSignal;
}

/** Resolves when the process is gone, however that came about. */
export function createWarmUp({ script, env, bound }: WarmUpParts): WarmUp {
  return (agentDirectory, selections) =>
    new Promise((resolve) => {
      const child = spawn(process.execPath, [script, agentDirectory, ...selections.map(({ provider }) => provider)], {
        stdio: 'ignore',
        cwd: '/',
        env: environment(env),
        // Clients end their servers by process group: a renewal under way would be lost.
        detached: true,
        signal: bound(),
        killSignal: 'SIGKILL',
      });
      child.once('error', () => child.pid === undefined && resolve());
      child.once('exit', () => resolve());
    });
}

export const warmUpProcess: WarmUp = createWarmUp({
  script: fileURLToPath(new URL(import.meta.url.endsWith('.js') ? './warm-up.js' : './warm-up.ts', import.meta.url)),
  env: process.env,
  bound: () => AbortSignal.timeout(LIMIT_MS),
});
