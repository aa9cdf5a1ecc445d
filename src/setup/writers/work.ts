/** One action on each writer, one after the other: they share the clients and the machine. */

import { existsSync } from 'node:fs';
import { releaseFingerprint } from '../../adapters/fs/release-binding.ts';
import { runWriter, type WriterRun } from '../../app/writer-run.ts';
import { planFor } from '../../machines/writers/plan.ts';
import type { InterruptSignal } from '../../ports/setup/run.ts';
import type { Finding, SettingName, Target, WriterFindingCode } from '../../ports/setup/target.ts';
import type { WriterCode, WriterInput, WriterOperation } from '../../ports/writers/lifecycle.ts';
import { isAccepted } from '../../writers/acceptance.ts';
import { readRecord } from '../../writers/record.ts';
import { readRegistration } from '../../writers/registration.ts';
import { changedSettings, isAsConfigured } from '../../writers/settings.ts';
import type { Station, StationParts } from '../../writers/station.ts';
import type { Crew } from './crew.ts';
import { collectedDetails, collectedRemarks, writerFinding } from './findings.ts';

export interface WorkRequest {
  readonly crew: Crew;
  readonly operation: WriterOperation;
  readonly names: readonly string[];
  readonly discard: boolean;
  readonly dryRun: boolean;
  /** The one that the operator has named. */
  readonly client?: Target | undefined;
  /** For a writer that no client knows yet. */
  readonly fallback?: Target | undefined;
  /** Called before each writer. */
  readonly announce: (name: string) => void;
  readonly onInterrupt: (interrupt: (signal: InterruptSignal) => void) => () => void;
}

export interface WorkResult {
  readonly findings: readonly Finding[];
  readonly interrupted?: InterruptSignal;
}

/** Never rejects. */
export async function work(request: WorkRequest): Promise<WorkResult> {
  const findings: Finding[] = [];
  const { client, fallback } = request;
  const looks = new AbortController();
  let interrupted: InterruptSignal | undefined;
  let running: WriterRun | undefined;
  const stop = request.onInterrupt((signal) => {
    interrupted ??= signal;
    running?.interrupt();
    looks.abort();
  });
  for (const name of request.names) {
    if (interrupted) break;
    request.announce(name);
    const station = request.crew.station(name, { client, fallback, beside: isBeside(inputOf(request)) });
    if (request.dryRun) {
      const plan = await planned(station, inputOf(request), looks.signal);
      findings.push(settled(plan, request, name));
      continue;
    }
    running = runWriter(station, inputOf(request));
    const done = settled(worded(await running.ended), request, name);
    findings.push(...outcome(request, name, done, station));
  }
  stop();
  return { findings, ...(interrupted && { interrupted }) };
}

/** Also of one whose making was cut off, and that was made on as it had been begun. */
const OF_A_MADE_ONE: readonly WriterFindingCode[] = [
  ...(['writer_unchanged', 'writer_provisioned', 'writer_registered', 'registration_absent'] as const),
];

/** A writer that is there already may be another one than is asked for now. */
function settled(code: WriterFindingCode, request: WorkRequest, name: string): Finding {
  // Nothing is known of it; a client may all the same.
  if (code === 'writer_unchanged' && request.operation === 'remove') return finding(request, name, 'writer_gone');
  if (!OF_A_MADE_ONE.includes(code)) return finding(request, name, code);
  const { places, request: asked } = request.crew.parts(name);
  const isMoved = !isKnownTo(request.client, places);
  const settings: SettingName[] = [...changedSettings(places, asked), ...(isMoved ? (['client'] as const) : [])];
  return settings.length === 0
    ? writerFinding(request.crew.workspace.alias, name, code, true)
    : { ...finding(request, name, 'writer_settings_changed'), settings };
}

/** Is there something for a run that changes things to do? */
export function isToDo({ code }: Finding): boolean {
  return code === 'writer_planned' || code === 'registration_absent';
}

/** Is it registered with the client that was named, if one was? */
function isKnownTo(client: Target | undefined, places: StationParts['places']): boolean {
  const read = readRegistration(places, existsSync);
  if (client === undefined || read.kind !== 'known') return true;
  const { target } = read.registered;
  return target.client === client.client && target.scope === client.scope;
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
function outcome(request: WorkRequest, name: string, done: Finding, station: Station): Finding[] {
  const collection = station.collection();
  const image = station.image();
  const isOpen = request.operation === 'control' && !isLimited(request.crew.parts(name));
  return [
    collection ? { ...done, details: collectedDetails(collection) } : done,
    ...(collection ? collectedRemarks(collection) : []).map(({ code, details }) => ({
      ...finding(request, name, code),
      details,
    })),
    ...(image ? [finding(request, name, `image_${image}`)] : []),
    ...(isOpen ? [finding(request, name, 'limits_not_enforced')] : []),
  ];
}

/** As the record says, which the acceptance has just made anew. */
function isLimited({ places }: StationParts): boolean {
  return readRecord(places.directory)?.host.limits.processes ?? true;
}

async function planned(station: Station, input: WriterInput, signal: AbortSignal): Promise<WriterFindingCode> {
  const read = await station.read(signal);
  if (!read.ok) return 'journal_unreadable';
  const plan = planFor(input, read.phase);
  if (plan.kind === 'consult') {
    const found = await station.consult(signal);
    if (signal.aborted) return 'interrupted';
    if (found === 'unknown') return 'register_failed';
    return found === 'present' ? 'writer_unchanged' : 'registration_absent';
  }
  return plan.kind === 'stop' ? worded(plan.code) : 'writer_planned';
}

/**
 * Where a writer stands. Asks git in a box of its own, beside whatever runs, and never a client:
 * that the writer is still registered is for `--verify` to say. Never rejects.
 */
export async function stateOf(station: Station, parts: StationParts, signal: AbortSignal): Promise<WriterFindingCode> {
  const standing = await standingOf(station, parts, signal);
  if (standing !== 'writer_ready') return standing;
  const found = await station.inspect(signal);
  if (found === 'unknown') return 'clone_unreadable';
  return found === 'work' ? 'writer_has_work' : 'writer_ready';
}

/** The same without a look at its clone: may a client start it? Never rejects. */
export async function standingOf(
  station: Station,
  { places, packageRoot, request }: StationParts,
  signal: AbortSignal,
): Promise<WriterFindingCode> {
  const read = await station.read(signal);
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
      return 'writer_ready';
    default:
      return 'writer_not_provisioned';
  }
}
