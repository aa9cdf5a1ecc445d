/** A writer whose box has an image of the operator's own Podman as its system, and a cache. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { makeSystem, PROGRAMS } from '../../kit/small-image.ts';
import { codeOf, type Say } from './checks.ts';
import { ContainedClient } from './contained-client.ts';
import { brokenByHand } from './looked.ts';
import type { OfferedModel } from './model.ts';
import type { Operator } from './operator.ts';
import type { Registered } from './session.ts';

const IMAGE = 'localhost/shop-tools:1';
const WRITER = 'shop-1';
/** What Pi's tools start, besides what every image needs. */
const TOOLS = [...PROGRAMS, 'bash', 'head', 'ls', 'cat'];

/** Named like nothing that a machine has. */
function importImage(operator: Operator, tool: string): void {
  const [system, archive] = [join(operator.root, 'system'), join(operator.root, 'system.tar')];
  mkdirSync(system);
  makeSystem(system, [...new Set(TOOLS)]);
  symlinkSync('cat', join(system, 'usr/bin', tool));
  execFileSync('tar', ['--owner=0', '--group=0', '-cf', archive, '-C', system, '.']);
  rmSync(system, { recursive: true });
  execFileSync('chmod', ['644', archive]);
  const spawned = operator.runSync('podman', ['import', '--quiet', '--change=ENV SHOP=open', archive, IMAGE]);
  if (spawned !== 0) throw new Error('the image could not be imported');
}

function idOf(operator: Operator): string {
  const { root } = JSON.parse(readFileSync(join(operator.state, WRITER, 'boundary.json'), 'utf8')) as {
    root: { path: string };
  };
  return root.path;
}

function registeredBy(operator: Operator): Registered {
  return JSON.parse(readFileSync(join(operator.state, WRITER, 'registration.json'), 'utf8')) as Registered;
}

/** What the session's shell has seen. */
async function session(operator: Operator, { model }: OfferedModel, command: string): Promise<string> {
  const { command: file, args } = registeredBy(operator);
  const client = new ContainedClient(operator, file, args);
  await client.initialize();
  const started = await client.call('pi_session_start', { workspace: 'shop', executionProfile: 'coder' });
  const { id } = (started['session'] ?? {}) as { id?: string };
  model.push({ tools: [{ name: 'bash', args: { command } }] }, { text: 'done' });
  await client.work(id, 'Look around.');
  await client.call('pi_session_close', { sessionId: id });
  await client.close();
  const said = model.requests.at(-1)?.messages.findLast(({ role }) => role === 'tool');
  return JSON.stringify(said?.content ?? started);
}

export async function imagedWriter(operator: Operator, offered: OfferedModel, client: string, say: Say) {
  const expect = async (what: string, args: readonly string[], code: string, alias = WRITER, kind = 'writer') => {
    const ended = await operator.setup(...args);
    say(what, codeOf(ended.stdout, alias, kind) === code, ended.stdout + ended.stderr);
  };
  const mode = ['--mode', 'container', '--profiles', 'coder', '--client', client];
  const absent = [...mode, '--image', 'localhost/nobody:1', '--apply'];
  await expect('an image that is not there is not pulled', absent, 'image_missing', 'shop', 'workspace');
  say('and nothing is made', !existsSync(join(operator.state, WRITER)));
  importImage(operator, 'first-tool');
  const imaged = [...mode, '--image', IMAGE, '--cache', 'go', '--apply'];
  await expect('provisioned with an image', imaged, 'writer_provisioned');
  await expect('controlled and accepted', ['--isolation-control', '--apply'], 'writer_ready');
  await expect('verified', ['--verify'], 'mcp_verified');
  const look = 'echo kept >/pi/cache/file; command -v first-tool second-tool perl; echo "$SHOP $GOPATH"; cat shop.txt';
  const seen = await session(operator, offered, look);
  say('a session works in the image', /\/usr\/bin\/first-tool\\nopen \/pi\/cache\/go\\nopen/.test(seen), seen);
  const change = 'echo nails >nails.txt && git add . && git commit -qm Nails && cat /pi/cache/file';
  const changed = await session(operator, offered, change);
  say('the cache lasts', changed.includes('kept'), changed);
  await expect('its work comes out', ['--finish', '--apply'], 'writer_finished');
  const nails = operator.git('show', `refs/remotes/writer-${WRITER}/writer-${WRITER}:nails.txt`);
  say('as it was made', nails === 'nails\n', nails);
  const first = idOf(operator);
  importImage(operator, 'second-tool');
  const renewed = await operator.setup('--accept', '--apply');
  const isTold = codeOf(renewed.stdout, WRITER) === 'writer_ready' && renewed.stdout.includes('"image_renewed"');
  say('a new build is taken up by an acceptance, which says so', isTold, renewed.stdout);
  say('and the old one is gone', first !== idOf(operator) && !existsSync(first));
  const anew = await session(operator, offered, look);
  say('the session has the new one', anew.includes('second-tool') && !anew.includes('first-tool'), anew);
  await brokenByHand(operator, idOf(operator), say, expect);
  await expect('removed', ['--remove', '--apply'], 'writer_removed');
  say('no image is kept without a writer', readdirSync(join(operator.state, '.images')).length === 0);
}
