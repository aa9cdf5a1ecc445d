/**
 * The launcher: what a client's registration starts for one writer. It checks
 * the writer's directories, runs the server in the writer's box and ends with
 * it. `writer.js <directory>`; it never writes to stdout itself.
 */
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';
import { releaseFingerprint } from '../adapters/fs/release-binding.ts';
import { createWriterJournal } from '../adapters/git/writer-journal.ts';
import { createDiagnostics } from '../adapters/mcp/diagnostics.ts';
import { planBox } from '../adapters/podman/boundary.ts';
import { openInstance } from '../adapters/podman/instance.ts';
import { thisProcess } from '../adapters/podman/owner.ts';
import { abandonedRuns, reap } from '../adapters/podman/reap.ts';
import { type Relay, relay } from '../adapters/podman/relay.ts';
import { createKernelLock } from '../adapters/process/kernel-lock.ts';
import { SCOPE_VARIABLE } from '../adapters/process/scope-marker.ts';
import { isAccepted } from './acceptance.ts';
import { clearStale } from './hold.ts';
import { placesOf, type WriterPlaces } from './places.ts';
import { packageRootOf } from './product.ts';
import { readRecord } from './record.ts';
import { startRenewal } from './renewal.ts';
import { serverCommand } from './server-command.ts';
import { warmUpProcess } from './warm-up-process.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const SIGNAL_STATUS_BASE = 128;
/** For the lock's own program to start and to end; it does not wait for anybody. */
const WAIT_MS = 5_000;
/** Podman's own: it could not start the box. */
const NOT_STARTED = new Set([125, 126, 127]);

const diagnostics = createDiagnostics();

function refuse(code: string): never {
  diagnostics.report('error', 'writer_start_failed', { code });
  process.exit(1);
}

/** One box of a writer at a time, and none while setup works on it. The lock is held until this process ends. */
async function claim(places: WriterPlaces): Promise<void> {
  const outcome = await createKernelLock({ directory: places.lock, waitSeconds: 0 }).acquire(
    AbortSignal.timeout(WAIT_MS),
  );
  if (outcome.kind === 'busy') refuse('writer_busy');
  if (outcome.kind === 'unavailable') refuse('writer_lock_unavailable');
}

/** Only what has been accepted, as it was accepted. */
async function checkReady(places: WriterPlaces, packageRoot: string): Promise<void> {
  const read = await createWriterJournal(places.directory, places.name).read();
  if (!read.ok || read.phase !== 'ready') refuse('writer_not_ready');
  if (!isAccepted(places, releaseFingerprint(packageRoot))) refuse('acceptance_outdated');
}

async function start(directory: string): Promise<Relay> {
  const recorded = readRecord(directory);
  if (!recorded) refuse('writer_record_invalid');
  const { host, writer, stateDirectory } = recorded;
  const places = placesOf(stateDirectory, writer.name);
  const builtFile = fileURLToPath(import.meta.url);
  // At the same time: the lock is another program's work.
  const claimed = claim(places);
  await checkReady(places, packageRootOf(builtFile));
  await claimed;
  try {
    clearStale(places);
  } catch {
    refuse('layout_unreadable');
  }
  const renewal = startRenewal(places, warmUpProcess, process.env);
  if (!(await renewal.ready)) refuse('credentials_unavailable');
  const opened = openInstance(stateDirectory, host.podman, host.seccompProfile);
  if (opened.kind === 'unusable') refuse(opened.code);
  const { instance } = opened;
  // Before the look at the directories: what an abandoned box could still do to them is over by then.
  if (abandonedRuns(instance).length > 0 && (await reap(host, instance)).left > 0) refuse('abandoned_box_left');
  const command = serverCommand(builtFile, process.execPath);
  if (!command) refuse('product_incomplete');
  const plan = planBox(writer, command, instance, thisProcess());
  if (plan.kind === 'refused') refuse(plan.code);
  const running = relay(host, instance, plan.spec, command, process);
  return running ?? refuse('box_not_started');
}

/** First signal → the status of a server that has ended because of it. */
let stopped: NodeJS.Signals | undefined;

async function finish({ ended }: Relay): Promise<never> {
  const end = await ended;
  if (end.kind === 'retained') refuse('box_left');
  if (stopped) return process.exit(SIGNAL_STATUS_BASE + constants.signals[stopped]);
  if (end.kind === 'not_started' || NOT_STARTED.has(end.code ?? 0)) refuse('box_not_started');
  return process.exit(end.code ?? SIGNAL_STATUS_BASE + constants.signals.SIGKILL);
}

if (process.getuid?.() === 0) refuse('root_refused');
// A writer's session must not start another writer.
if (process.env[SCOPE_VARIABLE] !== undefined) refuse('nested_server_refused');
const [directory, ...rest] = process.argv.slice(2);
if (directory === undefined || rest.length > 0) refuse('writer_directory_required');

let running: Relay | undefined;
for (const name of SIGNALS) {
  process.on(name, () => {
    stopped ??= name;
    running?.end();
  });
}
running = await start(directory);
if (stopped) running.end();
await finish(running);
