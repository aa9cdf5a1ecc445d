/** A grants port whose adapter is loaded with the first session that is granted something. */
import type { GrantsPort } from '../ports/grants.ts';

/** @param load Called once; if it rejects, so does that opening, and the next one tries again. */
export function createLazyGrants(load: () => Promise<GrantsPort>): GrantsPort {
  let loaded: GrantsPort | undefined;
  return {
    async open(request, signal) {
      loaded ??= await load();
      return loaded.open(request, signal);
    },
    tools: (sessionId) => loaded?.tools(sessionId) ?? [],
    call: async (...call) => (await loaded?.call(...call)) ?? { ok: false, reason: 'unavailable' },
    close: async (sessionId) => loaded?.close(sessionId),
    abandon: () => loaded?.abandon(),
  };
}
