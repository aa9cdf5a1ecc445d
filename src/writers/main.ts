/**
 * The launcher: what a client's registration starts for one writer. It checks
 * the writer's directories, runs the server in the writer's box and ends with
 * it. `writer.js <directory>`; it never writes to stdout itself. What happens
 * in which order, and when it is over, its chart decides.
 */
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';
import { createDiagnostics } from '../adapters/mcp/diagnostics.ts';
import { SCOPE_VARIABLE } from '../adapters/process/scope-marker.ts';
import { createLauncherRun } from '../app/launcher-run.ts';
import type { LauncherCode, LauncherResult } from '../ports/writers/launcher.ts';
import { createLauncherPort } from './launcher-port.ts';
import { readRecord } from './record.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const SIGNAL_STATUS_BASE = 128;

const diagnostics = createDiagnostics();

function finish({ status, code }: LauncherResult): never {
  if (code !== null) diagnostics.report('error', 'writer_start_failed', { code });
  process.exit(status);
}

function refuse(code: LauncherCode): never {
  finish({ status: 1, code });
}

if (process.getuid?.() === 0) refuse('root_refused');
// A writer's session must not start another writer.
if (process.env[SCOPE_VARIABLE] !== undefined) refuse('nested_server_refused');
const [directory, ...rest] = process.argv.slice(2);
if (directory === undefined || rest.length > 0) refuse('writer_directory_required');
const recorded = readRecord(directory) ?? refuse('writer_record_invalid');

const run = createLauncherRun(createLauncherPort(recorded, fileURLToPath(import.meta.url), process));
for (const name of SIGNALS) process.on(name, () => run.signal(SIGNAL_STATUS_BASE + constants.signals[name]));
finish(await run.start());
