/** Composition root of the server: stdout guard, configuration, wiring, run. */

// First of all, and on its own, so that no tool sorts it below something that might print.
import './output.ts';

import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { configurationFiles } from './adapters/fs/configuration-files.ts';
import { createMcpServer } from './adapters/mcp/server.ts';
import { StdioTransport } from './adapters/mcp/stdio-transport.ts';
import { SCOPE_VARIABLE } from './adapters/process/scope-marker.ts';
import { createLazyAdmission } from './app/lazy-admission.ts';
import { createLazyAgent } from './app/lazy-agent.ts';
import { createLazyTurnEvents } from './app/lazy-turn-events.ts';
import { createServerApp } from './app/server-app.ts';
import type { Configuration, StartupCode } from './config/configuration.ts';
import { loadConfiguration } from './config/load-configuration.ts';
import { isNodeSupported } from './config/node-version.ts';
import { diagnostics, stdout } from './output.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const SIGNAL_STATUS_BASE = 128;

/** Built, this file is `dist/main.js`, and the reaper its neighbour. */
const IS_BUILT = import.meta.url.endsWith('.js');
const PACKAGE_ROOT = fileURLToPath(new URL('..', import.meta.url));
const REAPER = fileURLToPath(new URL(IS_BUILT ? 'reaper.js' : 'adapters/process/reaper.ts', import.meta.url));

function failStartup(code: StartupCode): never {
  diagnostics.report('error', 'startup_failed', { stage: 'startup', code });
  process.exit(1);
}

function run(configuration: Configuration): void {
  // Set in a writer's box, whose working directory is the clone.
  const baseline = process.env['PI_SESSION_MCP_BASELINE'];
  const transport = new StdioTransport({
    stdin: process.stdin,
    output: stdout.output,
    diagnostics,
    onEnd: () => app.end(),
  });
  const app = createServerApp({
    configuration,
    agent: createLazyAgent(async () => {
      const { createEmbeddedAgent } = await import('./app/embedded-agent.ts');
      return createEmbeddedAgent({ configuration, diagnostics, reaperPath: REAPER });
    }),
    transport,
    diagnostics,
    ...(configuration.turnEvents && {
      turnEvents: createLazyTurnEvents(async () => {
        const { createSpooledTurnEvents } = await import('./app/spooled-turn-events.ts');
        return createSpooledTurnEvents(diagnostics);
      }, diagnostics),
    }),
    ...(baseline !== undefined && {
      admission: createLazyAdmission(async () => {
        const { createCodingAdmission } = await import('./adapters/git/local-status.ts');
        const workTree = process.cwd();
        const [hold, mark] = [join(dirname(baseline), 'hold.json'), join(workTree, '.git', 'pi-coding-open')];
        return createCodingAdmission({ workTree, baseline, hold, mark });
      }),
    }),
    now: Date.now,
    // The global, not node:crypto: loading that takes as long as a third of the start.
    newId: () => crypto.randomUUID(),
  });
  for (const signal of SIGNALS) {
    process.on(signal, () => app.signal(SIGNAL_STATUS_BASE + constants.signals[signal]));
  }
  process.on('uncaughtException', () => {
    diagnostics.report('error', 'internal_error', { code: 'uncaught_exception' });
    app.defect();
  });
  // A provider's or extension's forgotten promise must not take every session down.
  process.on('unhandledRejection', () => {
    diagnostics.report('error', 'internal_error', { code: 'unhandled_rejection' });
  });
  void app.exited.then((status) => process.exit(status));
  createMcpServer({ service: app.service, configuration, diagnostics }).connect(transport).then(app.ready, app.defect);
}

const [option] = process.argv.slice(2);

try {
  if (option === '--help' || option === '-h' || option === '--version') {
    const { printAbout } = await import('./about.ts');
    printAbout(option);
    process.exit(0);
  }
  if (!isNodeSupported(process.versions.node)) failStartup('node_version_unsupported');
  // Inside a session of another server: delegating from a delegation has no end.
  if (process.env[SCOPE_VARIABLE] !== undefined) failStartup('nested_server_refused');
  const loaded = loadConfiguration({ env: process.env, packageRoot: PACKAGE_ROOT, files: configurationFiles });
  if (!loaded.ok) failStartup(loaded.code);
  run(loaded.configuration);
} catch {
  failStartup('startup_failed');
}
