/**
 * Codex starts a server with hardly any of the operator's environment, so what
 * works in this shell can fail there. Asked only where there is a Codex: every
 * other client that we know passes everything on.
 */
import { join } from 'node:path';
import type { Configuration } from '../../config/configuration.ts';
import { isObject, type JsonObject, parseCommentedObject, parseObject } from '../../config/json-object.ts';
import { agentDirectory, type DoctorInput, defaultAgentDirectory, isOnPath } from '../input.ts';
import type { DoctorCheck } from '../model.ts';
import { PROVIDER_VARIABLES } from '../provider-variables.ts';
import { finding } from '../remedies.ts';

const ID = 'client_environment_lacks';
const MAX_BYTES = 16_777_216;
const PASSED_BY_CODEX: ReadonlySet<string> = new Set([
  ...['HOME', 'LANG', 'LC_ALL', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'TMPDIR', 'TZ', 'USER'],
  // Setup puts it into the entry.
  'PI_SESSION_MCP_CONFIG',
]);

const REMEDY = {
  directory:
    'Codex does not pass it on, so the server would use ~/.pi/agent. Keep the files of Pi there, or name the variable in an entry that you register by hand.',
  credential:
    'Codex does not pass it on. Store the credential with Pi ("pi", then /login), or name the variable in an entry that you register by hand.',
  server:
    'Codex does not pass on what "envFrom" reads, so sessions of this profile cannot start there. Name the variables in an entry that you register by hand.',
} as const;

export function checkClientEnvironment(input: DoctorInput, configuration: Configuration): readonly DoctorCheck[] {
  if (!isOnPath(input, 'codex')) return [];
  return [...checkDirectory(input), ...checkCredentials(input, configuration), ...checkServers(input, configuration)];
}

function checkDirectory({ env, home, files }: DoctorInput): readonly DoctorCheck[] {
  const used = agentDirectory({ env, home });
  const usual = defaultAgentDirectory(home);
  const same = used === usual || (files.canonical(used) ?? used) === (files.canonical(usual) ?? usual);
  return same ? [] : [finding(ID, 'PI_CODING_AGENT_DIR', REMEDY.directory)];
}

function checkCredentials(input: DoctorInput, { executionProfiles }: Configuration): readonly DoctorCheck[] {
  const stored = storedProviders(input);
  const providers = new Set(Object.values(executionProfiles).map(({ provider }) => provider));
  const lacking = [...providers]
    .filter((provider) => !stored.has(provider))
    .flatMap((provider) => PROVIDER_VARIABLES.get(provider) ?? []);
  const set = [...new Set(lacking)].filter((name) => input.env[name]);
  return set.map((name) => finding(ID, name, REMEDY.credential));
}

/** Providers for which Pi has something of its own. What that is stays there. */
function storedProviders(input: DoctorInput): ReadonlySet<string> {
  const directory = agentDirectory(input);
  const read = (name: string, parse: (bytes: Uint8Array) => JsonObject | undefined): JsonObject => {
    const file = input.files.read(join(directory, name), MAX_BYTES);
    return (file.ok && parse(file.bytes)) || {};
  };
  const { providers } = read('models.json', parseCommentedObject);
  const own = Object.entries(isObject(providers) ? providers : {}).filter(
    ([, provider]) => isObject(provider) && 'apiKey' in provider,
  );
  return new Set([...Object.keys(read('auth.json', parseObject)), ...own.map(([name]) => name)]);
}

function checkServers({ env }: DoctorInput, { executionProfiles }: Configuration): readonly DoctorCheck[] {
  return Object.values(executionProfiles).flatMap((profile) =>
    profile.mcpServers
      // One that is not even set here is reported as such.
      .filter(({ envFrom }) =>
        Object.values(envFrom).some((name) => env[name] !== undefined && !PASSED_BY_CODEX.has(name)),
      )
      .map(({ alias }) => finding(ID, `${profile.alias}:${alias}`, REMEDY.server)),
  );
}
