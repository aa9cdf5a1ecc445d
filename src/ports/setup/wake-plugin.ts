/** The hook of turn events as a plugin of a client (docs/turn-events.md). */
import type { Mutation } from './registration.ts';

/**
 * `outdated`: ours, but of another release or half installed; installing puts it
 * right. `disabled`: ours, switched off by the user, who alone switches it on.
 * `divergent`: somebody else's, or in another place or scope; it is not touched.
 * `unsupported`: the client's output does not fit.
 */
export type PluginInspection =
  | 'absent'
  | 'equivalent'
  | 'outdated'
  | 'disabled'
  | 'divergent'
  | 'unsupported'
  | 'failed';

/** No method rejects. Whether a mutation has come to what it should, an inspection tells. */
export interface WakePlugin {
  inspect(signal: AbortSignal): Promise<PluginInspection>;
  /** To be called after `absent` or `outdated` only. */
  install(signal: AbortSignal): Promise<Mutation>;
  /** To be called when it is known to be ours. Also takes away what `install` has left half done, and its files. */
  uninstall(signal: AbortSignal): Promise<Mutation>;
}
