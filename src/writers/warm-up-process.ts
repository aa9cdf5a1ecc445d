/** The warm-up as a process of its own: Pi's SDK is large, and the launcher runs for hours. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { WarmUp } from './renewal.ts';

const TIMEOUT_MS = 45_000;
const KEPT = ['HOME', 'PATH', 'LANG', 'HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'https_proxy', 'http_proxy', 'no_proxy'];

const script = fileURLToPath(
  new URL(import.meta.url.endsWith('.js') ? './warm-up.js' : './warm-up.ts', import.meta.url),
);

export const warmUpProcess: WarmUp = (agentDirectory, selections) =>
  new Promise((resolve) => {
    const env = Object.fromEntries(KEPT.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));
    const child = spawn(process.execPath, [script, agentDirectory, JSON.stringify(selections)], {
      stdio: 'ignore',
      cwd: '/',
      env,
      timeout: TIMEOUT_MS,
      killSignal: 'SIGKILL',
    });
    child.once('error', () => resolve());
    child.once('exit', () => resolve());
  });
