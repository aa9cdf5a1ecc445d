/** Real external servers on the real client, host and child scope; time is the test's where it asks for it. */
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createChildScope } from '../../../src/adapters/process/child-scope.ts';
import { createExternalGrants } from '../../../src/app/external-grants.ts';
import type { GrantedServer } from '../../../src/config/configuration.ts';
import type { CallReply, GrantsOutcome, GrantsPort } from '../../../src/ports/grants.ts';
import { ManualClock } from '../../kit/manual-clock.ts';
import { TEST_DEADLINES } from '../../kit/world.ts';
import { configurationOf, profile, type Report } from '../pi/lab.ts';

const REAPER = join(import.meta.dirname, '../../../src/adapters/process/reaper.ts');
export const SESSION = 's1';

export interface GrantLab {
  readonly grants: GrantsPort;
  readonly workspace: string;
  readonly reports: readonly Report[];
  /** Only with `stopTime`. */
  readonly clock: ManualClock;
  readonly cancel: AbortController;
  open(sessionId?: string): Promise<GrantsOutcome>;
  /** Calls the tool `do` of a server. */
  call(server: string, args: Readonly<Record<string, unknown>>, signal?: AbortSignal): Promise<CallReply>;
  /** Processes of ours that are alive: those that carry our mark. */
  children(): number[];
}

/** Pids of live processes whose environment names the scope. */
export function marked(scope: string): number[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) return [];
    try {
      const isMarked = readFileSync(`/proc/${name}/environ`, 'latin1').includes(`PI_SESSION_MCP_SCOPE=${scope}`);
      const isZombie = / Z /.test(readFileSync(`/proc/${name}/stat`, 'latin1'));
      return isMarked && !isZombie ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}

export function useGrants(servers: readonly GrantedServer[], { stopTime = false } = {}): GrantLab {
  const workspace = realpathSync(mkdtempSync(join(tmpdir(), 'grants-')));
  const reports: Report[] = [];
  const diagnostics = { report: (_: string, event: string, fields = {}) => void reports.push({ event, fields }) };
  const configuration = configurationOf(workspace, { main: workspace }, [profile('reader', { mcpServers: servers })]);
  const childScope = createChildScope({ reaperPath: REAPER, diagnostics });
  const clock = new ManualClock();
  const grants = createExternalGrants({
    configuration,
    diagnostics,
    childScope,
    ...(stopTime && { clock, deadlines: TEST_DEADLINES }),
  });
  const cancel = new AbortController();
  onTestFinished(async () => {
    grants.abandon();
    await childScope.endSession(SESSION);
    rmSync(workspace, { recursive: true, force: true });
  });
  return {
    grants,
    workspace,
    reports,
    clock,
    cancel,
    open: (sessionId = SESSION) =>
      grants.open({ sessionId, workspace: 'main', executionProfile: 'reader' }, cancel.signal),
    call: (server, args, signal) => grants.call(SESSION, `mcp_${server}_do`, args, signal),
    children: () => marked(childScope.serverId),
  };
}

/** The text of a result, or the reason of its failure. */
export function said(reply: CallReply): string {
  if (!reply.ok) return reply.reason;
  return reply.content.map((part) => (part.type === 'text' ? part.text : part.mimeType)).join('\n');
}
