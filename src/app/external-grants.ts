/** The grants port on real servers: charts, MCP clients, marked children. Loaded when a profile grants something. */
import { Connection } from '../adapters/grants/connection.ts';
import { LineSplitter } from '../adapters/mcp/line-splitter.ts';
import type { ChildScope } from '../adapters/process/child-scope.ts';
import type { GrantsPort } from '../ports/grants.ts';
import { createGrantHost, type GrantHostOptions } from './grant-host.ts';

export interface ExternalGrantsOptions extends Omit<GrantHostOptions, 'connect' | 'sweep'> {
  readonly childScope: ChildScope;
}

export function createExternalGrants({ childScope, ...options }: ExternalGrantsOptions): GrantsPort {
  const { diagnostics } = options;
  return createGrantHost({
    ...options,
    connect: (server, { sessionId, directory }) =>
      new Connection({
        server,
        directory,
        mark: () => childScope.openCall(sessionId),
        cutLines: (maxBytes, handler) => new LineSplitter(maxBytes, handler),
        onMissingVariables: (count) =>
          diagnostics.report('error', 'external_mcp_environment_missing', { server: server.alias, count }),
      }),
    // A launcher may leave the server itself behind.
    sweep: (sessionId) => childScope.endSession(sessionId),
  });
}
