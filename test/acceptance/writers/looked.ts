/** What somebody has done to a writer by hand: the looks say so, and what they name helps. */
import { once } from 'node:events';
import { existsSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { until } from '../../e2e/kit/until.ts';
import { codeOf, type Say } from './checks.ts';
import { boxesOf, processesLeft } from './left.ts';
import type { Operator } from './operator.ts';

const WRITER = 'shop-1';

type ExpectCode = (what: string, args: readonly string[], code: string) => Promise<void>;
type Expect = (what: string, args: readonly string[], code: string, status?: number) => Promise<void>;

/** @param mode How the writer was made, without `--apply`. */
export async function lostByItsClient(
  operator: Operator,
  client: string,
  mode: readonly string[],
  expect: Expect,
): Promise<void> {
  const other = client === 'codex:user' ? 'claude-code:user' : 'codex:user';
  const [file, ...scope] = client === 'codex:user' ? ['codex'] : ['claude', '-s', client.split(':')[1] ?? ''];
  await operator.run(file ?? '', ['mcp', 'remove', WRITER, ...scope]);
  await expect('a lost registration is seen', ['--verify'], 'registration_absent', 1);
  await expect('by a dry run, too', mode, 'registration_absent');
  await expect('and made again', [...mode, '--apply'], 'writer_registered');
  await expect('once', [...mode, '--apply'], 'writer_unchanged');
  const elsewhere = ['--mode', 'container', '--profiles', 'coder', '--client', other, '--apply'];
  await expect('it does not move to another client', elsewhere, 'writer_settings_changed', 1);
  await expect('it is as accepted as before', ['--verify'], 'mcp_verified');
}

/** A signal while a box of the look runs. */
export async function interruptedLooks(operator: Operator, say: Say): Promise<void> {
  for (const [look, signal, status] of [
    ['--status', 'SIGINT', 130],
    ['--verify', 'SIGTERM', 143],
  ] as const) {
    const child = operator.spawn(operator.node, operator.setupArguments(look), { stdio: ['ignore', 'pipe', 'ignore'] });
    let report = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      report += chunk.toString('utf8');
    });
    const closed = once(child, 'close');
    await until('a box of the look', () => boxesOf(operator).length > 0);
    child.kill(signal);
    const [code] = await closed;
    const left = [...processesLeft(operator), ...boxesOf(operator)];
    say(`${look} ends on ${signal}`, code === status && report.includes('"operation_interrupted"'), report);
    say(`and nothing of ${look} is left`, left.length === 0, left.join());
  }
}

export async function brokenByHand(operator: Operator, tree: string, say: Say, expect: ExpectCode): Promise<void> {
  const place = dirname(tree);
  renameSync(place, `${place}-away`);
  await expect('a moved image is seen', ['--status'], 'acceptance_outdated');
  await expect('and unpacked anew', ['--accept', '--apply'], 'writer_ready');
  rmSync(`${place}-away`, { recursive: true, force: true });
  say('where it was', existsSync(tree));
  rmSync(join(operator.state, WRITER, 'clone'), { recursive: true });
  await expect('a lost clone is seen', ['--status'], 'clone_unreadable');
  await expect('and made anew', ['--recreate', '--discard', '--apply'], 'writer_recreated');
  await expect('ready again', ['--status'], 'writer_ready');
  operator.runSync('podman', ['rmi', 'localhost/shop-tools:1']);
  const kept = await operator.setup('--accept', '--apply');
  say('a deleted image is kept, and that is told', codeOf(kept.stdout, WRITER) === 'writer_ready', kept.stdout);
  say('by its own code', kept.stdout.includes('"image_kept"'), kept.stdout);
}
