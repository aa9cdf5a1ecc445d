/** How providers are reached: as Pi's command line reaches them, which its SDK leaves to whoever embeds it. */
import { createRequire } from 'node:module';
import type { Sdk } from './sdk.ts';

/** On slow routes Node's own 250 ms are over before a good connection is made. */
const ATTEMPT_TIMEOUT_MS = 2_000;
const PROXY_NAMES = { httpProxy: ['http_proxy', 'HTTP_PROXY'], httpsProxy: ['https_proxy', 'HTTPS_PROXY'] } as const;

interface Undici {
  readonly EnvHttpProxyAgent: new (options: object) => object;
  setGlobalDispatcher(dispatcher: object): void;
  install(): void;
}

/**
 * Lets this process reach providers as `pi` would: through the proxy of `HTTP_PROXY`, `HTTPS_PROXY` and
 * `NO_PROXY` (small letters, too), or else of `httpProxy` in Pi's own settings, and with as much patience
 * (docs/installation.md). The environment stays as it is: what the tools start gets it, too.
 *
 * After the SDK is loaded: its undici takes the place of Node's, and with it undoes `NODE_USE_ENV_PROXY`.
 * So it has to be told, and it is the SDK's own copy that is told. Never throws.
 *
 * @param agentDirectory Pi's, absolute.
 */
export function reachProvidersAsPi(sdk: Sdk, agentDirectory: string): void {
  try {
    const settings = sdk.SettingsManager.create('/', agentDirectory, { projectTrusted: false });
    const timeout = settings.getHttpIdleTimeoutMs();
    const undici = createRequire(import.meta.resolve('@earendil-works/pi-coding-agent'))('undici') as Undici;
    const agent = new undici.EnvHttpProxyAgent({
      ...{ allowH2: false, proxyTunnel: true, bodyTimeout: timeout, headersTimeout: timeout },
      connect: { autoSelectFamilyAttemptTimeout: ATTEMPT_TIMEOUT_MS },
      ...proxiesOf(settings.getGlobalSettings().httpProxy?.trim()),
    });
    undici.setGlobalDispatcher(agent);
    undici.install();
  } catch {
    // Then there is Node's own way.
  }
}

/** Only where the environment names none. */
function proxiesOf(proxy: string | undefined): object {
  if (!proxy) return {};
  const unnamed = Object.entries(PROXY_NAMES).filter(([, names]) => names.every((name) => !process.env[name]));
  return Object.fromEntries(unnamed.map(([option]) => [option, proxy]));
}
