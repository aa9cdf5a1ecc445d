/** A home of its own for the client, and the plugin of a made-up release in it. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { claudePlugin } from '../../../src/adapters/clients/claude-plugin.ts';
import type { CommandResult, CommandRunner } from '../../../src/ports/setup/command.ts';
import { MARKETPLACE, PLUGIN, pluginFiles } from '../../../src/wake/plugin-files.ts';
import { REPOSITORY } from '../../e2e/kit/stage.ts';

/** Runs a command and waits for it; nothing of it outlives these tests, so nobody guards it. */
export function plainRunner(): CommandRunner {
  return {
    run: ({ file, args, cwd, env, timeoutMs, maxOutputBytes }, signal) =>
      new Promise<CommandResult>((resolve) => {
        const options = { cwd, env: { ...env }, timeout: timeoutMs, maxBuffer: maxOutputBytes, signal };
        const child = execFile(file, [...args], options, (error, stdout, stderr) => {
          if (error && error.code === 'ENOENT') resolve({ kind: 'not_found' });
          else resolve({ kind: 'exited', code: child.exitCode, stdout, stderr });
        });
        child.stdin?.end();
      }),
    close: async () => 'released',
  };
}

/** Says the same to every command of a kind. */
export function scriptedRunner(answers: Readonly<Record<string, CommandResult>>): CommandRunner & { asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    async run({ args }) {
      const command = args.join(' ');
      asked.push(command);
      const known = Object.entries(answers).find(([start]) => command.startsWith(start));
      return known?.[1] ?? { kind: 'exited', code: 0, stdout: '[]', stderr: '' };
    },
    close: async () => 'released',
  };
}

export interface PluginLabOptions {
  readonly runner?: CommandRunner;
  /** Directory of the client's program. */
  readonly bin?: string;
}

export function openPluginLab({ runner = plainRunner(), bin = '' }: PluginLabOptions = {}) {
  // Below the checkout: real clients keep away from /tmp.
  mkdirSync(join(REPOSITORY, '.cache'), { recursive: true });
  const root = mkdtempSync(join(REPOSITORY, '.cache', 'plugin-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const state = join(root, 'state');
  for (const each of [state, join(root, 'tmp')]) mkdirSync(each, { mode: 0o700 });
  const directory = join(state, 'claude-plugin');
  const env = { HOME: root, PATH: `${bin}:/usr/bin:/bin`, TMPDIR: join(root, 'tmp'), LANG: 'C.UTF-8' };
  const release = (version: string) =>
    claudePlugin({
      runner,
      env,
      directory,
      files: pluginFiles({ node: process.execPath, wake: '/opt/pi-session-mcp/dist/wake.js', version }),
      marketplace: MARKETPLACE,
      plugin: PLUGIN,
    });
  return { root, directory, env, release, plugin: release('1.0.0') };
}
