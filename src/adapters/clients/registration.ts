/** The registration port for one target, over the guardian's runner. */
import type { CommandRunner } from '../../ports/setup/command.ts';
import type { IntendedEntry, RegistrationClient } from '../../ports/setup/registration.ts';
import type { Target } from '../../ports/setup/target.ts';
import { SERVER_NAME } from '../../version.ts';
import { claudeCodeRegistration } from './claude-code.ts';
import { clientCommands, type Variables } from './client-commands.ts';
import { codexRegistration } from './codex.ts';

export interface RegistrationOptions {
  readonly target: Target;
  /** What the registration is called: the server's own name, or a writer's. */
  readonly alias?: string;
  readonly entry: IntendedEntry;
  readonly runner: CommandRunner;
  /** The operator's own. The client is looked up in its `PATH`. */
  readonly environment: Variables;
  /** Absolute real path of the directory that setup runs in. */
  readonly project: string;
  /** Absolute path of a private directory (0700) of ours; it has to be there. */
  readonly directory: string;
}

export function createRegistrationClient(options: RegistrationOptions): RegistrationClient {
  const { target, alias = SERVER_NAME, entry, runner, environment, project, directory } = options;
  if (target.client === 'claude-code') {
    const run = clientCommands('claude', runner, environment);
    return claudeCodeRegistration(run, alias, entry, { scope: target.scope, project, directory });
  }
  if (target.scope !== 'user') return NO_SUCH_SCOPE;
  return codexRegistration(clientCommands('codex', runner, environment), alias, entry, directory);
}

/** Codex knows no other scope than the user's. */
const NO_SUCH_SCOPE: RegistrationClient = {
  inspect: async () => 'unsupported',
  add: async () => 'failed',
  remove: async () => 'failed',
};
