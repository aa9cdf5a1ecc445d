/** The command line of `pi-session-mcp-setup`, read into one command. */
import { parseArgs } from 'node:util';
import { CACHES, IMAGE_NAME, isWriterCount, LIFECYCLES, MAX_WRITERS, NETWORKS } from '../config/limits.ts';
import type { ClientName, Operation, Scope, Target } from '../ports/setup/target.ts';
import { WRITER_CLIENTS } from '../writers/clients.ts';

export const SERVER_ALIAS = 'pi-session-mcp';

export interface InitAnswers {
  /** `ALIAS=DIRECTORY`, as given; checked by init itself. */
  readonly workspace?: string;
  readonly provider?: string;
  readonly model?: string;
  readonly thinking?: string;
  readonly coding: boolean;
  readonly acceptHostWrites: boolean;
}

/** What `--repo` shall record; what is not given takes the default of execution-modes.json. */
export interface ModeChoice {
  readonly mode?: 'host' | 'read-only' | 'container';
  readonly acceptHostWrites: boolean;
  /** As `execution-modes.json` has them; whether they fit is checked with the configuration. */
  readonly settings: Readonly<Record<string, string | number | readonly string[]>>;
}

/** What can be done with the writers of a workspace (docs/writers.md). */
export const WRITER_ACTIONS = [
  'isolation-control',
  'accept',
  'status',
  'verify',
  'collect',
  'finish',
  'reset',
  'recreate',
  'remove',
] as const;
export type WriterAction = (typeof WRITER_ACTIONS)[number];

export type SetupCommand =
  | { readonly kind: 'help' }
  | { readonly kind: 'version' }
  /** What an operator of Codex adds to its configuration by hand. */
  | { readonly kind: 'codex-hook' }
  | {
      readonly kind: 'targets';
      readonly operation: Operation;
      readonly targets: readonly Target[];
      /** Also the hook that wakes the client. */
      readonly wake: boolean;
    }
  | { readonly kind: 'customize'; readonly operation: 'dry-run' | 'apply'; readonly skill: string }
  | {
      readonly kind: 'mode';
      readonly operation: 'dry-run' | 'apply';
      readonly workspace: string;
      readonly choice: ModeChoice;
      /** With `--mode container`: who shall know the writers. */
      readonly client?: Target;
    }
  | {
      readonly kind: 'writers';
      readonly action: WriterAction;
      readonly operation: 'dry-run' | 'apply';
      readonly workspace: string;
      /** One of the workspace's writers; all of them without it. */
      readonly writer?: string;
      /** What is only in the clone may be lost. */
      readonly discard: boolean;
    }
  | { readonly kind: 'init'; readonly operation: 'dry-run' | 'apply'; readonly answers: InitAnswers };

export interface ParsedArguments {
  readonly command: SetupCommand;
  readonly json: boolean;
  /** As given; whether it is an absolute path is checked where it is used. */
  readonly config?: string;
}

export interface UsageProblem {
  readonly code: 'usage_invalid' | 'target_invalid';
  /** Fixed text: what was typed is never repeated. */
  readonly problem: string;
  readonly json: boolean;
}

export type ParseResult =
  | { readonly ok: true; readonly value: ParsedArguments }
  | ({ readonly ok: false } & UsageProblem);

const OPTIONS = {
  'dry-run': { type: 'boolean' },
  apply: { type: 'boolean' },
  verify: { type: 'boolean' },
  rollback: { type: 'boolean' },
  remove: { type: 'boolean' },
  target: { type: 'string', multiple: true },
  wake: { type: 'boolean' },
  'print-codex-hook': { type: 'boolean' },
  'customize-skill': { type: 'string' },
  init: { type: 'boolean' },
  workspace: { type: 'string' },
  provider: { type: 'string' },
  model: { type: 'string' },
  thinking: { type: 'string' },
  coding: { type: 'boolean' },
  'accept-host-writes': { type: 'boolean' },
  repo: { type: 'string' },
  mode: { type: 'string' },
  profiles: { type: 'string' },
  image: { type: 'string' },
  cache: { type: 'string' },
  network: { type: 'string' },
  writers: { type: 'string' },
  lifecycle: { type: 'string' },
  client: { type: 'string' },
  writer: { type: 'string' },
  'isolation-control': { type: 'boolean' },
  accept: { type: 'boolean' },
  status: { type: 'boolean' },
  collect: { type: 'boolean' },
  finish: { type: 'boolean' },
  reset: { type: 'boolean' },
  recreate: { type: 'boolean' },
  discard: { type: 'boolean' },
  config: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean' },
} as const;

export const OPTION_NAMES = Object.keys(OPTIONS);

const OPERATIONS = ['dry-run', 'apply', 'verify', 'rollback', 'remove'] as const;
const INIT_ONLY = ['workspace', 'provider', 'model', 'thinking', 'coding'] as const;
const CONTAINER_ONLY = ['profiles', 'image', 'cache', 'network', 'writers', 'lifecycle'] as const;
const WRITERS_ONLY = [
  ...WRITER_ACTIONS.filter((name) => name !== 'verify' && name !== 'remove'),
  'writer' as const,
  'discard' as const,
];
/** These may throw work away, which takes a word of its own. */
const DISCARDING: readonly WriterAction[] = ['reset', 'recreate', 'remove'];
/** These change nothing. */
const LOOKING: readonly WriterAction[] = ['status', 'verify'];
const MODES = ['host', 'read-only', 'container'] as const;

type Values = ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>['values'];

class Misuse extends Error {
  readonly code: UsageProblem['code'];
  constructor(code: UsageProblem['code'], problem: string) {
    super(problem);
    this.code = code;
  }
}

const misuse = (problem: string) => new Misuse('usage_invalid', problem);

/** Reads the arguments after the script's name. Unknown and contradicting options are misuse (exit status 64). */
export function parseArguments(args: readonly string[]): ParseResult {
  const json = args.includes('--json');
  try {
    return { ok: true, value: commandOf(read(args)) };
  } catch (error) {
    if (!(error instanceof Misuse)) throw error;
    return { ok: false, code: error.code, problem: error.message, json };
  }
}

function read(args: readonly string[]): Values {
  const parsed = tokenize(args);
  const seen = new Set<string>();
  for (const token of parsed.tokens) {
    if (token.kind !== 'option' || token.name === 'target') continue;
    if (seen.has(token.name)) throw misuse('an option is given twice');
    seen.add(token.name);
  }
  return parsed.values;
}

function tokenize(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, tokens: true, allowPositionals: false });
  } catch {
    throw misuse('there is an unknown option, a stray word, or an option without its value');
  }
}

function commandOf(values: Values): ParsedArguments {
  const rest = { json: values.json === true, ...(values.config === undefined ? {} : { config: values.config }) };
  return { command: values.help ? { kind: 'help' } : values.version ? { kind: 'version' } : act(values), ...rest };
}

function act(values: Values): SetupCommand {
  if (values.repo !== undefined && WRITER_ACTIONS.some((name) => values[name])) return writers(values, values.repo);
  if (WRITERS_ONLY.some((name) => values[name] !== undefined)) {
    throw misuse('--writer, --discard and what is done with writers need --repo and an action');
  }
  const operations = OPERATIONS.filter((name) => values[name]);
  if (operations.length > 1) throw misuse('only one operation at a time');
  const operation = operations[0];
  const skill = values['customize-skill'];
  const { repo } = values;
  const print = values['print-codex-hook'];
  const subjects = [values.target, skill, values.init, repo, print].filter((subject) => subject !== undefined);
  if (subjects.length > 1) {
    throw misuse('--target, --customize-skill, --init, --repo and --print-codex-hook exclude each other');
  }
  if (values.wake && values.target === undefined) throw misuse('--wake belongs to --target');
  if (!values.init && INIT_ONLY.some((name) => values[name] !== undefined)) {
    throw misuse('--workspace, --provider, --model, --thinking and --coding belong to --init');
  }
  if (repo === undefined && ['mode' as const, ...CONTAINER_ONLY].some((name) => values[name] !== undefined)) {
    throw misuse('--mode and the settings of containers belong to --repo');
  }
  if (values.client !== undefined && values.mode !== 'container') throw misuse('--client needs --mode container');
  if (!values.init && repo === undefined && values['accept-host-writes']) {
    throw misuse('--accept-host-writes belongs to --init and --repo');
  }
  if (print) return codexHook(values, operation);
  if (repo !== undefined) return mode(values, repo, operation);
  if (values.init) return init(values, operation);
  if (skill !== undefined) return { kind: 'customize', operation: planOrApply(operation, 'dry-run'), skill };
  if (values.target === undefined) throw misuse('nothing to work on: begin with --init, or give at least one --target');
  return {
    kind: 'targets',
    operation: operation ?? 'dry-run',
    targets: targetsOf(values.target),
    wake: values.wake === true,
  };
}

/** Its answer is a piece of configuration, and no report. */
function codexHook({ json }: Values, operation: Operation | undefined): SetupCommand {
  if (operation !== undefined || json) throw misuse('--print-codex-hook takes no operation and no --json');
  return { kind: 'codex-hook' };
}

function init(values: Values, operation: Operation | undefined): SetupCommand {
  const { workspace, provider, model, thinking } = values;
  const given = Object.entries({ workspace, provider, model, thinking }).filter(([, value]) => value !== undefined);
  const answers = {
    ...(Object.fromEntries(given) as Pick<InitAnswers, 'workspace' | 'provider' | 'model' | 'thinking'>),
    coding: values.coding === true,
    acceptHostWrites: values['accept-host-writes'] === true,
  };
  if (answers.acceptHostWrites && !answers.coding) throw misuse('--accept-host-writes needs --coding');
  return { kind: 'init', operation: planOrApply(operation, 'apply'), answers };
}

function mode(values: Values, workspace: string, operation: Operation | undefined): SetupCommand {
  const chosen = MODES.find((name) => name === values.mode);
  if (values.mode !== undefined && chosen === undefined) throw misuse('--mode is host, read-only or container');
  const given = CONTAINER_ONLY.filter((name) => values[name] !== undefined);
  if (given.length > 0 && chosen !== 'container') throw misuse('these settings need --mode container');
  if (chosen === 'container' && values.profiles === undefined) throw misuse('--mode container needs --profiles');
  const acceptHostWrites = values['accept-host-writes'] === true;
  if (acceptHostWrites && chosen !== 'host') throw misuse('--accept-host-writes needs --mode host');
  const settings = Object.fromEntries(given.map((name) => [name, settingOf(name, values[name] ?? '')]));
  const choice = { acceptHostWrites, settings, ...(chosen === undefined ? {} : { mode: chosen }) };
  const client = values.client === undefined ? {} : { client: clientOf(values.client) };
  return { kind: 'mode', operation: planOrApply(operation, 'dry-run'), workspace, choice, ...client };
}

function clientOf(text: string): Target {
  const target = WRITER_CLIENTS.find(({ client, scope }) => text === `${client}:${scope}`);
  if (target) return target;
  throw new Misuse('target_invalid', 'a client is codex:user, claude-code:user or claude-code:local');
}

function writers(values: Values, workspace: string): SetupCommand {
  const [action, ...more] = WRITER_ACTIONS.filter((name) => values[name]);
  if (action === undefined || more.length > 0) throw misuse('only one action at a time');
  const alien = [...INIT_ONLY, ...CONTAINER_ONLY, 'mode', 'client', 'accept-host-writes', 'rollback'] as const;
  const subjects = ['target', 'customize-skill', 'init'] as const;
  if ([...alien, ...subjects].some((name) => values[name] !== undefined)) {
    throw misuse('with an action on writers only --writer, --discard, --apply and --dry-run fit');
  }
  if (values.apply && values['dry-run']) throw misuse('only one operation at a time');
  if (values.apply && LOOKING.includes(action)) throw misuse('this action changes nothing: leave out --apply');
  if (values.discard && !DISCARDING.includes(action)) throw misuse('--discard needs --reset, --recreate or --remove');
  const writer = values.writer === undefined ? {} : { writer: values.writer };
  const operation = values.apply ? 'apply' : 'dry-run';
  return { kind: 'writers', action, operation, workspace, discard: values.discard === true, ...writer };
}

type Setting = (typeof CONTAINER_ONLY)[number];

/** Which profiles there are, only the configuration knows. */
function settingOf(name: Setting, text: string): string | number | readonly string[] {
  switch (name) {
    case 'profiles':
      return text.split(',');
    case 'writers':
      if (/^\d{1,4}$/.test(text) && isWriterCount(Number(text))) return Number(text);
      throw misuse(`--writers is a whole number from 1 to ${MAX_WRITERS}`);
    case 'image':
      if (IMAGE_NAME.test(text)) return text;
      throw misuse('--image is the name or id of an image, of at most 256 characters');
    case 'lifecycle':
      return oneOf(name, text, LIFECYCLES);
    case 'network':
      return oneOf(name, text, NETWORKS);
    case 'cache':
      return oneOf(name, text, CACHES);
  }
}

function oneOf(name: Setting, text: string, values: readonly string[]): string {
  if (values.includes(text)) return text;
  throw misuse(`--${name} is ${values.slice(0, -1).join(', ')} or ${values.at(-1)}`);
}

function planOrApply(operation: Operation | undefined, otherwise: 'dry-run' | 'apply'): 'dry-run' | 'apply' {
  if (operation === undefined) return otherwise;
  if (operation !== 'dry-run' && operation !== 'apply') throw misuse('only --dry-run and --apply fit here');
  return operation;
}

function targetsOf(texts: readonly string[]): Target[] {
  const targets = new Map(texts.map((text) => [text, targetOf(text)]));
  return [...targets.values()];
}

const SCOPES: Readonly<Record<ClientName, readonly Scope[]>> = {
  codex: ['user'],
  'claude-code': ['user', 'project', 'local'],
};

function targetOf(text: string): Target {
  const [client, scope, alias, ...more] = text.split(':');
  const scopes = client === 'codex' || client === 'claude-code' ? SCOPES[client] : [];
  const known = scopes.find((candidate) => candidate === scope);
  if (known === undefined || alias !== SERVER_ALIAS || more.length > 0) {
    throw new Misuse(
      'target_invalid',
      'a target is codex:user:pi-session-mcp or claude-code:user|project|local:pi-session-mcp',
    );
  }
  return { client: client as ClientName, scope: known };
}
