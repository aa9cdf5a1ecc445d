/** `--repo` with an action on its writers, from arguments to a report. */
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import type { Finding, ModeCode, RunCode, Status } from '../../ports/setup/target.ts';
import type { WriterOperation } from '../../ports/writers/lifecycle.ts';
import type { ParsedArguments, SetupCommand, WriterAction } from '../arguments.ts';
import { endProcess } from '../end-process.ts';
import { emit, useColours } from '../output.ts';
import type { Places } from '../places.ts';
import { chooseProgress } from '../progress.ts';
import { EXIT } from '../report.ts';
import { onInterrupt } from '../signals.ts';
import { type Crew, openCrew } from './crew.ts';
import { hasErrors } from './doctor.ts';
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
export const WORDS: Readonly<Record<WriterAction | 'provision', string>> = {
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

export interface Outcome extends WorkResult {
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
      if (await hasErrors({ ...around, workspace: crew.workspace })) return { findings: [], code: 'doctor_failed' };
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
export function looking<T extends Outcome>(crew: Crew, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  return interruptible(async (signal) => {
    try {
      return await run(signal);
    } finally {
      await crew.fence.release();
    }
  });
}

/** One setup at a time changes anything, and nothing of its clients outlives it. */
export function fenced(crew: Crew, run: (signal: AbortSignal) => Promise<Outcome>): Promise<Outcome> {
  return looking(crew, async (signal) => {
    if ((await crew.fence.acquire(signal)) !== 'locked') return { findings: [], code: 'ownership_unavailable' };
    const outcome = await run(signal);
    await crew.forget();
    return outcome;
  });
}

/** As Pi itself finds it. */
export function agentDirectory(): string {
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

/** @returns The exit status. */
export function conclude(operation: string, { findings, interrupted, code }: Outcome, json: boolean): number {
  const status = interrupted ? 'failed' : statusOf(findings, code);
  const stopped = interrupted ? 'operation_interrupted' : code;
  emit({ schemaVersion: 1, operation, status, ...(stopped && { code: stopped }), findings }, json, useColours());
  return interrupted ? EXIT[interrupted] : status === 'failed' ? EXIT.failed : EXIT.ok;
}
