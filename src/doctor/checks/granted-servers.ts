/** Could the external MCP servers of each profile be started? (docs/external-mcp.md) */
import type { Configuration } from '../../config/configuration.ts';
import { type DoctorInput, isExecutable } from '../input.ts';
import type { DoctorCheck } from '../model.ts';
import { judge } from '../remedies.ts';

export function checkGrantedServers(
  { env, files }: Pick<DoctorInput, 'env' | 'files'>,
  { executionProfiles }: Configuration,
): readonly DoctorCheck[] {
  return Object.values(executionProfiles).flatMap((profile) =>
    profile.mcpServers.flatMap(({ alias, command, envFrom }) => {
      const subject = `${profile.alias}:${alias}`;
      const names = Object.values(envFrom);
      return [
        judge('mcp_command_unusable', subject, isExecutable(files, command)),
        // An empty variable is there, for the server as for a session's start.
        ...(names.length > 0
          ? [
              judge(
                'mcp_environment_missing',
                subject,
                names.every((name) => env[name] !== undefined),
              ),
            ]
          : []),
      ];
    }),
  );
}
