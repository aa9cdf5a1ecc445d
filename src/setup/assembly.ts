/** The real parts behind the charts of setup. */
import { dirname, join } from 'node:path';
import { claudePlugin } from '../adapters/clients/claude-plugin.ts';
import { clientEnvironment } from '../adapters/clients/client-commands.ts';
import { createRegistrationClient } from '../adapters/clients/registration.ts';
import { ownershipStore } from '../adapters/fs/ownership-store.ts';
import { ensurePrivateDirectory } from '../adapters/fs/private-directory.ts';
import { registrationFingerprint, releaseFingerprint } from '../adapters/fs/release-binding.ts';
import { repositoryRoot } from '../adapters/fs/repository-root.ts';
import { skillSlot } from '../adapters/fs/skill-slot.ts';
import { slotRootOf } from '../adapters/fs/slot-place.ts';
import { hostInput } from '../doctor/input.ts';
import { runDoctor } from '../doctor/run-doctor.ts';
import type { RecordKey } from '../ports/setup/ownership.ts';
import type { IntendedEntry } from '../ports/setup/registration.ts';
import type { SetupPorts, SetupTarget, WakeChoice } from '../ports/setup/run.ts';
import type { SkillSlot } from '../ports/setup/skill-slot.ts';
import type { Target } from '../ports/setup/target.ts';
import { MARKETPLACE, PLUGIN } from '../wake/plugin-files.ts';
import { SERVER_ALIAS } from './arguments.ts';
import { endProcess } from './end-process.ts';
import type { Fenced } from './fence.ts';
import type { Places } from './places.ts';
import { projectId } from './project-id.ts';
import { hookFiles } from './wake-hook.ts';

const CONTROLLER_SKILL = 'pi-session-orchestration';

/** What the clients shall hold: this Node, this package, this configuration. */
export function intendedEntry({ packageRoot }: Places, configuration: string): IntendedEntry {
  return {
    command: process.execPath,
    args: [join(packageRoot, 'dist', 'main.js')],
    env: { PI_SESSION_MCP_CONFIG: configuration },
  };
}

/** A target with the names of its records: what lives in a project is told apart by the project. */
export function describeTarget(target: Target, places: Places, entry: IntendedEntry, wake: WakeChoice): SetupTarget {
  const { client, scope } = target;
  const skill = `skill:${CONTROLLER_SKILL}`;
  const place = scope === 'local' ? repositoryRoot(places.project) : places.project;
  const inProject = (alias: string) => `${alias}@${projectId(place)}`;
  const registration: RecordKey = { client, scope, alias: scope === 'user' ? SERVER_ALIAS : inProject(SERVER_ALIAS) };
  // The two scopes of a home share one copy of the skill.
  const owner: RecordKey =
    scope === 'project' ? { client, scope, alias: inProject(skill) } : { client, scope: 'user', alias: skill };
  return { ...target, registration, skill: owner, wake, fingerprint: registrationFingerprint(entry) };
}

export function assemble(places: Places, configuration: string, { fence, runner, guarded }: Fenced): SetupPorts {
  const entry = intendedEntry(places, configuration);
  const { home, project, stateDirectory: directory, packageRoot } = places;
  const environment = process.env;
  const overrides = join(dirname(configuration), 'skills');
  const slots = new Map<string, SkillSlot>();
  return {
    fence,
    store: guarded(ownershipStore(directory)),
    doctor: {
      async check() {
        const env = { ...environment, PI_SESSION_MCP_CONFIG: configuration };
        const { checks } = await runDoctor(hostInput({ packageRoot, env }));
        return { errors: checks.filter(({ severity }) => severity === 'error').length };
      },
    },
    release: { fingerprint: async () => releaseFingerprint(packageRoot) },
    verifier: {
      async handshake(signal) {
        // It brings the protocol's own client, which nothing else of setup needs.
        const { createServerVerifier } = await import('../adapters/clients/server-verifier.ts');
        return createServerVerifier({ entry, environment, directory: home, end: endProcess }).handshake(signal);
      },
    },
    client(target) {
      // Commands about the whole home run in a place that belongs to no project.
      ensurePrivateDirectory(directory);
      return createRegistrationClient({ target, entry, runner, environment, project, directory });
    },
    wake() {
      ensurePrivateDirectory(directory);
      return claudePlugin({
        runner,
        env: clientEnvironment(environment),
        // Claude Code reads it there at every start.
        directory: join(directory, 'claude-plugin'),
        files: hookFiles(places),
        marketplace: MARKETPLACE,
        plugin: PLUGIN,
      });
    },
    slot(target) {
      // One for the whole run: it remembers what it has looked at, and compares before it moves anything.
      const name = `${target.client}:${target.scope}`;
      const slot =
        slots.get(name) ??
        skillSlot({
          root: slotRootOf(target, { home, project }),
          skill: CONTROLLER_SKILL,
          sources: [join(overrides, CONTROLLER_SKILL), join(packageRoot, 'skills', CONTROLLER_SKILL)],
        });
      slots.set(name, slot);
      return slot;
    },
  };
}
