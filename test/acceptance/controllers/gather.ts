/** Runs one scenario with one client and gathers what the checks look at. */
import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type RecordedRequest, type ScriptedModel, startScriptedModel } from '../../../demo/scripted-model.ts';
import { type Endpoint, openEndpoint } from '../kit/driving/endpoint.ts';
import { callsOf } from '../kit/driving/transcript.ts';
import type { ClientName } from '../kit/driving/wire/wire.ts';
import { type Ended, SERVER, start, startController } from './clients.ts';
import type { Evidence, FixtureEvidence } from './evidence.ts';
import { type FixtureName, GIT_ENV } from './fixtures.ts';
import type { Scenario } from './scenarios.ts';
import { makeSignals, type Signals } from './signals.ts';
import { makeStage, type Stage } from './stage.ts';
import { LATE_FILE, WAIT_SECONDS } from './tasks.ts';
import { type Seen, Watch } from './watch.ts';
import { textOf, workerScript } from './worker.ts';

export interface RunOptions {
  readonly root: string;
  readonly client: ClientName;
  readonly scenario: Scenario;
  readonly package: string;
  readonly binaries: string;
}

/** What docs/lifecycle.md allows the server from the end of its client to its own. */
const SHUTDOWN_MS = 15_000;

const TARGETS: Readonly<Record<ClientName, string>> = { 'claude-code': 'claude-code:project', codex: 'codex:user' };
const SKILL = 'pi-session-orchestration';

interface Finding {
  readonly target: { readonly alias: string };
  readonly code: string;
}

/** The registration and the skill, as an operator gets them. */
async function setUp(stage: Stage): Promise<Evidence['setup']> {
  const setup = join(stage.package, 'dist', 'setup.js');
  const target = `${TARGETS[stage.client]}:pi-session-mcp`;
  const args = [setup, '--apply', '--json', '--config', stage.configuration, '--target', target];
  const { stdout } = await start(stage, process.execPath, args).ended;
  const { findings } = JSON.parse(stdout || '{"findings":[]}') as { readonly findings: readonly Finding[] };
  const skills = stage.client === 'codex' ? join(stage.home, '.agents') : join(stage.project, '.claude');
  const installed = join(skills, 'skills', SKILL);
  const shipped = join(stage.package, 'skills', SKILL);
  return {
    statuses: findings.map((finding) => `${finding.target.alias}:${finding.code}`),
    skillCopied:
      lstatSync(installed, { throwIfNoEntry: false })?.isDirectory() === true && sameFiles(installed, shipped),
  };
}

function sameFiles(one: string, other: string): boolean {
  const names = readdirSync(one);
  const same = (name: string) =>
    lstatSync(join(one, name)).isFile() && readFileSync(join(one, name)).equals(readFileSync(join(other, name)));
  return String(names) === String(readdirSync(other)) && names.every(same);
}

function workerOf(requests: readonly RecordedRequest[]): Evidence['worker'] {
  const messages = requests.flatMap((request) => request.messages);
  const calls = messages.flatMap((message) => (message.tool_calls ?? []) as readonly { function: WorkerCall }[]);
  const reads = calls.filter((call) => call.function.name === 'read').map((call) => call.function.arguments);
  return {
    prompts: [...new Set(messages.filter(({ role }) => role === 'user').map(textOf))],
    reads: [...new Set(reads.map((text) => (JSON.parse(text) as { readonly path: string }).path))],
  };
}

interface WorkerCall {
  readonly name: string;
  readonly arguments: string;
}

const NUMBER = (output: string, what: string) => Number(new RegExp(`^# ${what} (\\d+)$`, 'm').exec(output)?.[1]);

/** The oracles: tests and git, run by us when everything else is over. */
async function lookAt(stage: Stage, name: FixtureName): Promise<FixtureEvidence> {
  const directory = stage.fixture(name);
  const git = ['-C', directory, 'status', '--porcelain', '--untracked-files=all'];
  const status = (await start(stage, 'git', git, GIT_ENV).ended).stdout.split('\n').filter(Boolean).sort();
  const test = ['--test', '--test-reporter=tap', stage.fixture(name, `${name}.test.js`)];
  const { stdout } = await start(stage, process.execPath, test).ended;
  const changed = status.map((line) => line.slice(3));
  const times = changed.map((file) => [file, statSync(join(directory, file), { throwIfNoEntry: false })?.mtimeMs ?? 0]);
  return {
    alias: stage.alias(name),
    status,
    tests: { passed: NUMBER(stdout, 'pass'), failed: NUMBER(stdout, 'fail') },
    written: Object.fromEntries(times),
    handshake: changed.includes('HANDSHAKE.txt') ? readFileSync(join(directory, 'HANDSHAKE.txt'), 'utf8') : undefined,
  };
}

/** Was the late file written? Looked at when its command, had it gone on, would have ended. */
async function lateFile(stage: Stage, seen: readonly Seen[]): Promise<boolean> {
  const since = seen.find(({ command }) => command === `sleep ${WAIT_SECONDS}`)?.since;
  if (since === undefined) return false;
  await pause(Math.max(0, since + (WAIT_SECONDS + 2) * 1000 - Date.now()));
  return statSync(stage.fixture('wait', LATE_FILE), { throwIfNoEntry: false }) !== undefined;
}

interface Sides {
  readonly stage: Stage;
  readonly pi: ScriptedModel;
  readonly signals: Signals;
  readonly watch: Watch;
}

function madeOf(stage: Stage): Evidence['made'] {
  const manifest = JSON.parse(readFileSync(join(stage.package, 'package.json'), 'utf8')) as {
    readonly version: string;
  };
  const sha = createHash('sha256').update(readFileSync(stage.configuration)).digest('hex');
  return {
    version: manifest.version,
    fingerprint: `sha256:${sha}`,
    token: stage.token,
    credentials: stage.credentials,
    paths: [stage.root, stage.package, homedir(), process.execPath],
    privateDirectory: stage.privateDirectory,
    handshakeSkill: join(stage.privateDirectory, 'skills', 'handshake', 'SKILL.md'),
  };
}

function controllerOf(client: ClientName, ended: Ended, endpoint: Endpoint): Evidence['controller'] {
  const { stdout, stderr, code } = ended;
  const { bodies, others, failure, finished } = endpoint;
  const said = [stdout, stderr, ...bodies].join('\n');
  const calls = callsOf(client, SERVER, stdout);
  return { code, failure, finished, answer: stdout, others, firstRequest: bodies[0] ?? '', said, calls };
}

async function act({ scenario, client }: RunOptions, sides: Sides): Promise<Evidence> {
  const { stage, watch, pi } = sides;
  const setup = await setUp(stage);
  const endpoint = await openEndpoint(client, SERVER, scenario.controller(sides));
  try {
    const running = startController(stage, endpoint.origin);
    watch.follow(running.pid);
    const controller = controllerOf(client, await running.ended, endpoint);
    const left = await watch.left(SHUTDOWN_MS);
    const { seen } = watch;
    watch.stop();
    const late = await lateFile(stage, seen);
    const fixtures = await Promise.all(
      scenario.fixtures.map(async (name) => [name, await lookAt(stage, name)] as const),
    );
    return {
      client,
      made: madeOf(stage),
      setup,
      controller,
      worker: workerOf(pi.requests),
      processes: { seen, left },
      fixtures: Object.fromEntries(fixtures),
      lateFile: late,
    };
  } finally {
    await endpoint.close();
  }
}

/** Runs it to its end. Rejects only when it could not be run. */
export async function gather(options: RunOptions): Promise<Evidence> {
  const signals = makeSignals();
  const pi = await startScriptedModel({ choose: workerScript(signals) });
  const { client, scenario, binaries } = options;
  const made = { client, package: options.package, binaries, piUrl: pi.baseUrl, fixtures: scenario.fixtures };
  const stage = await makeStage(options.root, made);
  const entry = join(options.package, 'dist', 'main.js');
  const watch = new Watch({ root: options.root, entry, configuration: stage.configuration });
  try {
    return await act(options, { stage, pi, signals, watch });
  } finally {
    watch.stop();
    await pi.close();
  }
}
