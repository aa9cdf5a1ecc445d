/** The client's side of the demo: the official MCP client on a server that it starts over stdio. */
import type { ChildProcess } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { BUILT_SERVER } from './scene.ts';

export interface ToolResult {
  readonly ok: boolean;
  readonly error?: { readonly code: string; readonly message: string };
  readonly session?: Readonly<Record<string, string>>;
  readonly sessions?: readonly Readonly<Record<string, string>>[];
  readonly turn?: TurnResult;
  readonly workspaces?: readonly { readonly alias: string; readonly mode: string }[];
  readonly executionProfiles?: readonly Readonly<Record<string, string | boolean>>[];
}

export interface TurnResult {
  readonly turnId: string;
  readonly state: string;
  readonly assistantText?: string;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: string | null;
}

export interface DemoClient {
  readonly mcp: Client;
  /** What the server wrote to stderr so far. */
  readonly stderr: () => string;
  call(tool: string, args?: Record<string, unknown>): Promise<ToolResult>;
  /** Polls until the turn is final. */
  turnEnd(sessionId: string, turnId: string): Promise<TurnResult>;
  /** Ends the server's stdin and waits for its exit. */
  leave(): Promise<Exit>;
}

/** Far denser than a real client's polling: the scripted model answers at once. */
const POLL_MS = 20;

/** The transport keeps its child to itself; Node announces every child on a channel. */
async function catchingChild<T>(connect: () => Promise<T>, seen: (child: ChildProcess) => void): Promise<T> {
  const listener = (message: unknown) => seen((message as { readonly process: ChildProcess }).process);
  subscribe('child_process', listener);
  try {
    return await connect();
  } finally {
    unsubscribe('child_process', listener);
  }
}

/** `onChild` gets the server's process as soon as it is started, so that it can be ended from outside. */
export async function connectClient(
  env: Readonly<Record<string, string>>,
  onChild: (child: ChildProcess) => void,
): Promise<DemoClient> {
  if (!existsSync(BUILT_SERVER)) throw new Error('there is no built server: run `npm run build` first');
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [BUILT_SERVER],
    env: { ...env },
    stderr: 'pipe',
  });
  let stderr = '';
  transport.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const mcp = new Client({ name: 'demo', version: '1' });
  let child: ChildProcess | undefined;
  let exited: Promise<Exit> = Promise.resolve({ code: null, signal: null });
  const onStart = (started: ChildProcess): void => {
    child = started;
    exited = new Promise((resolve) => started.once('exit', (code, signal) => resolve({ code, signal })));
    onChild(started);
  };
  await catchingChild(() => mcp.connect(transport), onStart).catch((error: unknown) => {
    throw new Error(`${error instanceof Error ? error.message : String(error)}; stderr: ${stderr.slice(0, 500)}`);
  });
  const call = async (name: string, args: Record<string, unknown> = {}): Promise<ToolResult> =>
    (await mcp.callTool({ name, arguments: args })).structuredContent as unknown as ToolResult;
  return {
    mcp,
    stderr: () => stderr,
    call,
    async turnEnd(sessionId, turnId) {
      for (;;) {
        const { turn, error } = await call('pi_turn_get', { sessionId, turnId });
        if (!turn) throw new Error(`pi_turn_get answered ${error?.code}`);
        if (turn.state !== 'running') return turn;
        await sleep(POLL_MS);
      }
    },
    async leave() {
      child?.stdin?.end();
      return exited;
    },
  };
}
