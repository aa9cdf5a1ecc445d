/** A server with a scripted service, reached over in-memory streams as a client would over pipes. */
import { PassThrough } from 'node:stream';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import { createMcpServer } from '../../../src/adapters/mcp/server.ts';
import { type EndReason, StdioTransport } from '../../../src/adapters/mcp/stdio-transport.ts';
import type { Configuration, ExecutionProfile, Workspace } from '../../../src/config/configuration.ts';
import type { Diagnostics } from '../../../src/ports/diagnostics.ts';
import type { SessionRecord, SessionService, TurnRecord } from '../../../src/ports/session-service.ts';

const validator = new AjvJsonSchemaValidator();

/** The official client's own validator for a published schema. */
export function accepts(schema: object): (value: unknown) => boolean {
  const validate = validator.getValidator(schema as never);
  return (value) => validate(value).valid;
}

export const SECRET = 'hunter2-SECRET';

export const SESSION: SessionRecord = {
  id: '6f1c3f0e-8a52-4b7e-9d0a-2f6a35b0f001',
  workspace: 'app',
  executionProfile: 'review',
  profile: 'read-only',
  provider: 'scripted',
  model: 'scripted-1',
  thinkingLevel: 'high',
  state: 'idle',
  createdAt: 1_700_000_000_000,
  updatedAt: 1_700_000_001_000,
  lastTurnFailed: false,
};

export const TURN: TurnRecord = {
  turnId: '6f1c3f0e-8a52-4b7e-9d0a-2f6a35b0f002',
  sessionId: SESSION.id,
  state: 'running',
  startedAt: 1_700_000_002_000,
  updatedAt: 1_700_000_003_000,
};

export const COMPLETED: TurnRecord = {
  ...TURN,
  state: 'completed',
  completedAt: 1_700_000_004_000,
  updatedAt: 1_700_000_004_000,
  assistantText: 'done \u{1f600} \ud800',
  truncated: false,
};

function profile(alias: string, more: Partial<ExecutionProfile> = {}): ExecutionProfile {
  return {
    alias,
    default: false,
    permissionProfile: 'read-only',
    provider: 'scripted',
    model: 'scripted-1',
    thinkingLevel: 'high',
    extensions: [],
    grantedExtensionTools: [],
    skills: [],
    mcpServers: [],
    ...more,
  };
}

function byAlias<T extends { alias: string }>(...entries: T[]): Record<string, T> {
  return Object.assign(Object.create(null), Object.fromEntries(entries.map((entry) => [entry.alias, entry])));
}

/** Out of order, and with a secret wherever something must stay inside. */
export const CONFIGURATION: Configuration = {
  fingerprint: `sha256:${'0'.repeat(64)}`,
  directory: `/home/${SECRET}`,
  workspaces: byAlias<Workspace>(
    { alias: 'lib', directory: `/srv/${SECRET}`, mode: 'read-only' },
    { alias: 'app', directory: `/srv/${SECRET}/app`, mode: 'unset' },
  ),
  executionProfiles: byAlias(
    profile('review', { default: true }),
    profile('code', {
      permissionProfile: 'coding',
      extensions: ['npm:pi-lens@1.2.3', 'npm:a@0.1.0'],
      skills: [
        { alias: 'z-skill', path: `/srv/${SECRET}/z` },
        { alias: 'a-skill', path: `/srv/${SECRET}/a` },
      ],
      mcpServers: [{ alias: 'tracker', command: `/bin/${SECRET}`, args: [SECRET], envFrom: { A: SECRET }, tools: {} }],
    }),
  ),
  defaultExecutionProfile: 'review',
};

export interface Call {
  readonly method: keyof SessionService;
  readonly args: readonly unknown[];
}

/** Answers with the records above; `replies` overrides a method. */
export function fakeService(replies: Partial<SessionService> = {}): SessionService & { readonly calls: Call[] } {
  const calls: Call[] = [];
  const base: SessionService = {
    start: async () => ({ ok: true, session: SESSION }),
    prompt: async () => ({ ok: true, session: { ...SESSION, state: 'running' }, turn: TURN }),
    abort: async () => ({ ok: true, session: SESSION }),
    close: async () => ({ ok: true, session: { ...SESSION, state: 'closed' } }),
    list: () => [SESSION],
    get: () => ({ ok: true, session: SESSION }),
    turn: () => ({ ok: true, turn: COMPLETED }),
  };
  const service = { ...base, ...replies };
  const recorded = Object.entries(service).map(([method, run]) => [
    method,
    (...args: unknown[]) => {
      calls.push({ method: method as keyof SessionService, args });
      return (run as (...values: unknown[]) => unknown)(...args);
    },
  ]);
  return Object.assign(Object.fromEntries(recorded), { calls });
}

export interface Report {
  readonly level: string;
  readonly event: string;
  readonly fields: Readonly<Record<string, string | number>> | undefined;
}

export function recordingDiagnostics(): Diagnostics & { readonly reports: Report[] } {
  const reports: Report[] = [];
  return { reports, report: (level, event, fields) => void reports.push({ level, event, fields }) };
}

// biome-ignore lint/suspicious/noExplicitAny: frames are whatever came over the wire
export type Frame = Record<string, any>;

export interface RawServer {
  readonly stdin: PassThrough;
  readonly stdout: PassThrough;
  readonly diagnostics: ReturnType<typeof recordingDiagnostics>;
  readonly ends: EndReason[];
  readonly transport: StdioTransport;
  /** Every frame that came out so far, and the same as text. */
  readonly frames: Frame[];
  text(): string;
  /** Writes lines (objects as JSON) and returns once a ping that follows is answered and all is quiet. */
  exchange(...lines: (string | Buffer | object)[]): Promise<Frame[]>;
}

const turnOfTheLoop = () => new Promise((resolve) => setImmediate(resolve));

export async function startRaw(service: SessionService = fakeService(), maxFrameBytes?: number): Promise<RawServer> {
  const stdin = new PassThrough({ highWaterMark: 64 * 1024 });
  const stdout = new PassThrough({ highWaterMark: 64 * 1024 * 1024 });
  const diagnostics = recordingDiagnostics();
  const ends: EndReason[] = [];
  const frames: Frame[] = [];
  let text = '';
  let wake: (() => void) | undefined;
  stdout.setEncoding('utf8');
  stdout.on('data', (chunk: string) => {
    text += chunk;
    frames.push(
      ...chunk
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Frame),
    );
    wake?.();
  });
  const transport = new StdioTransport({
    stdin,
    output: stdout,
    diagnostics,
    onEnd: (reason) => ends.push(reason),
    schedule: () => {},
    ...(maxFrameBytes !== undefined && { maxFrameBytes }),
  });
  await createMcpServer({ service, configuration: CONFIGURATION, diagnostics }).connect(transport);
  let pings = 0;
  return {
    stdin,
    stdout,
    diagnostics,
    ends,
    transport,
    frames,
    text: () => text,
    async exchange(...lines) {
      pings += 1;
      const barrier = `barrier-${pings}`;
      const start = frames.length;
      for (const line of [...lines, { jsonrpc: '2.0', id: barrier, method: 'ping' }]) {
        stdin.write(typeof line === 'string' || Buffer.isBuffer(line) ? line : JSON.stringify(line));
        stdin.write('\n');
      }
      while (!frames.some((frame) => frame['id'] === barrier)) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      for (let i = 0; i < 3; i += 1) await turnOfTheLoop();
      return frames.slice(start).filter((frame) => frame['id'] !== barrier);
    },
  };
}

let nextId = 1;
export function call(name: unknown, args?: unknown, id: number = nextId++): Frame {
  return { jsonrpc: '2.0', id, method: 'tools/call', params: { name, ...(args !== undefined && { arguments: args }) } };
}

/** The official client, which validates what it gets, on the other end of the same streams. */
export async function startClient(service: SessionService = fakeService()): Promise<Client> {
  const toServer = new PassThrough();
  const toClient = new PassThrough();
  const diagnostics = recordingDiagnostics();
  const transport = new StdioTransport({ stdin: toServer, output: toClient, diagnostics, onEnd: () => {} });
  await createMcpServer({ service, configuration: CONFIGURATION, diagnostics }).connect(transport);
  const client = new Client({ name: 'test', version: '0' });
  await client.connect(new StdioServerTransport(toClient, toServer));
  return client;
}
