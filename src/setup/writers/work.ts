/** One action on each writer, one after the other: they share the clients and the machine. */

import { releaseFingerprint } from '../../adapters/fs/release-binding.ts';
import { runWriter, type WriterRun } from '../../app/writer-run.ts';
import { planFor } from '../../machines/writers/plan.ts';
import type { InterruptSignal } from '../../ports/setup/run.ts';
import type { Finding, Target, WriterFindingCode } from '../../ports/setup/target.ts';
import type { Collection } from '../../ports/writers/git.ts';
import type { WriterCode, WriterInput, WriterOperation } from '../../ports/writers/lifecycle.ts';
import { isAccepted } from '../../writers/acceptance.ts';
import { readRecord } from '../../writers/record.ts';
import { isAsConfigured } from '../../writers/settings.ts';
import type { Station, StationParts } from '../../writers/station.ts';
import type { Crew } from './crew.ts';
import { collectedDetails, collectedRemarks, writerFinding } from './findings.ts';

export interface WorkRequest {
  readonly crew: Crew;
  readonly operation: WriterOperation;
  readonly names: readonly string[];
  readonly discard: boolean;
  readonly dryRun: boolean;
  readonly client?: Target;
  /** Called before each writer. */
  readonly announce: (name: string) => void;
  readonly onInterrupt: (interrupt: (signal: InterruptSignal) => void) => () => void;
}

export interface WorkResult {
  readonly findings: readonly Finding[];
  readonly interrupted?: InterruptSignal;
}

const NEVER = new AbortController().signal;

/** Never rejects. */
export async function work(request: WorkRequest): Promise<WorkResult> {
  const findings: Finding[] = [];
  let interrupted: InterruptSignal | undefined;
  let running: WriterRun | undefined;
  const stop = request.onInterrupt((signal) => {
    interrupted ??= signal;
    running?.interrupt();
  });
  for (const name of request.names) {
    if (interrupted) break;
    request.announce(name);
    const station = request.crew.station(name, { client: request.client, beside: isBeside(inputOf(request)) });
    if (request.dryRun) {
      findings.push(finding(request, name, await planned(station, inputOf(request))));
      continue;
    }
    running = runWriter(station, inputOf(request));
    const code = settled(worded(await running.ended), request, name);
    findings.push(...outcome(request, name, code, station.collection()));
  }
  stop();
  return { findings, ...(interrupted && { interrupted }) };
}

/** A writer that is there already may be another one than is asked for now. */
function settled(code: WriterFindingCode, { crew, operation }: WorkRequest, name: string): WriterFindingCode {
  const { places, request } = crew.parts(name);
  if (operation !== 'provision' || code !== 'writer_unchanged' || isAsConfigured(places, request)) return code;
  return 'writer_settings_changed';
}

/** Another code of this name is about clients. */
function worded(code: WriterCode): WriterFindingCode {
  return code === 'inspect_failed' ? 'clone_unreadable' : code;
}

function inputOf({ crew, operation, discard }: WorkRequest): WriterInput {
  return { operation, discard, lifecycle: crew.workspace.container?.lifecycle ?? 'persistent' };
}

/** What only asks git inside, and leaves every directory where it is. */
function isBeside({ operation, lifecycle }: WriterInput): boolean {
  return operation === 'collect' || operation === 'reset' || (operation === 'finish' && lifecycle === 'persistent');
}

function finding({ crew }: WorkRequest, name: string, code: WriterFindingCode): Finding {
  return writerFinding(crew.workspace.alias, name, code);
}

/** What has become of it comes first, then what else there is to say. */
function outcome(request: WorkRequest, name: string, code: WriterFindingCode, collection?: Collection): Finding[] {
  const first = finding(request, name, code);
  const isOpen = request.operation === 'control' && !isLimited(request.crew.parts(name));
  return [
    collection ? { ...first, details: collectedDetails(collection) } : first,
    ...(collection ? collectedRemarks(collection) : []).map((remark) => ({
      ...finding(request, name, remark.code),
      details: remark.details,
    })),
    ...(isOpen ? [finding(request, name, 'limits_not_enforced')] : []),
  ];
}

/** As the record says, which the acceptance has just made anew. */
function isLimited({ places }: StationParts): boolean {
  return readRecord(places.directory)?.host.limits.processes ?? true;
}

async function planned(station: Station, input: WriterInput): Promise<WriterFindingCode> {
  const read = await station.read(NEVER);
  if (!read.ok) return 'journal_unreadable';
  const plan = planFor(input, read.phase);
  return plan.kind === 'stop' ? worded(plan.code) : 'writer_planned';
}

/** Where a writer stands. Asks git in a box of its own, beside whatever runs. Never rejects. */
export async function stateOf(station: Station, parts: StationParts): Promise<WriterFindingCode> {
  const { places, packageRoot, request } = parts;
  const read = await station.read(NEVER);
  if (!read.ok) return 'journal_unreadable';
  switch (read.phase) {
    case null:
      return 'writer_absent';
    case 'controlling':
      return 'control_required';
    case 'accepting':
      return 'acceptance_required';
    case 'resetting':
    case 'recreating':
      return 'restart_unfinished';
    case 'unregistering':
    case 'removing':
      return 'removal_unfinished';
    case 'ready':
      if (request.workspace.container && !isAsConfigured(places, request)) return 'writer_settings_changed';
      if (!isAccepted(places, releaseFingerprint(packageRoot))) return 'acceptance_outdated';
      return stateOfReady(station);
    default:
      return 'writer_not_provisioned';
  }
}

async function stateOfReady(station: Station): Promise<WriterFindingCode> {
  const found = await station.inspect(NEVER);
  if (found === 'unknown') return 'clone_unreadable';
  return found === 'work' ? 'writer_has_work' : 'writer_ready';
}
