import { type LoadResult, loadConfiguration } from '../config/load-configuration.ts';
import { checkClientEnvironment } from './checks/client-environment.ts';
import { checkConfiguration } from './checks/configuration.ts';
import { checkContainers } from './checks/containers.ts';
import { checkExtensions } from './checks/extensions.ts';
import { checkGrantedServers } from './checks/granted-servers.ts';
import { checkModes } from './checks/modes.ts';
import { checkOverrides } from './checks/overrides.ts';
import { checkNode, checkPackage } from './checks/package.ts';
import { checkSearchTools } from './checks/search-tools.ts';
import { checkSkills } from './checks/skills.ts';
import { checkStablePaths } from './checks/stable-paths.ts';
import { checkWorkspaces } from './checks/workspaces.ts';
import type { DoctorInput } from './input.ts';
import { type DoctorResult, resultOf } from './model.ts';

/**
 * Examines a package, its configuration and what the configuration names
 * (docs/doctor.md). Looks only: nothing is changed, run or fetched. A check that
 * an earlier finding makes pointless is left out. Takes some tens of milliseconds.
 */
export async function runDoctor(input: DoctorInput): Promise<DoctorResult> {
  const examined = checkPackage(input);
  const loaded = loadConfiguration(input);
  const checks = [
    ...checkNode(input),
    ...examined.checks,
    ...checkConfiguration(loaded),
    ...checksOfConfiguration(input, loaded),
    ...checkSearchTools(input),
    ...checkStablePaths(input),
  ];
  return resultOf(checks, examined.version);
}

function checksOfConfiguration(input: DoctorInput, loaded: LoadResult) {
  if (!loaded.ok) return [];
  const { configuration } = loaded;
  return [
    ...checkWorkspaces(input, configuration),
    ...checkModes(configuration),
    ...checkContainers(input, configuration),
    ...checkExtensions(input, configuration),
    ...checkSkills(input, configuration),
    ...checkOverrides(input, configuration),
    ...checkGrantedServers(input, configuration),
    ...checkClientEnvironment(input, configuration),
  ];
}
