/** `--mode container`: what can be checked is checked, then the mode is recorded and its writers are made. */
import { ownershipStore } from '../../adapters/fs/ownership-store.ts';
import { remarkOn } from '../../adapters/git/checkout-remarks.ts';
import { createHostGit } from '../../adapters/git/host-git.ts';
import { readSource } from '../../adapters/git/source.ts';
import { type ContainerSettings, DEFAULT_IMAGE } from '../../config/configuration.ts';
import type { Finding, Target, WriterFindingCode } from '../../ports/setup/target.ts';
import { WRITER_CLIENTS } from '../../writers/clients.ts';
import { containedConfiguration } from '../../writers/contained-configuration.ts';
import { SERVER_ALIAS } from '../arguments.ts';
import type { Obstacle, PreparedMode } from '../modes/set-mode.ts';
import type { Places } from '../places.ts';
import { onInterrupt } from '../signals.ts';
import { type Crew, openCrew } from './crew.ts';
import type { DoctorRequest } from './doctor.ts';
import { agentDirectory, fenced, looking, type Outcome, WORDS } from './execute-writers.ts';
import { writerFinding } from './findings.ts';
import type { ProbeOnce } from './probe.ts';
import { isToDo, work } from './work.ts';

export interface ProvisionRequest {
  readonly mode: PreparedMode & { readonly container: ContainerSettings };
  readonly client: Target | undefined;
  readonly dryRun: boolean;
  readonly places: Places;
  readonly configuration: string;
  readonly probe: ProbeOnce;
  readonly obstacle: (image: string, signal: AbortSignal) => Promise<Obstacle | undefined>;
  /** Is there an error that matters to the workspace? */
  readonly doctor: (request: DoctorRequest) => Promise<boolean>;
  readonly show: (text: string) => void;
  /** Called before there is anything that a signal would have to end first. */
  readonly goOn: () => void;
}

/** What was found before anything is changed. */
interface Considered extends Outcome {
  /** Absent: there is nothing to do, or it cannot be done. */
  readonly next?: {
    readonly before: Finding;
    readonly isMaking: boolean;
    /** To be told of a mode that is recorded. */
    readonly outliving: readonly Finding[];
    readonly remarks: readonly Finding[];
    readonly fallback: Target | undefined;
  };
}

/** The mode's own finding comes first. Never rejects, except for defects. */
export async function provisionWriters(request: ProvisionRequest): Promise<Outcome> {
  const { mode, client } = request;
  const open = () => {
    const { alias, files } = mode;
    return openCrew(alias, request.configuration, request.places, agentDirectory(), { files, probe: request.probe });
  };
  const [looked, opened] = [open(), open()];
  if (!looked.ok || !opened.ok) return { findings: [unrecorded(mode)], code: 'operation_failed' };
  request.goOn();
  // A crew of its own: a guardian that has started without the lock would not hold it later.
  const { next, ...found } = await looking(looked.crew, (signal) => consider(request, looked.crew, signal));
  if (next === undefined || found.interrupted) return found;

  const { crew } = opened;
  const { fallback, isMaking, outliving, remarks } = next;
  let recorded = next.before;
  const outcome = await fenced(crew, async (signal) => {
    const unready = isMaking ? await prepareImage(crew, request, signal) : undefined;
    if (unready) return unready;
    if (mode.isChanged) recorded = mode.record();
    if (recorded.status === 'failed') return { findings: [] };
    const announce = (name: string) => request.show(`${WORDS.provision} ${name}`);
    const common = { crew, operation: 'provision', names: crew.configured, discard: false, dryRun: false } as const;
    const made = await work({ ...common, client, fallback, announce, onInterrupt });
    return { ...made, findings: [...made.findings, ...outliving, ...remarks] };
  });
  return { ...outcome, findings: [recorded, ...outcome.findings] };
}

function unrecorded({ finding, isChanged }: PreparedMode): Finding {
  return finding('unchanged', isChanged ? 'mode_not_recorded' : 'mode_unchanged');
}

async function consider(request: ProvisionRequest, crew: Crew, signal: AbortSignal): Promise<Considered> {
  const { mode, places, configuration, client, dryRun } = request;
  const { alias, isChanged, files } = mode;
  const before = unrecorded(mode);
  const fallback = client ?? (await knownClient(places));
  const common = { crew, operation: 'provision', names: crew.configured, discard: false, client, fallback } as const;
  const planned = await work({ ...common, dryRun: true, announce: () => {}, onInterrupt });
  const isMaking = planned.findings.some(isToDo);
  const outliving = crew.all
    .filter((name) => !crew.configured.includes(name))
    .map((name) => writerFinding(alias, name, 'writer_outlives_mode'));
  if (signal.aborted) return { findings: [before, ...planned.findings] };
  if (!isMaking && !isChanged) return { findings: [before, ...planned.findings, ...outliving] };

  const obstacle = await request.obstacle(mode.container.image, signal);
  if (signal.aborted) return { findings: [before] };
  if (obstacle) return { findings: [mode.finding('failed', obstacle)] };
  const { unmet, remarks } = isMaking ? await check(crew, client, fallback, signal) : { unmet: [], remarks: [] };
  const refusals = [...unmet, ...planned.findings.filter(({ status }) => isChanged && status === 'failed')];
  const isBroken = await request.doctor({ places, configuration, workspace: crew.workspace, files });
  if (isBroken || refusals.length > 0) {
    return { findings: [before, ...refusals], ...(isBroken && { code: 'doctor_failed' as const }) };
  }
  if (!dryRun) return { findings: [before], next: { before, isMaking, outliving, remarks, fallback } };
  const plan = isChanged ? mode.finding('planned', 'mode_planned') : before;
  return { findings: [plan, ...planned.findings, ...outliving, ...remarks] };
}

interface Checked {
  readonly unmet: readonly Finding[];
  readonly remarks: readonly Finding[];
}

/** What the steps would stumble over later, and what the operator should know of their checkout. */
async function check(
  { workspace, configured, parts }: Crew,
  client: Target | undefined,
  fallback: Target | undefined,
  signal: AbortSignal,
): Promise<Checked> {
  const { alias, directory } = workspace;
  const findings = (codes: Readonly<Partial<Record<WriterFindingCode, boolean>>>) =>
    (Object.keys(codes) as WriterFindingCode[])
      .filter((code) => codes[code])
      .map((code) => writerFinding(alias, alias, code));
  const { places, request } = parts(configured[0] ?? alias);
  const git = createHostGit();
  const source = await readSource(git, directory, places.clone, 'HEAD', signal);
  const unmet = findings({
    // A writer that a client knows already says itself where it goes.
    writer_client_required: configured.some((name) => parts(name, { client, fallback }).registered === undefined),
    configure_failed: containedConfiguration(request) === undefined,
    clone_failed: !source.ok,
  });
  if (!source.ok) return { unmet, remarks: [] };
  const { hasChanges, hasSubmodules } = await remarkOn(git, { checkout: directory, ...source }, signal);
  return { unmet, remarks: findings({ checkout_has_changes: hasChanges, submodules_empty: hasSubmodules }) };
}

/** Nothing when it is ready. */
async function prepareImage(
  crew: Crew,
  { mode, show }: Pick<ProvisionRequest, 'mode' | 'show'>,
  signal: AbortSignal,
): Promise<Outcome | undefined> {
  if (mode.container.image !== DEFAULT_IMAGE) show('Preparing the image');
  const root = await crew.root(signal);
  if (signal.aborted) return { findings: [] };
  if (root.kind === 'ready') return undefined;
  return { findings: [writerFinding(mode.alias, mode.alias, `image_${root.kind}`)] };
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
