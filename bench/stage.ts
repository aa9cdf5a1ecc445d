/** What the benchmarks run on: disposable directories, a model in its own process, and the servers. */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { BUILT_SERVER, createScene, type SceneOptions } from '../demo/scene.ts';
import { RpcProcess } from './rpc-process.ts';

const here = (file: string) => fileURLToPath(new URL(file, import.meta.url));

export interface Stage {
  readonly env: Readonly<Record<string, string>>;
  /** The workspace's directory; its alias is `work`. */
  readonly workspace: string;
  /** Our built server. */
  ours(nodeArgs?: readonly string[]): RpcProcess;
  /** The bare MCP server. */
  bare(): RpcProcess;
  /** Raw Pi sessions behind a bare MCP server. */
  raw(nodeArgs?: readonly string[]): RpcProcess;
  /** Ends every process that is left and removes the directories. */
  close(): Promise<void>;
}

async function startModel(mode: 'fixed' | 'hang'): Promise<{ readonly child: ChildProcess; readonly url: string }> {
  const child = fork(here('./model-process.ts'), [mode], { execArgv: [] });
  const url = await new Promise<string>((resolve, reject) => {
    child.once('message', (message) => resolve(String(message)));
    child.once('exit', () => reject(new Error('the scripted model did not start')));
  });
  return { child, url };
}

let stages = 0;

export async function openStage(
  mode: 'fixed' | 'hang' = 'fixed',
  profiles: NonNullable<SceneOptions['profiles']> = {},
): Promise<Stage> {
  stages += 1;
  const model = await startModel(mode);
  const scene = await createScene({
    name: `bench-${stages}`,
    modelUrl: model.url,
    workspaces: { work: { mode: 'host', files: { 'README.md': '# Nothing to see\n' } } },
    profiles,
  });
  const { env } = scene;
  const workspace = scene.path('work');
  const started: RpcProcess[] = [];
  const launch = (...args: string[]): RpcProcess => {
    const server = new RpcProcess(args, env);
    started.push(server);
    return server;
  };
  const onExit = (): void => {
    for (const { child } of started) child.kill('SIGKILL');
    scene.remove();
  };
  process.once('exit', onExit);
  return {
    env,
    workspace,
    ours: (nodeArgs = []) => launch(...nodeArgs, BUILT_SERVER),
    bare: () => launch(here('./bare-server.mjs')),
    raw: (nodeArgs = []) => launch(...nodeArgs, here('./raw-server.mjs'), workspace),
    async close() {
      process.off('exit', onExit);
      await Promise.all(started.map((server) => server.kill()));
      model.child.disconnect();
      scene.remove();
    },
  };
}

export const RAW_FIRST_SESSION = here('./raw-first-session.mjs');
