/** The proxy that Pi's command line goes through; its SDK does not. */
import { createRequire } from 'node:module';
import type { Sdk } from './sdk.ts';

/** The little of it that is needed: what Pi itself calls when it starts. */
interface Undici {
  readonly EnvHttpProxyAgent: new () => object;
  setGlobalDispatcher(dispatcher: object): void;
  install(): void;
}

/**
 * Lets this process reach providers as `pi` would: through the proxy of `HTTP_PROXY`, `HTTPS_PROXY` and
 * `NO_PROXY` (small letters, too), or else of Pi's own settings (docs/writers.md).
 *
 * After the SDK is loaded: its undici takes the place of Node's, and with it undoes `NODE_USE_ENV_PROXY`.
 * So it has to be told, and it is the SDK's own copy that is told. Never throws.
 *
 * @param agentDirectory Pi's, absolute.
 */
export function useProxyOf(sdk: Sdk, agentDirectory: string): void {
  try {
    const proxy = proxyIn(sdk, agentDirectory);
    if (proxy) {
      process.env['HTTP_PROXY'] ??= proxy;
      process.env['HTTPS_PROXY'] ??= proxy;
    }
    const undici = createRequire(import.meta.resolve('@earendil-works/pi-coding-agent'))('undici') as Undici;
    undici.setGlobalDispatcher(new undici.EnvHttpProxyAgent());
    undici.install();
  } catch {
    // Then there is the way without one.
  }
}

function proxyIn(sdk: Sdk, agentDirectory: string): string | undefined {
  const settings = sdk.SettingsManager.create('/', agentDirectory, { projectTrusted: false }).getGlobalSettings();
  return settings.httpProxy?.trim();
}
