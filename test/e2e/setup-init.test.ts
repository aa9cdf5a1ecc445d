/** From nothing to a registered, verified server, with the real Pi and nothing to talk to. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { makeOperator, type Operator, runSetup, treeOf } from './setup-kit/operator.ts';

const root = mkdtempSync(join(tmpdir(), 'setup-init-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let count = 0;
/** An operator without a configuration, whose Pi knows two models of one provider. */
function newcomer(): Operator & { readonly path: string } {
  count += 1;
  const operator = makeOperator(join(root, String(count)));
  rmSync(join(operator.home, '.config'), { recursive: true });
  const agent = join(operator.home, '.pi', 'agent');
  mkdirSync(agent, { recursive: true });
  const model = {
    name: 'm',
    reasoning: false,
    input: ['text'],
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  };
  const models = [
    { ...model, id: 'plain', contextWindow: 1000, maxTokens: 100 },
    { ...model, id: 'thinker', reasoning: true, contextWindow: 1000, maxTokens: 100 },
  ];
  const local = { baseUrl: 'http://127.0.0.1:9/v1', api: 'openai-completions', apiKey: 'SENTINEL-KEY', models };
  writeFileSync(join(agent, 'models.json'), JSON.stringify({ providers: { local } }));
  const { PI_SESSION_MCP_CONFIG: path = '', ...env } = operator.env;
  return { ...operator, env, path };
}

const ANSWERS = ['--workspace', 'shop=.', '--provider', 'local'];
const read = (path: string) => JSON.parse(readFileSync(path, 'utf8'));
const finding = (stdout: string) => JSON.parse(stdout).findings[0];

test('three commands: init, apply, verify', async () => {
  const operator = newcomer();
  const init = await runSetup(operator, ['--init', ...ANSWERS, '--model', 'thinker']);
  expect(init).toMatchObject({ code: 0 });
  expect(init.stdout).toContain('init: ok\nconfig/operator/pi-session-mcp: ok (config_written)\n');
  expect(init.stdout).toContain('--config "$HOME/.config/pi-session-mcp/pi-session-mcp.json"');
  expect(init.stdout).not.toContain(operator.root);
  expect(statSync(operator.path).mode & 0o777).toBe(0o600);
  expect(read(operator.path)).toMatchObject({
    workspaces: { shop: operator.project },
    executionProfiles: { reviewer: { default: true, permissionProfile: 'read-only', thinkingLevel: 'medium' } },
  });
  for (const operation of ['--apply', '--verify']) {
    const args = [operation, '--config', operator.path, '--target', 'claude-code:user:pi-session-mcp'];
    const run = await runSetup(operator, args);
    expect(run, run.stdout + run.stderr).toMatchObject({ code: 0 });
  }
});

test('coding on the host is written down with the word for it', async () => {
  const operator = newcomer();
  const args = ['--init', '--json', ...ANSWERS, '--model', 'plain', '--coding', '--accept-host-writes'];
  expect(await runSetup(operator, args)).toMatchObject({ code: 0 });
  expect(Object.keys(read(operator.path).executionProfiles)).toEqual(['reviewer', 'coder']);
  expect(read(join(operator.path, '../execution-modes.json')).workspaces).toEqual({
    shop: { mode: 'host', acceptHostWrites: true },
  });
});

test('nothing is ever overwritten', async () => {
  const operator = newcomer();
  mkdirSync(join(operator.path, '..'), { recursive: true });
  writeFileSync(operator.path, 'mine');
  const before = treeOf(join(operator.path, '..'));
  const run = await runSetup(operator, ['--init', '--json', ...ANSWERS, '--model', 'plain']);
  expect([run.code, finding(run.stdout).code]).toEqual([1, 'config_exists']);
  expect(treeOf(join(operator.path, '..'))).toEqual(before);
});

test('a place that cannot be is not said to be taken', async () => {
  const operator = newcomer();
  const file = join(operator.home, 'file');
  writeFileSync(file, 'mine');
  const args = ['--init', '--json', '--config', join(file, 'pi-session-mcp.json'), ...ANSWERS, '--model', 'plain'];
  const run = await runSetup(operator, args);
  expect([run.code, finding(run.stdout).code]).toEqual([1, 'config_write_failed']);
  expect(readFileSync(file, 'utf8')).toBe('mine');
});

test.each([
  [['--workspace', 'shop=./nowhere', '--provider', 'local', '--model', 'plain'], 'workspace_invalid'],
  [['--workspace', '~/shop', '--provider', 'local', '--model', 'plain'], 'workspace_invalid'],
  [[...ANSWERS, '--model', 'unknown'], 'model_unavailable'],
  [['--workspace', '.', '--provider', 'anthropic', '--model', 'plain'], 'model_unavailable'],
  [[...ANSWERS, '--model', 'plain', '--thinking', 'high'], 'thinking_level_unsupported'],
])('refused: %j', async (answers, code) => {
  const operator = newcomer();
  const run = await runSetup(operator, ['--init', '--json', ...answers]);
  expect([run.code, finding(run.stdout)?.code]).toEqual([1, code]);
  expect(existsSync(join(operator.path, '..'))).toBe(false);
});

test('a plan writes nothing', async () => {
  const operator = newcomer();
  const run = await runSetup(operator, ['--init', '--dry-run', '--json', ...ANSWERS, '--model', 'plain']);
  expect([run.code, finding(run.stdout).code]).toEqual([0, 'config_planned']);
  expect(existsSync(join(operator.path, '..'))).toBe(false);
});

test('without a terminal it says which answers are missing', async () => {
  const run = await runSetup(newcomer(), ['--init', '--workspace', '.', '--coding']);
  expect(run).toMatchObject({ code: 64, stdout: '' });
  expect(run.stderr).toContain('--provider --model --accept-host-writes');
});
