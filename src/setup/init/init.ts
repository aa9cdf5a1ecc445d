/** `--init`: from nothing to a first configuration. Asks on a terminal, takes options everywhere, overwrites nothing. */
import { lstatSync, readFileSync, statSync } from 'node:fs';
import { writeNewFile } from '../../adapters/fs/new-file.ts';
import { listUsableModels, type UsableModel } from '../../adapters/pi/available-models.ts';
import type { ThinkingLevel } from '../../config/configuration.ts';
import { modesFileOf } from '../../config/load-configuration.ts';
import type { Finding, InitCode, Status } from '../../ports/setup/target.ts';
import type { InitAnswers } from '../arguments.ts';
import { type FirstChoice, firstFiles, isValid, parseWorkspace } from './document.ts';

export interface InitInput {
  readonly answers: InitAnswers;
  readonly dryRun: boolean;
  /** Absolute; where the configuration goes. */
  readonly path: string;
  readonly cwd: string;
  readonly packageRoot: string;
  /** May questions be asked? */
  readonly interactive: boolean;
  /** Something that takes more than a second begins, or has ended. */
  readonly onWaiting: (waiting: boolean) => void;
}

export type InitOutcome =
  | { readonly kind: 'finding'; readonly finding: Finding; readonly coding: boolean }
  /** Not interactive, and these are the options that are missing. */
  | { readonly kind: 'unanswered'; readonly options: readonly string[] }
  | { readonly kind: 'cancelled' };

const TARGET = { client: 'config', scope: 'operator', alias: 'pi-session-mcp' } as const;

class Refusal extends Error {
  readonly code: InitCode;
  constructor(code: InitCode) {
    super(code);
    this.code = code;
  }
}

/** Never rejects, except for defects. */
export async function initialize(input: InitInput): Promise<InitOutcome> {
  const options = input.interactive ? [] : unanswered(input.answers);
  if (options.length > 0) return { kind: 'unanswered', options };
  // Loaded when there is something to ask: nothing else of setup needs it.
  const questions = await import('./questions.ts');
  try {
    if (isTaken(input.path)) throw new Refusal('config_exists');
    const choice = await choose(input, questions);
    return outcome(write(input, choice), choice.coding);
  } catch (error) {
    if (error instanceof questions.Cancelled) return { kind: 'cancelled' };
    if (error instanceof Refusal) return outcome(['failed', error.code], false);
    throw error;
  }
}

type Questions = typeof import('./questions.ts');

function outcome([status, code]: readonly [Status, InitCode], coding: boolean): InitOutcome {
  return { kind: 'finding', finding: { target: TARGET, status, code }, coding };
}

function unanswered({ workspace, provider, model, coding, acceptHostWrites }: InitAnswers): string[] {
  const needed = { '--workspace': workspace, '--provider': provider, '--model': model };
  const missing = Object.entries(needed).filter(([, value]) => value === undefined);
  const options = missing.map(([option]) => option);
  return coding && !acceptHostWrites ? [...options, '--accept-host-writes'] : options;
}

async function choose(input: InitInput, questions: Questions): Promise<FirstChoice> {
  const { answers } = input;
  const check = (text: string) =>
    usableWorkspace(text, input.cwd) ? undefined : 'No such directory, or no usable name.';
  const place = answers.workspace ?? (await questions.askWorkspace(input.cwd, check));
  const workspace = usableWorkspace(place, input.cwd);
  if (workspace === undefined) throw new Refusal('workspace_invalid');

  const model = await chooseModel(input, questions);
  const thinkingLevel = await chooseThinking(input, model, questions);
  const accepted = answers.coding && answers.acceptHostWrites;
  const coding = accepted || (input.interactive && !answers.acceptHostWrites && (await questions.askCoding()));
  return { ...workspace, provider: model.provider, model: model.model, thinkingLevel, coding };
}

function usableWorkspace(text: string, cwd: string) {
  const workspace = parseWorkspace(text, cwd);
  return workspace && isDirectory(workspace.directory) ? workspace : undefined;
}

async function chooseModel({ answers, onWaiting }: InitInput, questions: Questions): Promise<UsableModel> {
  onWaiting(true);
  const models = await listUsableModels().finally(() => onWaiting(false));
  if (models === undefined) throw new Refusal('pi_unavailable');
  const fitting = models.filter(
    ({ provider, model }) => provider === (answers.provider ?? provider) && model === (answers.model ?? model),
  );
  const [only] = fitting;
  if (only === undefined) throw new Refusal('model_unavailable');
  return fitting.length === 1 ? only : questions.askModel(fitting);
}

async function chooseThinking(
  { answers, interactive }: InitInput,
  { thinkingLevels }: UsableModel,
  questions: Questions,
): Promise<ThinkingLevel> {
  const usual = thinkingLevels.includes('medium') ? 'medium' : (thinkingLevels[0] ?? 'off');
  if (answers.thinking !== undefined) {
    const level = thinkingLevels.find((candidate) => candidate === answers.thinking);
    if (level === undefined) throw new Refusal('thinking_level_unsupported');
    return level;
  }
  return interactive && thinkingLevels.length > 1 ? questions.askThinking(thinkingLevels, usual) : usual;
}

function write({ path, packageRoot, dryRun }: InitInput, choice: FirstChoice): readonly [Status, InitCode] {
  const files = firstFiles(choice);
  if (!isValid(files, path, packageRoot)) return ['failed', 'workspace_invalid'];
  if (dryRun) return ['planned', 'config_planned'];
  // The modes first: without its configuration a modes file does nothing.
  const modes = writeModes(modesFileOf(path), files.modes);
  const written = modes === 'written' ? writeNewFile(path, files.configuration, 0o600) : modes;
  if (written === 'exists') return ['failed', 'config_exists'];
  return written === 'written' ? ['ok', 'config_written'] : ['failed', 'config_write_failed'];
}

/** An older modes file that says exactly this is what an interrupted run has left. */
function writeModes(path: string, text: string | undefined): ReturnType<typeof writeNewFile> {
  if (text === undefined) return isTaken(path) ? 'exists' : 'written';
  const written = writeNewFile(path, text, 0o600);
  return written === 'exists' && isSame(path, text) ? 'written' : written;
}

function isSame(path: string, text: string): boolean {
  try {
    return readFileSync(path, 'utf8') === text;
  } catch {
    return false;
  }
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/** A place that cannot be looked at is for the writing to refuse, which never replaces anything. */
function isTaken(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}
