/** `--repo` with an action on its writers, and their provisioning, from arguments to a report. */
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { ownershipStore } from '../../adapters/fs/ownership-store.ts';
import { DEFAULT_IMAGE } from '../../config/configuration.ts';
import { hostInput } from '../../doctor/input.ts';
import { runDoctor } from '../../doctor/run-doctor.ts';
import type { Finding, ModeCode, RunCode, Status, Target } from '../../ports/setup/target.ts';
import type { WriterOperation } from '../../ports/writers/lifecycle.ts';
import { WRITER_CLIENTS } from '../../writers/clients.ts';
import { type ParsedArguments, SERVER_ALIAS, type SetupCommand, type WriterAction } from '../arguments.ts';
import { endProcess } from '../end-process.ts';
import { emit, useColours } from '../output.ts';
import type { Places } from '../places.ts';
import { chooseProgress } from '../progress.ts';
import { EXIT } from '../report.ts';
import { onInterrupt } from '../signals.ts';
import { type Crew, openCrew } from './crew.ts';
import { writerFinding } from './findings.ts';
import { interruptible } from './interruptible.ts';
import { verifyWriter } from './verify.ts';
import { stateOf, type WorkResult, work } from './work.ts';

type WritersCommand = Extract<SetupCommand, { kind: 'writers' }>;
type Options = Omit<ParsedArguments, 'command'>;

const OPERATIONS: Readonly<Record<Exclude<WriterAction, 'status' | 'verify'>, WriterOperation>> = {
  'isolation-control': 'control',
  accept: 'accept',
  collect: 'collect',
  finish: 'finish',
  reset: 'reset',
  recreate: 'recreate',
  remove: 'remove',
};
const WORDS: Readonly<Record<WriterAction | 'provision', string>> = {
  provision: 'Making',
  'isolation-control': 'Trying the walls of',
  accept: 'Accepting',
  status: 'Looking at',
  verify: 'Starting',
  collect: 'Collecting from',
  finish: 'Finishing',
  reset: 'Resetting',
  recreate: 'Making anew',
  remove: 'Removing',
};
/** Statuses of a finding that make the whole run one that failed. */
const BAD: readonly Status[] = ['failed', 'divergent', 'unsupported'];
/** These need the contained configuration, which only a workspace of this mode has. */
const CONTAINER_ONLY: readonly WriterAction[] = ['isolation-control', 'accept'];
/** Where nothing is there, these have said all that there is to say. */
const LOOKS: readonly WriterAction[] = ['status', 'verify'];

interface Outcome extends WorkResult {
  readonly code?: RunCode;
}

/** @returns The exit status. */
export async function executeWriters(
  command: WritersCommand,
  options: Options,
  places: Places,
  configuration: string,
): Promise<number> {
  const { action, workspace } = command;
  const opened = openCrew(workspace, configuration, places, agentDirectory());
  if (!opened.ok) {
    const findings = opened.code === 'workspace_unknown' ? [modeFinding(workspace, 'failed', opened.code)] : [];
    const code = opened.code === 'workspace_unknown' ? {} : { code: opened.code };
    return conclude(action, { findings, ...code }, options.json);
  }
  const { crew } = opened;
  if (CONTAINER_ONLY.includes(action) && crew.workspace.container === undefined) {
    return conclude(
      action,
      { findings: [writerFinding(workspace, workspace, 'workspace_not_container')] },
      options.json,
    );
  }
  const names = command.writer === undefined ? crew.all : crew.all.filter((name) => name === command.writer);
  if (names.length === 0) {
    const isNone = command.writer === undefined;
    const code = isNone ? 'writers_none' : 'writer_unknown';
    const found = writerFinding(workspace, workspace, code, LOOKS.includes(action));
    return conclude(action, { findings: [found] }, options.json);
  }
  const progress = await chooseProgress(options.json);
  const announce = (name: string) => progress.show(`${WORDS[action]} ${name}`);
  const outcome = await act(command, crew, names, { places, configuration, announce });
  progress.end();
  return conclude(action, outcome, options.json);
}

interface Surroundings {
  readonly places: Places;
  readonly configuration: string;
  readonly announce: (name: string) => void;
}

async function act(
  command: WritersCommand,
  crew: Crew,
  names: readonly string[],
  around: Surroundings,
): Promise<Outcome> {
  const { action, operation, discard } = command;
  const { alias } = crew.workspace;
  if (action === 'status') {
    const look = async (name: string, signal: AbortSignal) =>
      writerFinding(alias, name, await stateOf(crew.station(name), crew.parts(name), signal), true);
    return looking(crew, (signal) => each(alias, names, around, signal, look));
  }
  if (action === 'verify') {
    const { home } = around.places;
    const look = (name: string, signal: AbortSignal) => verifyWriter(crew, name, { home, end: endProcess, signal });
    return looking(crew, async (signal) => {
      if (await hasErrors(around)) return { findings: [], code: 'doctor_failed' };
      return each(alias, names, around, signal, look);
    });
  }
  const dryRun = operation === 'dry-run';
  const request = {
    crew,
    operation: OPERATIONS[action],
    names,
    discard,
    dryRun,
    announce: around.announce,
    onInterrupt,
  };
  return dryRun ? looking(crew, () => work(request)) : fenced(crew, () => work(request));
}

/** What an interrupted look has found means nothing. */
async function each(
  workspace: string,
  names: readonly string[],
  { announce }: Surroundings,
  signal: AbortSignal,
  look: (name: string, signal: AbortSignal) => Promise<Finding>,
): Promise<Outcome> {
  const findings: Finding[] = [];
  for (const name of names) {
    if (signal.aborted) break;
    announce(name);
    const found = await look(name, signal);
    findings.push(signal.aborted ? writerFinding(workspace, name, 'interrupted') : found);
  }
  return { findings };
}

/** Beside any other setup; what it has started of clients ends with it. */
function looking(crew: Crew, run: (signal: AbortSignal) => Promise<Outcome>): Promise<Outcome> {
  return interruptible(async (signal) => {
    try {
      return await run(signal);
    } finally {
      await crew.fence.release();
    }
  });
}

/** One setup at a time changes anything, and nothing of its clients outlives it. */
function fenced(crew: Crew, run: (signal: AbortSignal) => Promise<Outcome>): Promise<Outcome> {
  return looking(crew, async (signal) => {
    if ((await crew.fence.acquire(signal)) !== 'locked') return { findings: [], code: 'ownership_unavailable' };
    const outcome = await run(signal);
    await crew.forget();
    return outcome;
  });
}

export interface ProvisionRequest {
  readonly workspace: string;
  readonly client: Target | undefined;
  readonly dryRun: boolean;
  readonly places: Places;
  readonly configuration: string;
  readonly show: (text: string) => void;
}

/** Makes the writers that the recorded mode asks for. Never rejects, except for defects. */
export async function provisionWriters(request: ProvisionRequest): Promise<Outcome> {
  const { workspace, places, configuration, dryRun } = request;
  const opened = openCrew(workspace, configuration, places, agentDirectory());
  if (!opened.ok) return { findings: [], code: 'operation_failed' };
  const { crew } = opened;
  const { container } = crew.workspace;
  // Only planned so far: there is nothing to read the writers' number from.
  if (container === undefined) return { findings: [] };
  const { client } = request;
  const fallback = client ?? (await knownClient(places));
  // A writer that a client knows already says itself where it goes.
  const isHomeless = crew.configured.some((name) => crew.parts(name, { client, fallback }).registered === undefined);
  if (isHomeless) return { findings: [writerFinding(workspace, workspace, 'writer_client_required')] };
  const announce = (name: string) => request.show(`${WORDS.provision} ${name}`);
  if (!dryRun && (await hasErrors(request))) return { findings: [], code: 'doctor_failed' };
  const common = { crew, operation: 'provision' as const, names: crew.configured, discard: false, client, fallback };
  const run = () => work({ ...common, dryRun, announce, onInterrupt });
  if (dryRun) return looking(crew, run);
  return fenced(crew, async (signal) => {
    if (container.image !== DEFAULT_IMAGE) request.show('Preparing the image');
    const root = await crew.root(signal);
    if (signal.aborted) return { findings: [] };
    if (root.kind === 'ready') return run();
    return { findings: [writerFinding(workspace, workspace, `image_${root.kind}`)] };
  });
}

/** The one client that has the server itself; a choice between two is not made for the operator. */
async function knownClient({ stateDirectory }: Places): Promise<Target | undefined> {
  const read = await ownershipStore(stateDirectory).read();
  const records = read.ok ? read.records : [];
  const owned = records.filter(({ alias, phase }) => alias === SERVER_ALIAS && phase === 'owned');
  const [only, ...others] = WRITER_CLIENTS.filter(({ client, scope }) =>
    owned.some((record) => record.client === client && record.scope === scope),
  );
  return others.length === 0 ? only : undefined;
}

async function hasErrors({ places, configuration }: Pick<Surroundings, 'places' | 'configuration'>): Promise<boolean> {
  const env = { ...process.env, PI_SESSION_MCP_CONFIG: configuration };
  const { checks } = await runDoctor(hostInput({ packageRoot: places.packageRoot, env }));
  return checks.some(({ severity }) => severity === 'error');
}

/** As Pi itself finds it. */
function agentDirectory(): string {
  const named = process.env['PI_CODING_AGENT_DIR']?.replace(/^~(?=\/|$)/, homedir());
  return named && isAbsolute(named) ? named : join(homedir(), '.pi', 'agent');
}

function modeFinding(workspace: string, status: Status, code: ModeCode): Finding {
  return { target: { client: 'workspace', scope: 'mode', alias: workspace }, status, code };
}

/** Overall: what is worst. */
function statusOf(findings: readonly Finding[], code?: RunCode): Status {
  if (code !== undefined || findings.some(({ status }) => BAD.includes(status))) return 'failed';
  const found = (['planned', 'ok', 'absent', 'unchanged'] as const).find((status) =>
    findings.some((finding) => finding.status === status),
  );
  return found ?? 'unchanged';
}

/** The mode's own finding comes first. */
export function concludeProvision(operation: string, mode: Finding, made: Outcome, json: boolean): number {
  return conclude(operation, { ...made, findings: [mode, ...made.findings] }, json);
}

function conclude(operation: string, { findings, interrupted, code }: Outcome, json: boolean): number {
  const status = interrupted ? 'failed' : statusOf(findings, code);
  const stopped = interrupted ? 'operation_interrupted' : code;
  emit({ schemaVersion: 1, operation, status, ...(stopped && { code: stopped }), findings }, json, useColours());
  return interrupted ? EXIT[interrupted] : status === 'failed' ? EXIT.failed : EXIT.ok;
}
