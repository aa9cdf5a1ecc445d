/** Turn events whose adapter and chart are loaded with the first session. */
import type { Diagnostics } from '../ports/diagnostics.ts';
import type { TurnEvents } from '../ports/events.ts';

/** @param load Called once. If it rejects, the server goes on without events, and says so. */
export function createLazyTurnEvents(load: () => Promise<TurnEvents>, diagnostics: Diagnostics): TurnEvents {
  let loading: Promise<void> | undefined;
  let loaded: TurnEvents | undefined;
  async function begin(): Promise<void> {
    try {
      loaded = await load();
      await loaded.begin();
    } catch {
      diagnostics.report('error', 'turn_events_degraded', { code: 'not_loaded', dropped: 0 });
    }
  }
  return {
    begin() {
      loading ??= begin();
      return loading;
    },
    ended: (turn) => loaded?.ended(turn),
    closed: (sessionId) => loaded?.closed(sessionId),
    close: async () => loaded?.close(),
  };
}
