/** A server that cannot start says so in one line on stderr, without a path, and exits with 1. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Exit, launch } from './kit/server.ts';
import { CANARY, profile, REPOSITORY, type Stage, useStage } from './kit/stage.ts';
import { within } from './kit/until.ts';

/** Breaks the stage; returns another environment where that is what is broken. */
type Break = (stage: Stage) => Readonly<Record<string, string>> | undefined;

const configuration = (value: unknown): Break => {
  return (stage) => {
    writeFileSync(stage.configuration, typeof value === 'string' ? value : JSON.stringify(value));
    return undefined;
  };
};
const variable = (value: string): Break => {
  return (stage) => ({ ...stage.env, PI_SESSION_MCP_CONFIG: value });
};
const modes = (value: string): Break => {
  return (stage) => {
    writeFileSync(join(dirname(stage.configuration), 'execution-modes.json'), value);
    return undefined;
  };
};
const document = (more: object, reader: object = {}) => ({
  workspaces: { app: CANARY.path },
  executionProfiles: { reader: profile({ default: true, ...reader }) },
  ...more,
});

const CASES: readonly [code: string, what: string, breaking: Break][] = [
  [
    'config_path_required',
    'no variable',
    ({ env: { HOME = '', PATH = '' } }) => {
      return { HOME, PATH };
    },
  ],
  ['config_path_required', 'an empty variable', variable('')],
  ['config_path_required', 'a relative path', variable(`${CANARY.path}/config.json`)],
  [
    'config_unreadable',
    'no file',
    (stage) => {
      rmSync(stage.configuration);
      return undefined;
    },
  ],
  [
    'config_unreadable',
    'a directory',
    (stage) => {
      rmSync(stage.configuration);
      mkdirSync(stage.configuration);
      return undefined;
    },
  ],
  ['config_unreadable', 'a device that never ends', variable('/dev/zero')],
  ['config_not_json', 'an empty file', configuration('')],
  ['config_not_json', 'half a file', configuration(`{"workspaces": {"app": "${CANARY.path}`)],
  ['invalid_execution_profile_config', 'null', configuration('null')],
  ['invalid_execution_profile_config', 'an unknown field', configuration(document({ [CANARY.path]: CANARY.key }))],
  ['invalid_execution_profile_config', 'no default profile', configuration(document({}, { default: false }))],
  [
    'invalid_execution_profile_config',
    'a default that may write',
    configuration(document({}, { permissionProfile: 'coding' })),
  ],
  [
    'invalid_execution_profile_config',
    'a key twice',
    configuration(`{"workspaces":{},${JSON.stringify(document({})).slice(1)}`),
  ],
  ['invalid_thinking_level', 'a level of its own', configuration(document({}, { thinkingLevel: CANARY.key }))],
  ['invalid_execution_modes', 'modes that are no JSON', modes(`{${CANARY.path}`)],
  [
    'invalid_execution_modes',
    'a mode for nobody',
    modes(JSON.stringify({ schemaVersion: 1, workspaces: { [CANARY.path]: { mode: 'host' } } })),
  ],
  [
    'invalid_execution_modes',
    'host without consent',
    modes(JSON.stringify({ schemaVersion: 1, workspaces: { app: { mode: 'host' } } })),
  ],
];

async function failingStart(breaking: Break, input = ''): Promise<Exit & { stdout: string; stderr: string }> {
  const stage = await useStage();
  const server = launch(stage, { env: breaking(stage) ?? stage.env });
  if (input) server.write(input);
  const exit = await within('the exit', server.closed);
  return { ...exit, stdout: server.stdout, stderr: server.stderr };
}

function line(code: string): string {
  return `${JSON.stringify({ level: 'error', event: 'startup_failed', stage: 'startup', code })}\n`;
}

describe('a start that fails', () => {
  it.each(CASES)('%s: %s', async (code, _, breaking) => {
    const ended = await failingStart(breaking, '{"jsonrpc":"2.0","id":1,"method":"ping"}');
    expect(ended).toEqual({ code: 1, signal: null, stdout: '', stderr: line(code) });
  });

  it.skipIf(process.getuid?.() === 0)('config_unreadable: no permission', async () => {
    const ended = await failingStart(({ configuration }) => {
      chmodSync(configuration, 0o000);
      return undefined;
    });
    expect(ended).toEqual({ code: 1, signal: null, stdout: '', stderr: line('config_unreadable') });
  });

  it('ends with 1 too when nobody reads stderr', async () => {
    const stage = await useStage();
    const server = launch(stage, { env: { ...stage.env, PI_SESSION_MCP_CONFIG: '' } });
    server.child.stderr?.destroy();
    expect(await within('the exit', server.exited)).toEqual({ code: 1, signal: null });
  });
});

describe('started by hand', () => {
  const by = (...args: string[]) =>
    spawnSync(process.execPath, [join(REPOSITORY, 'dist', 'main.js'), ...args], { env: {}, encoding: 'utf8' });

  it.each(['--help', '-h'])('%s says what it is and what to type', (option) => {
    const { status, stdout, stderr } = by(option);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    for (const named of ['pi-session-mcp-setup --init', 'pi-session-mcp-doctor', 'PI_SESSION_MCP_CONFIG'])
      expect(stdout).toContain(named);
  });

  it('--version says its version alone', () => {
    expect(by('--version')).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
      stderr: '',
    });
  });

  it('another option changes nothing', () => {
    expect(by('--verbose')).toMatchObject({ status: 1, stdout: '', stderr: line('config_path_required') });
  });
});
