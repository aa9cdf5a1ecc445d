/** The Pi adapter with the scope for its children; loaded with the first session. */
import { createPiAgent } from '../adapters/pi/pi-agent.ts';
import { createChildScope } from '../adapters/process/child-scope.ts';
import type { Configuration } from '../config/configuration.ts';
import type { AgentPort } from '../ports/agent.ts';
import type { Diagnostics } from '../ports/diagnostics.ts';

export interface EmbeddedAgentOptions {
  readonly configuration: Configuration;
  readonly diagnostics: Diagnostics;
  /** The reaper's script. */
  readonly reaperPath: string;
}

export function createEmbeddedAgent({ configuration, diagnostics, reaperPath }: EmbeddedAgentOptions): AgentPort {
  return createPiAgent({ configuration, diagnostics, childScope: createChildScope({ reaperPath, diagnostics }) });
}
