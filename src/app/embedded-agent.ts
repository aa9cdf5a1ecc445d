/** The Pi adapter with the scope for its children; loaded with the first session. */
import { createPiAgent } from '../adapters/pi/pi-agent.ts';
import { createChildScope } from '../adapters/process/child-scope.ts';
import type { Configuration } from '../config/configuration.ts';
import type { AgentPort } from '../ports/agent.ts';
import type { Diagnostics } from '../ports/diagnostics.ts';
import { createLazyGrants } from './lazy-grants.ts';

export interface EmbeddedAgentOptions {
  readonly configuration: Configuration;
  readonly diagnostics: Diagnostics;
  /** The reaper's script. */
  readonly reaperPath: string;
}

export function createEmbeddedAgent({ configuration, diagnostics, reaperPath }: EmbeddedAgentOptions): AgentPort {
  const childScope = createChildScope({ reaperPath, diagnostics });
  const grants = createLazyGrants(async () => {
    const { createExternalGrants } = await import('./external-grants.ts');
    return createExternalGrants({ configuration, diagnostics, childScope });
  });
  return createPiAgent({ configuration, diagnostics, childScope, grants });
}
