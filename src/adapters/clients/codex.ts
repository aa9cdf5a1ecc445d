/** The registration of Codex, in the user's own configuration (docs/clients.md). */
import type { Inspection, IntendedEntry, Mutation, RegistrationClient } from '../../ports/setup/registration.ts';
import { mutationOf, type RunClient } from './client-commands.ts';
import { readCodexEntry } from './codex-output.ts';
import { isPassable } from './entry.ts';

/** Codex looks no further than the working directory for a project, whose entries would hide the user's. */
const NO_PROJECT = ['-c', 'project_root_markers=[]'];

/** @param directory A private one of ours that is nobody's project. */
export function codexRegistration(
  run: RunClient,
  alias: string,
  entry: IntendedEntry,
  directory: string,
): RegistrationClient {
  const mcp = (args: readonly string[], signal: AbortSignal) =>
    run({ args: [...NO_PROJECT, 'mcp', ...args], cwd: directory }, signal);

  const look = async (signal: AbortSignal): Promise<{ inspection: Inspection; mutation: Mutation }> => {
    if (!isPassable(entry)) return { inspection: 'unsupported', mutation: 'failed' };
    const end = await mcp(['get', alias, '--json'], signal);
    if (!end.ok) return end;
    return { inspection: readCodexEntry(end.printed, alias, entry), mutation: 'failed' };
  };

  return {
    inspect: async (signal) => (await look(signal)).inspection,
    async add(signal) {
      // `codex mcp add` replaces what is there and drops its settings, without a word.
      const { inspection, mutation } = await look(signal);
      if (inspection !== 'absent') return mutation;
      const variables = Object.entries(entry.env).flatMap(([name, value]) => ['--env', `${name}=${value}`]);
      return mutationOf(await mcp(['add', alias, ...variables, '--', entry.command, ...entry.args], signal));
    },
    remove: async (signal) => mutationOf(await mcp(['remove', alias], signal)),
  };
}
