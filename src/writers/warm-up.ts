/** `warm-up.js <agent directory> <provider>…`: asks the local Pi for credentials, which renews what runs out. */
import { reachProvidersAsPi } from '../adapters/pi/http-dispatcher.ts';
import { openRuntime } from '../adapters/pi/model-runtime.ts';
import { loadSdk } from '../adapters/pi/sdk.ts';

/** Longer than the launcher's own limit, so that Pi never finds fresh enough what the launcher does not. */
const VALID_FOR_MS = 8 * 60_000;

try {
  const [directory = '', ...providers] = process.argv.slice(2);
  const sdk = await loadSdk();
  reachProvidersAsPi(sdk, directory);
  const { models } = await openRuntime(sdk, directory);
  const ask = (provider: string) => models.getAuth(provider, { minOAuthValidityMs: VALID_FOR_MS }).catch(() => {});
  // At once: they wait for Pi's lock together, and so the whole takes no longer than Pi allows one of them.
  await Promise.all(providers.map(ask));
} catch {
  // What it was good for shows in Pi's own file.
}
process.exit(0);
