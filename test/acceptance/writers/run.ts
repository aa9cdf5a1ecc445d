/**
 * `npm run acceptance:writers`: a writer from its mode to its merged branch with
 * real rootless Podman, real git, the real Pi SDK and a real client. Ends with 0 when every
 * check passed or boxes cannot run here, 1 when one failed, 2 when it could not be run.
 */
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { until } from '../../e2e/kit/until.ts';
import { checks, codeOf, notes, type Say, saying } from './checks.ts';
import { drivenByItsClient } from './driven.ts';
import { imagedWriter } from './imaged.ts';
import { boxesOf, keptByPodman, processesLeft } from './left.ts';
import { interruptedLooks, lostByItsClient } from './looked.ts';
import { type OfferedModel, offerModel } from './model.ts';
import { Operator, reasonToSkip } from './operator.ts';
import { pullPlugs } from './plugs.ts';
import { codingSession, type Registered, staysBehind } from './session.ts';

const { values } = parseArgs({
  options: {
    client: { type: 'string', multiple: true, default: ['codex:user', 'claude-code:local'] },
    /** Without the kills. */
    quick: { type: 'boolean', default: false },
    out: { type: 'string' },
  },
});

const WRITER = 'shop-1';
const reason = reasonToSkip();
if (reason) {
  process.stdout.write(`writers acceptance: SKIPPED, no box can run here: ${reason}\n`);
  process.exit(0);
}
const clients = join(process.env['PI_SESSION_MCP_CLIENTS'] ?? '', 'node_modules', '.bin');
if (!existsSync(join(clients, 'claude')) || !existsSync(join(clients, 'codex'))) {
  process.stderr.write(
    'acceptance:writers: PI_SESSION_MCP_CLIENTS must name a directory whose node_modules hold claude and codex\n',
  );
  process.exit(2);
}

function registeredBy(operator: Operator): Registered {
  const { command, args } = JSON.parse(
    readFileSync(join(operator.state, WRITER, 'registration.json'), 'utf8'),
  ) as Registered;
  return { command, args };
}

/** Does the client itself know the writer? */
async function isKnown(operator: Operator, client: string): Promise<boolean> {
  const [file = ''] = client === 'codex:user' ? ['codex'] : ['claude'];
  return (await operator.run(file, ['mcp', 'get', WRITER])).code === 0;
}

/** A report may not hold a path, an environment value, a fingerprint or a secret. */
function leaks(operator: Operator, text: string): boolean {
  return (
    [operator.root, operator.node, 'NOBODY-INSIDE'].some((secret) => text.includes(secret)) || /[0-9a-f]{16}/.test(text)
  );
}

function branchesAreOut(operator: Operator, say: Say): void {
  const refs = operator
    .git('for-each-ref', '--format=%(refname)', 'refs/remotes/writer-shop-1')
    .split('\n')
    .filter(Boolean);
  const wanted = ['extra', 'writer-shop-1', 'writer-shop-1-wip'].map((name) => `refs/remotes/writer-shop-1/${name}`);
  say('its branches are out', JSON.stringify(refs.sort()) === JSON.stringify(wanted), refs.join());
  say(
    'with what was written',
    operator.git('show', 'refs/remotes/writer-shop-1/writer-shop-1:fruit.txt') === 'apples\npears\n',
  );
  say(
    'work in progress, too',
    operator.git('show', 'refs/remotes/writer-shop-1/writer-shop-1-wip:half.txt') === 'not done\n',
  );
}

async function nothingIsLeft(operator: Operator, client: string, say: Say): Promise<void> {
  say('the client has forgotten it', !(await isKnown(operator, client)));
  say('nothing of it is left', !existsSync(join(operator.state, WRITER)) && boxesOf(operator).length === 0);
  const left = processesLeft(operator);
  say('no process left', left.length === 0, left.join());
  say(
    'nothing that Podman keeps for boxes is left',
    keptByPodman(operator).length === 0,
    keptByPodman(operator).join(),
  );
}

async function wholeLife(operator: Operator, offered: OfferedModel, client: string): Promise<void> {
  const say = saying(`${client}: from mode to branch`);
  const expect = async (what: string, args: readonly string[], code: string, status = 0) => {
    const ended = await operator.setup(...args);
    const found = codeOf(ended.stdout, WRITER);
    say(
      what,
      found === code && ended.code === status && !leaks(operator, ended.stdout + ended.stderr),
      ended.stdout + ended.stderr,
    );
  };
  const mode = ['--mode', 'container', '--profiles', 'coder', '--client', client];
  const planned = await operator.setup(...mode);
  say('a dry run changes nothing', planned.code === 0 && !existsSync(join(operator.state, WRITER)), planned.stdout);
  await expect('provisioned', [...mode, '--apply'], 'writer_provisioned');
  await expect('provisioned once', [...mode, '--apply'], 'writer_unchanged');
  await expect('other settings are told before', [...mode, '--network', 'none'], 'writer_settings_changed', 1);
  await expect('other settings are told', [...mode, '--network', 'none', '--apply'], 'writer_settings_changed', 1);
  await expect('and the first ones are as before', [...mode, '--apply'], 'writer_unchanged');
  say('the client knows it', await isKnown(operator, client));
  await expect('not ready before the control', ['--status'], 'control_required');
  await expect('not accepted before the control', ['--accept', '--apply'], 'control_required', 1);
  const early = operator.spawn(registeredBy(operator).command, registeredBy(operator).args, { stdio: 'ignore' });
  say('the launcher refuses before that', (await new Promise((resolve) => early.once('exit', resolve))) === 1);
  await expect('controlled and accepted', ['--isolation-control', '--apply'], 'writer_ready');
  say('no canary left', !readdirSync(operator.home).some((name) => name.includes('canary')));
  await expect('ready', ['--status'], 'writer_ready');
  await expect('verified', ['--verify'], 'mcp_verified');
  await lostByItsClient(operator, client, mode, expect);
  await interruptedLooks(operator, say);

  const session = await codingSession(operator, offered, registeredBy(operator), say);
  await expect('its server runs already', ['--verify'], 'writer_busy', 1);
  await expect('work is seen', ['--status'], 'writer_has_work');
  await expect('nothing is lost without a word', ['--reset', '--apply'], 'work_left', 1);
  await expect('nor by a removal', ['--remove', '--apply'], 'writer_busy', 1);
  await expect('finished beside the running server', ['--finish', '--writer', WRITER, '--apply'], 'writer_finished');
  branchesAreOut(operator, say);
  say('the checkout is untouched', operator.git('status', '--porcelain') === '');
  operator.git('merge', '-q', '--ff-only', 'refs/remotes/writer-shop-1/writer-shop-1');
  await expect('clean again', ['--status'], 'writer_ready');
  const again = await session.call('pi_session_start', { workspace: 'shop', executionProfile: 'coder' });
  say('the running server takes a new session', again.ok === true, JSON.stringify(again));
  say('the launcher ends with its client', (await session.close()) === 0);
  await until('no box left', () => boxesOf(operator).length === 0);
  say('nothing that a session has started outlives it', !staysBehind());
  await expect('reset to what was merged', ['--reset', '--apply'], 'writer_reset');
  await expect('made anew', ['--recreate', '--apply'], 'writer_recreated');
  await expect('accepted again', ['--accept', '--apply'], 'writer_ready');
  await drivenByItsClient(operator, offered, client === 'codex:user' ? 'codex' : 'claude-code');
  await expect('removed', ['--remove', '--apply'], 'writer_removed');
  await expect('and there is nothing to remove', ['--remove', '--apply'], 'writer_gone');
  await nothingIsLeft(operator, client, say);
}

/** The clients where the user can read them. */
async function clientsFor(operator: Operator): Promise<void> {
  const found = await operator.run('codex', ['--version']);
  if (found.code === 0) return;
  cpSync(process.env['PI_SESSION_MCP_CLIENTS'] ?? '', join(operator.root, 'clients'), { recursive: true });
  throw new Error('the clients are not readable for the user of the boxes');
}

const offered = await offerModel();
if (!offered) {
  process.stderr.write('acceptance:writers: this machine has no address that a box could reach\n');
  process.exit(2);
}
try {
  for (const client of values.client) {
    const operator = new Operator(clients, offered.origin);
    try {
      await clientsFor(operator);
      await wholeLife(operator, offered, client);
      if (!values.quick) await pullPlugs(operator, client, saying(`${client}: killed in each phase`));
    } catch (error) {
      saying(client)('came to its end', false, String(error));
    } finally {
      operator.remove();
    }
  }
  const operator = new Operator(clients, offered.origin);
  try {
    await imagedWriter(operator, offered, 'claude-code:local', saying('with an image'));
  } catch (error) {
    saying('with an image')('came to its end', false, String(error));
  } finally {
    operator.remove();
  }
} finally {
  await offered.close();
}
const passed = checks.filter((one) => one.passed).length;
if (values.out)
  writeFileSync(values.out, `${JSON.stringify({ schemaVersion: 1, passed, total: checks.length, checks }, null, 2)}\n`);
for (const note of notes) process.stdout.write(`failed: ${note}\n`);
process.stdout.write(`writers acceptance: ${passed} of ${checks.length} checks passed\n`);
process.exit(passed === checks.length ? 0 : 1);
