/** `setup --apply` against the client commands that it has to run, one after the other, with the real clients. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { type Benchmark, interleaved, type Row, timed } from '../measure.ts';

const CLIENTS = process.env['PI_SESSION_MCP_CLIENTS'] ?? '';
const BINARIES = join(CLIENTS, 'node_modules', '.bin');
const DIST = resolve(import.meta.dirname, '../../dist');
const ROUNDS = 10;
const LIMIT = 1.2;

interface Stage {
  readonly directory: string;
  readonly configuration: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Outside any temporary directory, for the clients treat those differently. */
function makeStage(): Stage {
  const parent = join(homedir(), '.cache', 'pi-session-mcp-bench');
  mkdirSync(parent, { recursive: true });
  const directory = mkdtempSync(join(parent, 'setup-'));
  mkdirSync(join(directory, '.codex'));
  const configuration = join(directory, 'pi-session-mcp.json');
  const profile = { default: true, permissionProfile: 'read-only', provider: 'p', model: 'm', thinkingLevel: 'off' };
  writeFileSync(configuration, JSON.stringify({ workspaces: {}, executionProfiles: { reader: profile } }));
  const path = [BINARIES, dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter);
  const quiet = { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_AUTOUPDATER: '1', DISABLE_TELEMETRY: '1' };
  const env = {
    HOME: directory,
    PATH: path,
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    NO_COLOR: '1',
    MCP_TIMEOUT: '2000',
    ...quiet,
  };
  return { directory, configuration, env };
}

function run({ directory, env }: Stage, file: string, args: readonly string[]): Promise<number | null> {
  return new Promise((done, reject) => {
    const child = spawn(file, args, { cwd: directory, env, stdio: 'ignore' });
    child.once('error', reject);
    child.once('close', done);
  });
}

const SETUP = join(DIST, 'setup.js');
const setup = (stage: Stage, operation: string, target: string) =>
  run(stage, process.execPath, [
    SETUP,
    operation,
    '--config',
    stage.configuration,
    '--target',
    `${target}:pi-session-mcp`,
  ]);

/** What an apply asks of the client: look, add, look; Codex is looked at once more, right before. */
function commands(stage: Stage, target: string): [string, string[]][] {
  const entry = ['--', process.execPath, join(DIST, 'main.js')];
  const variable = `PI_SESSION_MCP_CONFIG=${stage.configuration}`;
  if (target === 'codex:user') {
    const get: [string, string[]] = ['codex', ['mcp', 'get', 'pi-session-mcp', '--json']];
    return [get, get, ['codex', ['mcp', 'add', 'pi-session-mcp', '--env', variable, ...entry]], get];
  }
  const get: [string, string[]] = ['claude', ['mcp', 'get', 'pi-session-mcp']];
  return [get, ['claude', ['mcp', 'add', '-s', 'user', 'pi-session-mcp', '-e', variable, ...entry]], get];
}

const BARE_APPLY = resolve(import.meta.dirname, '../bare-apply.mjs');

async function compare(target: string): Promise<Row[]> {
  const stage = makeStage();
  const scope = target === 'codex:user' ? [] : ['-s', 'user'];
  const client = target === 'codex:user' ? 'codex' : 'claude';
  /** Takes only the work; the entry is removed again off the clock. */
  const measured = async (work: () => Promise<unknown>) => {
    const took = await timed(work);
    await run(stage, client, ['mcp', 'remove', 'pi-session-mcp', ...scope]);
    return took;
  };
  const sides = {
    async ours() {
      const took = await timed(async () => {
        if ((await setup(stage, '--apply', target)) !== 0) throw new Error(`apply for ${target} failed`);
      });
      await setup(stage, '--remove', target);
      return took;
    },
    floor: () =>
      measured(async () => {
        for (const [file, args] of commands(stage, target)) await run(stage, file, args);
      }),
    bare: () => measured(() => run(stage, process.execPath, [BARE_APPLY, JSON.stringify(commands(stage, target))])),
  };
  try {
    await interleaved(1, sides);
    const { ours, floor, bare } = await interleaved(ROUNDS, sides);
    return [
      { what: `apply / the commands of the client, ${target}`, unit: 'ms', ours, floor, limit: LIMIT },
      { what: `the same / the least lock and guardian, ${target}`, unit: 'ms', ours, floor: bare },
    ];
  } finally {
    rmSync(stage.directory, { recursive: true, force: true });
  }
}

export const setupApply: Benchmark = {
  name: 'setup-apply',
  async run() {
    if (!CLIENTS || !existsSync(join(BINARIES, 'claude'))) {
      return [{ what: 'apply: not measured, PI_SESSION_MCP_CLIENTS names no clients', ours: 0, unit: 'ms' }];
    }
    return [...(await compare('claude-code:user')), ...(await compare('codex:user'))];
  },
};
