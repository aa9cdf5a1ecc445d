/** Registrations and customizations, from what was asked for to the exit status. */
import { dirname, join } from 'node:path';
import { customization } from '../adapters/fs/customization.ts';
import { isSkillName } from '../config/limits.ts';
import type { Progress as Step } from '../ports/setup/run.ts';
import type { ParsedArguments, SetupCommand } from './arguments.ts';
import { assemble, describeTarget, intendedEntry } from './assembly.ts';
import type { Fenced } from './fence.ts';
import { emit, useColours } from './output.ts';
import type { Places } from './places.ts';
import { chooseProgress } from './progress.ts';
import { progressText } from './progress-text.ts';
import { type RunSetupOptions, runCustomization, runSetup } from './run-setup.ts';
import { onInterrupt } from './signals.ts';
import { wakeChoice } from './wake-hook.ts';

type Options = Pick<ParsedArguments, 'json'>;
type CommandOf<Kind> = Extract<SetupCommand, { kind: Kind }>;

/**
 * @param fenced May have begun already.
 * @returns The exit status.
 */
export function executeTargets(
  { operation, targets, wake }: CommandOf<'targets'>,
  { json }: Options,
  places: Places,
  configuration: string,
  fenced: Fenced,
): Promise<number> {
  const entry = intendedEntry(places, configuration);
  const described = targets.map((target) =>
    describeTarget(target, places, entry, wakeChoice(target, places, wake, configuration)),
  );
  const request = { operation, targets: described };
  return concluded(json, (options) => runSetup(request, assemble(places, configuration, fenced), options));
}

/** @returns The exit status. */
export function executeCustomization(
  { operation, skill: name }: CommandOf<'customize'>,
  { json }: Options,
  { packageRoot }: Places,
  configuration: string,
): Promise<number> {
  const overrides = join(dirname(configuration), 'skills');
  const alias = isSkillName(name) ? name : 'invalid';
  return concluded(json, (options) =>
    runCustomization({ operation, alias }, customization({ name, packageRoot, overrides }), options),
  );
}

async function concluded(json: boolean, run: (options: RunSetupOptions) => ReturnType<typeof runSetup>) {
  const progress = chooseProgress(json);
  const onProgress = (step: Step) => progress.show(progressText(step));
  const { exit, ...result } = await run({ onProgress, onInterrupt }).finally(() => progress.end());
  emit({ schemaVersion: 1, ...result }, json, useColours());
  return exit;
}
