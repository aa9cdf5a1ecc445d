/** What `--init` asks on a terminal, for whatever no option has answered. */
import * as prompts from '@clack/prompts';
import type { UsableModel } from '../../adapters/pi/available-models.ts';
import type { ThinkingLevel } from '../../config/configuration.ts';

/** The operator pressed Ctrl-C or Escape. */
export class Cancelled extends Error {}

const io = { output: process.stderr, input: process.stdin };

function answered<T>(value: T): Exclude<T, symbol> {
  if (prompts.isCancel(value)) throw new Cancelled();
  return value as Exclude<T, symbol>;
}

/** @param check Says what is wrong with an answer, or nothing. */
export async function askWorkspace(initial: string, check: (text: string) => string | undefined): Promise<string> {
  const message = 'Directory for Pi sessions? (or NAME=DIRECTORY)';
  const validate = (text: string | undefined) => check(text ?? '');
  return answered(await prompts.text({ ...io, message, initialValue: initial, validate }));
}

export async function askModel(models: readonly UsableModel[]): Promise<UsableModel> {
  const options = models.map((model, index) => ({ value: index, label: `${model.provider} / ${model.model}` }));
  const message = 'Which model? Type to search.';
  const index = answered(await prompts.autocomplete<number>({ ...io, message, options, maxItems: 12 }));
  return models[index] as UsableModel;
}

export async function askThinking(levels: readonly ThinkingLevel[], initial: ThinkingLevel): Promise<ThinkingLevel> {
  const options = levels.map((level) => ({ value: level, label: level }));
  return answered(await prompts.select({ ...io, message: 'How much thinking?', options, initialValue: initial }));
}

/** One question for both: a coding profile on the host is never made without the operator's word. */
export async function askCoding(): Promise<boolean> {
  const message = 'Also let sessions change files and run commands there, without a sandbox?';
  return answered(await prompts.confirm({ ...io, message, initialValue: false }));
}
