/** The built doctor as a process: what it prints, how it ends, from where it can be called. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { isNodeSupported } from '../../src/config/node-version.ts';
import { finding } from '../../src/doctor/remedies.ts';
import { Lab, SECRET } from './lab.ts';
import { REPOSITORY, scratch } from './repository.ts';
import { HOST, MODES } from './rows/row.ts';

const folder = scratch(`${SECRET}-build-`);
const build = join(folder, 'dist');
let lab: Lab;

beforeAll(() => {
  execFileSync(process.execPath, [join(REPOSITORY, 'scripts', 'build.mjs'), '--out', build]);
});
afterAll(() => rmSync(folder, { recursive: true }));
beforeEach(() => {
  lab = new Lab().without('package/dist').copy(build, 'package/dist');
});
afterEach(() => lab.remove());

interface Run {
  readonly env?: Record<string, string>;
  readonly cwd?: string;
  /** Another way to start it. */
  readonly command?: readonly string[];
}

/** Runs it to its end. Nothing of the test's own environment reaches it. */
async function doctor(args: readonly string[], { env = {}, cwd = lab.path('home'), command }: Run = {}) {
  const [file = '', ...rest] = command ?? [process.execPath, lab.path('package/dist/doctor.js')];
  const home = { HOME: lab.path('home'), PATH: lab.path('bin') };
  const child = spawn(file, [...rest, ...args], { env: { ...home, ...env }, cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
  const [code] = await once(child, 'close');
  return { ...output, code };
}

const configured = () => ['--config', lab.path('config/server.json')];

describe('how it ends', () => {
  test('0: nothing was found', async () => {
    const { code, stdout, stderr } = await doctor(configured());
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^pi-session-mcp \d+\.\d+\.\d+: no problems, \d+ checks passed\n$/);
  });

  test('1: warnings', async () => {
    lab.without('bin/rg');
    const { code, stdout } = await doctor(configured());
    expect(code).toBe(1);
    expect(stdout).toMatch(/: 1 warning\n\nwarning {2}search_tool_missing {2}rg\n {9}Install it/);
  });

  test('2: errors; the variable names the configuration, too', async () => {
    lab.without('shop');
    const { code, stdout } = await doctor([], { env: { PI_SESSION_MCP_CONFIG: lab.path('config/server.json') } });
    expect(code).toBe(2);
    expect(stdout).toMatch(/: 1 error\n\nerror {4}workspace_missing {2}shop\n[\s\S]*\n\d+ other checks passed\.\n$/);
  });

  test.each([
    ['an unknown option', [`--${SECRET}`]],
    ['a word', [SECRET]],
    ['a relative path', ['--config', `${SECRET}.json`]],
    ['no path', ['--config']],
    ['an empty path', ['--config=']],
  ])('64: %s, which is not repeated', async (_what, args) => {
    const { code, stdout, stderr } = await doctor(args);
    expect({ code, stdout }).toEqual({ code: 64, stdout: '' });
    expect(stderr).toMatch(/^pi-session-mcp-doctor: .+\nusage: .+\n$/);
    expect(stderr).not.toContain(SECRET);
  });

  test('64 has a result for programs as well', async () => {
    const { code, stdout } = await doctor(['--json', SECRET]);
    expect(code).toBe(64);
    expect(JSON.parse(stdout)).toEqual({ schemaVersion: 1, ok: false, checks: [], exitCode: 64 });
  });

  test.each([['--help'], ['-h']])('%s explains the statuses and ends with 0', async (option) => {
    const { code, stdout } = await doctor([option]);
    expect(code).toBe(0);
    for (const status of ['  0   ', '  1   ', '  2   ', '  64  ']) expect(stdout).toContain(`\n${status}`);
  });
});

test('both forms say the same', async () => {
  lab.without('bin/rg').without('shop').configure({ coder: {} }).write(MODES, HOST);
  const { stdout: text } = await doctor(configured());
  const { stdout: json, code } = await doctor([...configured(), '--json']);
  const { checks, ...result } = JSON.parse(json);
  expect(result).toEqual({ schemaVersion: 1, ok: false, packageVersion: expect.any(String), exitCode: code });
  type Check = { severity: string; id: string; subject: string; remediation?: string };
  for (const { severity, id, subject, remediation } of checks as Check[]) {
    const isShown = text.includes(`${id}  ${subject}\n         ${remediation}`);
    expect(isShown, id).toBe(severity !== 'ok');
  }
  expect(text).toContain('coding writes directly into: shop.');
  expect(text.indexOf('error    ')).toBeLessThan(text.indexOf('warning  '));
});

test('of the example only what it leaves to the operator is wrong', async () => {
  const { stdout, code } = await doctor(['--config', join(REPOSITORY, 'pi-session-mcp.example.json')]);
  expect(code).toBe(2);
  expect(stdout.match(/^(error|warning) .*$/gm)).toEqual([
    'error    workspace_missing  my-project',
    'warning  workspace_mode_unset  my-project',
  ]);
});

test('no colours outside of a terminal', async () => {
  expect((await doctor(configured(), { env: { FORCE_COLOR: '1', TERM: 'xterm' } })).stdout).not.toContain('\u001b');
});

test.skipIf(!existsSync('/usr/bin/script')).each([
  ['in a terminal', {}, true],
  ['in a terminal with NO_COLOR', { NO_COLOR: '1' }, false],
  ['in a dumb terminal', { TERM: 'dumb' }, false],
])('colours %s', async (_where, env, expected) => {
  const line = `'${process.execPath}' '${lab.path('package/dist/doctor.js')}' --config '${lab.path('config/server.json')}'`;
  const command = ['/usr/bin/script', '-qec', line, '/dev/null'];
  const { stdout } = await doctor([], { command, env: { SHELL: '/bin/sh', TERM: 'xterm', ...env } });
  expect(stdout).toContain('no problems');
  expect(stdout.includes('\u001b[32m')).toBe(expected);
});

test.each([[[]], [['--json']], [['--help']]])('a reader that has gone away sees no stack trace: %j', async (args) => {
  const child = spawn(process.execPath, [lab.path('package/dist/doctor.js'), ...args], { env: {}, stdio: 'pipe' });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  child.stdout.destroy();
  const [code] = await once(child, 'close');
  expect({ code, stderr }).toEqual({ code: args.includes('--help') ? 0 : 2, stderr: '' });
});

describe('the package that it belongs to', () => {
  test('is found through the links of npm, from anywhere', async () => {
    lab.directory('prefix/bin').directory('prefix/lib/node_modules');
    lab.link('prefix/lib/node_modules/pi-session-mcp', '../../../package');
    lab.link('prefix/bin/pi-session-mcp-doctor', '../lib/node_modules/pi-session-mcp/dist/doctor.js');
    const command = [process.execPath, lab.path('prefix/bin/pi-session-mcp-doctor')];
    expect(await doctor(configured(), { command, cwd: '/' })).toMatchObject({ code: 0 });
    lab.without('package/dist/reaper.js');
    const { stdout } = await doctor(configured(), { command, cwd: REPOSITORY });
    expect(stdout).toContain('build_missing  build');
  });

  test.each([
    ['damaged', '{'],
    ['of nobody', '{}'],
  ])('says so when package.json is %s', async (_how, text) => {
    lab.write('package/package.json', text);
    const { code, stdout, stderr } = await doctor(configured());
    expect({ code, stderr }).toEqual({ code: 2, stderr: '' });
    expect(stdout).toMatch(/^pi-session-mcp: 1 error\n\nerror {4}package_metadata_unreadable {2}package\n/);
  });

  test('says so when the doctor itself is damaged', async () => {
    const [part = ''] = readdirSync(build).filter((name) => name.startsWith('cli-'));
    lab.without(`package/dist/${part}`);
    const { code, stdout, stderr } = await doctor(['--json']);
    expect({ code, stderr }).toEqual({ code: 2, stderr: '' });
    const result = JSON.parse(stdout);
    const [{ remediation, ...check }] = result.checks;
    expect(result).toMatchObject({ schemaVersion: 1, ok: false, exitCode: 2 });
    expect(check).toEqual({ id: 'doctor_cli_unavailable', severity: 'error', subject: 'doctor' });
    expect(remediation).toBe(finding('doctor_cli_unavailable', 'doctor').remediation);
    expect((await doctor([])).stdout).toContain(`error    doctor_cli_unavailable  doctor\n         ${remediation}`);
  });
});

test('the oldest Node is the one of package.json', async () => {
  const { default: manifest } = await import('../../package.json', { with: { type: 'json' } });
  const oldest = manifest.engines.node.replace('>=', '');
  const [major = 0, minor = 0] = oldest.split('.').map(Number);
  expect([`${major}.${minor}.0`, `${major}.${minor - 1}.9`].map(isNodeSupported)).toEqual([true, false]);
  expect(finding('node_version_unsupported', 'node').remediation).toContain(oldest);
});

// Root may do everything, so there the doctor has to become somebody else.
const isRoot = process.getuid?.() === 0;
const setpriv = ['/usr/bin/setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'];

describe.skipIf(isRoot && !existsSync('/usr/bin/setpriv'))('without the rights', () => {
  test.each([
    ['to write where coding may', 'shop', 0o555, 'workspace_not_writable  shop'],
    ['to read a workspace', 'shop', 0o311, 'workspace_unreadable  shop'],
    ['to enter a workspace', 'shop', 0o644, 'workspace_unreadable  shop'],
    ['to read the configuration', 'config/server.json', 0o000, 'config_unreadable  configuration'],
    ['to reach the configuration', 'config', 0o000, 'config_unreadable  configuration'],
    ['to read a skill', 'config/own/SKILL.md', 0o000, 'skill_unreadable  reader:own'],
    ['to reach a skill', 'config/own', 0o000, 'skill_unreadable  reader:own'],
  ])('%s', async (_right, place, mode, found) => {
    lab.configure({ coder: {}, profile: { skills: ['own'] }, skillCatalog: { own: 'own/SKILL.md' } });
    lab.write('config/own/SKILL.md', SECRET).write(MODES, HOST).mode('shop', 0o777);
    const command = [...(isRoot ? setpriv : []), process.execPath, lab.path('package/dist/doctor.js')];
    expect(await doctor(configured(), { command })).toMatchObject({ code: 0, stderr: '' });
    lab.mode(place, mode);
    const { code, stdout, stderr } = await doctor(configured(), { command });
    lab.mode(place, 0o755);
    expect({ code, stderr }).toEqual({ code: 2, stderr: '' });
    expect(stdout.match(/^error +(.*)$/gm)).toEqual([`error    ${found}`]);
    expect(stdout).not.toContain(SECRET);
  });
});
