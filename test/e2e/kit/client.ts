/** The official client on a built server that it starts itself. It validates every result it gets. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { expect, onTestFinished } from 'vitest';
import { BUILT_SERVER } from '../../../demo/scene.ts';
import type { Body } from './server.ts';
import type { Stage } from './stage.ts';
import { until } from './until.ts';

export interface OfficialClient {
  readonly mcp: Client;
  readonly pid: number;
  stderr(): string;
  /** Both forms of the result must say the same. */
  call(name: string, args?: Readonly<Record<string, unknown>>): Promise<Body>;
  /** Polls until the turn is over. */
  turnEnd(sessionId: string, turnId: string): Promise<Body>;
}

export async function connectOfficial(stage: Stage): Promise<OfficialClient> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [BUILT_SERVER],
    env: { ...stage.env },
    cwd: '/',
    stderr: 'pipe',
  });
  let stderr = '';
  transport.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const mcp = new Client({ name: 'e2e', version: '0' });
  onTestFinished(() => mcp.close());
  await mcp.connect(transport);
  // From here on the client validates results against the published schemas.
  await mcp.listTools();

  const call = async (name: string, args: Readonly<Record<string, unknown>> = {}): Promise<Body> => {
    const result = await mcp.callTool({ name, arguments: { ...args } });
    const body = result.structuredContent as Body;
    const [block] = result.content as { readonly text: string }[];
    expect(JSON.parse(block?.text ?? '')).toEqual(body);
    expect(result.isError ?? false).toBe(!body['ok']);
    return body;
  };
  return {
    mcp,
    pid: transport.pid ?? 0,
    stderr: () => stderr,
    call,
    turnEnd: (sessionId, turnId) =>
      until('the end of the turn', async () => {
        const body = await call('pi_turn_get', { sessionId, turnId });
        expect(body).toMatchObject({ ok: true });
        return body['turn'].state === 'running' ? undefined : (body['turn'] as Body);
      }),
  };
}
