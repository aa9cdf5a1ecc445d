/** Steps of a run in words. */
import type { Progress, ProgressStep } from '../ports/setup/run.ts';
import type { ClientName } from '../ports/setup/target.ts';

const NAMES: Readonly<Record<ClientName, string>> = { codex: 'Codex', 'claude-code': 'Claude Code' };

const TEXTS: Readonly<Record<ProgressStep, string>> = {
  waiting_for_lock: 'Waiting for another setup',
  checking_configuration: 'Checking the configuration',
  reading_release: 'Reading the package',
  inspecting: 'Asking the client',
  adding: 'Registering the server',
  removing: 'Removing the registration',
  verifying: 'Starting the server',
  checking_skill: 'Looking at the controller skill',
  installing_skill: 'Installing the controller skill',
  removing_skill: 'Removing the controller skill',
  customizing_skill: 'Looking at the skill',
  checking_hook: 'Looking at the wake hook',
  installing_hook: 'Installing the wake hook',
  removing_hook: 'Removing the wake hook',
  finishing: 'Finishing',
};

export function progressText({ step, target }: Progress): string {
  return target ? `${TEXTS[step]} (${NAMES[target.client]}, ${target.scope})` : TEXTS[step];
}
