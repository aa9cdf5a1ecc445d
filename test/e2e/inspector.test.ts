/** MCP Inspector's command line, a second independent client. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { BUILT_SERVER } from '../../demo/scene.ts';
import type { Body } from './kit/server.ts';
import { REPOSITORY, type Stage, useStage } from './kit/stage.ts';

const INSPECTOR = join(REPOSITORY, 'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js');

interface Run {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

function inspect(stage: Stage, ...args: readonly string[]): Promise<Run> {
  const server = [process.execPath, BUILT_SERVER, '-e', `PI_SESSION_MCP_CONFIG=${stage.configuration}`];
  const { HOME = '', PATH = '' } = stage.env;
  // The Inspector keeps a catalogue in the home directory.
  const options = { env: { HOME, PATH, NO_COLOR: '1' }, cwd: stage.home, timeout: 25_000 };
  return new Promise((resolve) => {
    execFile(process.execPath, [INSPECTOR, '--cli', ...server, ...args], options, (error, stdout, stderr) => {
      resolve({ status: error ? Number(error.code ?? 1) : 0, stdout, stderr });
    });
  });
}

it('lists the eight tools and finds no schema that is not portable', async () => {
  const { status, stdout, stderr } = await inspect(await useStage(), '--method', 'tools/list', '--strict');
  expect({ status, stderr }).toMatchObject({ status: 0 });
  const { tools } = JSON.parse(stdout) as { tools: Body[] };
  expect(tools).toHaveLength(8);
  for (const tool of tools) expect(tool).toMatchObject({ outputSchema: { type: 'object' } });
});

it('calls a tool', async () => {
  const { status, stdout } = await inspect(
    await useStage(),
    '--method',
    'tools/call',
    '--tool-name',
    'pi_capabilities_get',
  );
  expect(status).toBe(0);
  const result = JSON.parse(stdout) as Body;
  expect(result['structuredContent']).toMatchObject({ ok: true, server: { name: 'pi-session-mcp' } });
  expect(JSON.parse(result['content'][0].text)).toEqual(result['structuredContent']);
});

it('shows an error of ours as the result that it is', async () => {
  const { stdout } = await inspect(
    await useStage(),
    ...['--method', 'tools/call', '--tool-name', 'pi_session_start', '--tool-arg', 'workspace=nowhere'],
  );
  expect(JSON.parse(stdout)).toMatchObject({
    isError: true,
    structuredContent: { ok: false, error: { code: 'unknown_workspace' } },
  });
});
