/** `warm-up.js <agent directory> <JSON of selections>`: asks the local Pi for credentials, which renews what runs out. */
import { openRuntime } from '../adapters/pi/model-runtime.ts';
import { loadSdk } from '../adapters/pi/sdk.ts';
import type { Selection } from './renewal.ts';

/** As long as the launcher's own limit, so that the token outlasts the next minutes in the box. */
const VALID_FOR_MS = 8 * 60_000;

try {
  const [directory = '', selections = '[]'] = process.argv.slice(2);
  const { models } = await openRuntime(await loadSdk(), directory);
  for (const { provider, model } of JSON.parse(selections) as readonly Selection[]) {
    const found = models.getModel(provider, model);
    if (found) await models.getAuth(found, { minOAuthValidityMs: VALID_FOR_MS }).catch(() => {});
  }
} catch {
  // What it was good for shows in Pi's own file.
}
process.exit(0);
