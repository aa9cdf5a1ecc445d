/** The package as a user has it: packed, installed by npm, and run through the links that npm makes. */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { REPOSITORY, scratch } from '../doctor/repository.ts';
import { codes, makeOperator, type Operator } from '../e2e/setup-kit/operator.ts';
import { build, type Installation, install, pack } from './kit.ts';

const EXECUTABLES = ['pi-session-mcp', 'pi-session-mcp-doctor', 'pi-session-mcp-setup'];
const INSTALL_MS = 300_000;

const place = scratch('a package ');
const prefix = join(place, 'a prefix');
let installation: Installation = { kind: 'offline' };
let operator: Operator;

beforeAll(async () => {
  await build();
  mkdirSync(prefix);
  installation = await install(await pack(place), prefix);
  operator = makeOperator(join(place, 'an operator'));
}, INSTALL_MS);
afterAll(() => rmSync(place, { recursive: true, force: true }), INSTALL_MS);

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** An executable by its link, as a shell would start it; `input` is its whole stdin. */
function run(name: string, args: readonly string[], input = ''): Promise<Ran> {
  const { env, project } = operator;
  return new Promise((resolve) => {
    const child = execFile(
      join(prefix, 'bin', name),
      [...args],
      { env: { ...env }, cwd: project },
      (error, stdout, stderr) => resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    );
    child.stdin?.end(input);
  });
}

const line = (message: object) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`;
const HELLO = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'a client', version: '0' },
};
const CONVERSATION = [
  line({ id: 1, method: 'initialize', params: HELLO }),
  line({ method: 'notifications/initialized' }),
  line({ id: 2, method: 'tools/list' }),
].join('');

const setup = (operation: string, ...more: readonly string[]) =>
  run('pi-session-mcp-setup', [operation, '--json', '--config', operator.configuration, ...more]);

describe('installed from the registry', () => {
  beforeEach(({ skip }) => {
    if (installation.kind === 'offline') skip('npm cannot reach a registry here');
  });

  test('npm links the three executables, and the package stands alone', () => {
    const links = EXECUTABLES.map((name) => realpathSync(join(prefix, 'bin', name)));
    const home = realpathSync(join(prefix, 'lib', 'node_modules', 'pi-session-mcp'));
    expect(links.every((path) => path.startsWith(join(home, 'dist')))).toBe(true);
    expect(existsSync(join(home, 'src'))).toBe(false);
  });

  test('the server answers, and ends with its input', async () => {
    const { code, stdout, stderr } = await run('pi-session-mcp', [], CONVERSATION);
    const [hello, tools] = stdout
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text));
    expect([code, stderr]).toEqual([0, '']);
    expect(hello.result.serverInfo.name).toBe('pi-session-mcp');
    expect(tools.result.tools).toHaveLength(8);
  });

  test.each(['pi-session-mcp-setup', 'pi-session-mcp-doctor'])('%s explains itself', async (name) => {
    const { code, stdout } = await run(name, ['--help']);
    expect([code, stdout]).toEqual([0, expect.stringContaining(name)]);
  });

  test('the doctor finds the package whole', async () => {
    const { stdout } = await run('pi-session-mcp-doctor', ['--json']);
    const { checks, packageVersion } = JSON.parse(stdout) as {
      readonly checks: { readonly id: string; readonly severity: string }[];
      readonly packageVersion: string;
    };
    expect(packageVersion).toMatch(/^\d+\.\d+\.\d+$/);
    expect(checks.filter(({ severity }) => severity === 'error')).toEqual([]);
    const ofPackage = checks.filter(({ id }) => /^(package|build|version)_/.test(id));
    expect(ofPackage.map(({ severity }) => severity)).toEqual(['ok', 'ok', 'ok', 'ok']);
  });

  test.each(['codex:user', 'claude-code:user', 'claude-code:project'])(
    'setup for %s, there and back',
    async (scope) => {
      const target = ['--target', `${scope}:pi-session-mcp`];
      const steps = [
        ['--dry-run', ['absent (absent)', 'absent (skill_absent)']],
        ['--apply', ['ok (applied)', 'ok (skill_installed)']],
        ['--verify', ['ok (mcp_verified)', 'ok (skill_verified)']],
        ['--remove', ['ok (removed)', 'ok (skill_removed)']],
      ] as const;
      for (const [operation, expected] of steps) {
        const ran = await setup(operation, ...target);
        expect([operation, codes({ ...ran, signal: null })]).toEqual([operation, expected]);
        expect(ran.stdout + ran.stderr).not.toContain(REPOSITORY);
      }
    },
  );

  test('what setup registers is in the package, not in the checkout', async () => {
    const { stdout } = await setup('--apply', '--target', 'codex:user:pi-session-mcp');
    expect(JSON.parse(stdout).status).toBe('ok');
    const { stdout: entry } = await new Promise<{ stdout: string }>((resolve) =>
      execFile(
        join(operator.root, 'bin', 'codex'),
        ['mcp', 'get', 'pi-session-mcp', '--json'],
        { env: { ...operator.env } },
        (_, text) => resolve({ stdout: text }),
      ),
    );
    const { args } = JSON.parse(entry).transport as { readonly args: readonly string[] };
    expect(args).toEqual([realpathSync(join(prefix, 'lib/node_modules/pi-session-mcp/dist/main.js'))]);
  });
});
