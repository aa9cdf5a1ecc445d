/**
 * The writer as its client's own agent uses it: the real client, headless, starts what setup has
 * registered; its scripted model delegates one task, and takes the branch over.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ScriptedToolCall } from '../../../demo/scripted-model.ts';
import { until } from '../../e2e/kit/until.ts';
import { openEndpoint, type Program } from '../kit/driving/endpoint.ts';
import { headless } from '../kit/driving/headless.ts';
import { call, close, settle } from '../kit/driving/moves.ts';
import { callsOf } from '../kit/driving/transcript.ts';
import type { ClientName, Step } from '../kit/driving/wire/wire.ts';
import { codeOf, type Say, saying } from './checks.ts';
import { boxesOf, processesLeft } from './left.ts';
import type { OfferedModel } from './model.ts';
import type { Operator } from './operator.ts';
import { isBoxed } from './session.ts';

const WRITER = 'shop-1';
const BRANCH = `refs/remotes/writer-${WRITER}/writer-${WRITER}`;
const TASK = 'Say in shop.txt until when the shop is open, and commit that.';
const WANTED = 'open\nuntil six\n';
const FINISH = ['--finish', '--writer', WRITER, '--apply'];
const TOOLS = [
  ...['pi_capabilities_get', 'pi_session_start', 'pi_session_prompt', 'pi_turn_get'],
  ...['pi_session_close', 'pi_session_list'],
];

/** What the session's own model does in the box. */
const WORK: readonly ScriptedToolCall[] = [
  { name: 'edit', args: { path: 'shop.txt', edits: [{ oldText: 'open\n', newText: WANTED }] } },
  { name: 'bash', args: { command: 'git commit -qam "Say until when"' } },
];

interface Finishing {
  /** How its shell finds setup. */
  readonly setup: (operator: Operator) => string;
  /** What setup answers there. */
  readonly code: string;
  readonly isDone: boolean;
}

const FINISHING: Readonly<Record<ClientName, Finishing>> = {
  'claude-code': { setup: () => 'pi-session-mcp-setup', code: 'writer_finished', isDone: true },
  // A login shell, whose PATH is the system's, in a read-only sandbox.
  codex: {
    setup: (operator) => `'${operator.node}' '${operator.package}/dist/setup.js'`,
    code: 'ownership_unavailable',
    isDone: false,
  },
};

async function* finish(operator: Operator, client: ClientName, say: Say): AsyncGenerator<Step, void, string> {
  const { setup, code, isDone } = FINISHING[client];
  const options = `--json --config '${operator.configuration}' --repo shop`;
  const told = yield { kind: 'shell', command: `${setup(operator)} ${options} ${FINISH.join(' ')}` };
  say(`its agent asks setup to finish the writer: ${code}`, told.includes(`"code":"${code}"`), told);
  const shown = yield { kind: 'shell', command: `git show ${BRANCH}:shop.txt` };
  say(
    `and sees what has come out: ${isDone ? 'the change' : 'nothing'}`,
    shown.includes(WANTED.trim()) === isDone,
    shown,
  );
}

async function* delegate(operator: Operator, client: ClientName, say: Say): Program {
  const { executionProfiles } = yield* call('pi_capabilities_get');
  say('its agent is offered the coding profile', executionProfiles?.some(({ alias }) => alias === 'coder') ?? false);
  const { session } = yield* call('pi_session_start', { workspace: 'shop', executionProfile: 'coder' });
  const sessionId = session?.id ?? 'missing';
  say('the client runs the writer in a box', isBoxed(), 'seen from the host');
  const { turn } = yield* call('pi_session_prompt', { sessionId, prompt: TASK });
  const state = yield* settle({ sessionId, turnId: turn?.turnId ?? 'missing' });
  say('the delegated turn is completed', state === 'completed', state);
  yield* close(sessionId);
  yield* finish(operator, client, say);
  const { sessions } = yield* call('pi_session_list');
  return sessions?.length === 0 ? 'ALL DONE' : 'SESSIONS LEFT';
}

/** Each tool once for each row of calls of it: how often a turn is looked at depends on the machine. */
function toolsIn(client: ClientName, stdout: string): string[] {
  const tools = callsOf(client, WRITER, stdout).flatMap((one) => (one.kind === 'mcp' ? [one.tool] : []));
  return tools.filter((tool, index) => tool !== tools[index - 1]);
}

async function runClient(operator: Operator, client: ClientName, say: Say): Promise<void> {
  const endpoint = await openEndpoint(client, WRITER, delegate(operator, client, say));
  try {
    const shell = ['pi-session-mcp-setup:*', 'git show:*'];
    const { file, args, env } = headless(client, {
      server: WRITER,
      origin: endpoint.origin,
      key: 'nobodys-key',
      shell,
    });
    const { code, stdout, stderr } = await operator.run(file, args, { ...operator.env, ...env });
    say('the client ends with 0', code === 0, stdout + stderr);
    const { failure, finished } = endpoint;
    say('its agent goes through to its end', finished && !failure && stdout.includes('ALL DONE'), failure ?? stdout);
    say('it asks its model for nothing else', endpoint.others.length === 0, endpoint.others.join());
    const tools = toolsIn(client, stdout);
    say('it calls the tools of this writer', tools.join() === TOOLS.join(), tools.join());
  } finally {
    await endpoint.close();
  }
}

/** From a writer that is ready, to one that is ready with its branch taken over. */
export async function drivenByItsClient(operator: Operator, offered: OfferedModel, client: ClientName): Promise<void> {
  const say = saying(`${client}: driven by its own agent`);
  const before = offered.model.requests.length;
  offered.model.push(...WORK.map((one) => ({ tools: [one] })), { text: 'done' });
  await runClient(operator, client, say);
  const requests = offered.model.requests.slice(before);
  const heard = JSON.stringify(requests.map(({ messages }) => messages));
  say('the session in the box has heard the task', requests.length === WORK.length + 1 && heard.includes(TASK), heard);
  if (!FINISHING[client].isDone) {
    const { stdout } = await operator.setup(...FINISH);
    say('the operator finishes the writer', codeOf(stdout, WRITER) === 'writer_finished', stdout);
  }
  say('its branch is in the checkout', operator.git('show', `${BRANCH}:shop.txt`) === WANTED);
  say('as one commit on top', operator.git('log', '--format=%s', `main..${BRANCH}`) === 'Say until when\n');
  say('which is untouched itself', operator.git('status', '--porcelain') === '');
  await until('the end of the box', () => boxesOf(operator).length === 0);
  const left = processesLeft(operator);
  say('no process of it is left', left.length === 0, left.join());
  const marks = [
    ['server', 'hold.json'],
    ['clone', 'git', 'pi-coding-open'],
  ];
  say('no mark of it is left', !marks.some((parts) => existsSync(join(operator.state, WRITER, ...parts))));
  const { stdout } = await operator.setup('--status');
  say('the writer is ready again', codeOf(stdout, WRITER) === 'writer_ready', stdout);
}
