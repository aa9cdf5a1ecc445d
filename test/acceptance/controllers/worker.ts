/** What the Pi workers' model "thinks". It sees what any model would see: the conversation and the skills it is told of. */
import type { ChatMessage, RecordedRequest, ScriptedStep, ScriptedToolCall } from '../../../demo/scripted-model.ts';
import { FIXTURES, type FixtureName, SLUG_NEW_TEST } from './fixtures.ts';
import type { Signals } from './signals.ts';
import { LATE_FILE, TASKS, type TaskName, WAIT_SECONDS } from './tasks.ts';

interface Seen {
  readonly system: string;
  /** Results of this turn's tool calls, in order. */
  readonly results: readonly string[];
}

type Move = (seen: Seen) => ScriptedStep;

export function textOf(message: ChatMessage | undefined): string {
  const content = message?.content;
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return (content as readonly { readonly text?: string }[]).map((part) => part.text ?? '').join('');
}

const use = (name: string, args: ScriptedToolCall['args']): ScriptedStep => ({ tools: [{ name, args }] });
const bash =
  (command: string): Move =>
  () =>
    use('bash', { command });
const test = bash('node --test --test-reporter=tap');

/** Where the system prompt says that the skill lies. */
function readSkill(name: string): Move {
  return ({ system }) => {
    const [, location] = new RegExp(`<name>${name}</name>[\\s\\S]*?<location>([^<]+)</location>`).exec(system) ?? [];
    return use('read', { path: location ?? `the skill ${name} is not listed` });
  };
}

function edit(path: string, oldText: string, newText: string): Move {
  return () => use('edit', { path, edits: [{ oldText, newText }] });
}

function repair(name: FixtureName): Move {
  const { file, from, to } = FIXTURES[name].repair ?? { file: 'none', from: '', to: '' };
  return edit(file, from, to);
}

const report = (changed: string): Move => {
  const text = `STATUS: done\nCHANGED FILES:\n- ${changed}\nCHECKS:\n- node --test: passed\nOPEN POINTS:\nnone`;
  return () => ({ text });
};

/** The step, once the wait is over. */
function after(wait: () => Promise<void>, move: Move): Move {
  return (seen) => {
    const step = move(seen);
    const delay = async () => {
      await wait();
      return step;
    };
    return { delay };
  };
}

/** The token is known from the skill alone. */
function writeHandshake({ results }: Seen): ScriptedStep {
  const token = results.map((result) => /the word (TOKEN\w+) to/.exec(result)?.[1]).find(Boolean);
  return use('write', { path: 'HANDSHAKE.txt', content: `${token ?? 'no token seen'}\n` });
}

const LAST_TEST = /^test\('case 2'.*$/m.exec(FIXTURES.slug.files['slug.test.js'] ?? '')?.[0] ?? '';

function movesOf(signals: Signals): Readonly<Record<TaskName, readonly Move[]>> {
  const implementation = readSkill('pi-session-implementation');
  const first = after(signals.meet, implementation);
  return {
    'repair-slug': [first, repair('slug'), test, report('slug.js')],
    'repair-stats': [first, repair('stats'), test, report('stats.js')],
    'follow-up': [
      readSkill('handshake'),
      edit('slug.test.js', LAST_TEST, `${LAST_TEST}\n${SLUG_NEW_TEST.trimEnd()}`),
      writeHandshake,
      test,
      report('slug.test.js'),
    ],
    wait: [bash(`sleep ${WAIT_SECONDS} && echo late > ${LATE_FILE}`), report(LATE_FILE)],
    'repair-range': [bash('sleep 1'), after(signals.untilAborted, repair('range')), test, report('range.js')],
  };
}

/** Chooses the next step by the request alone. */
export function workerScript(signals: Signals): (request: RecordedRequest) => ScriptedStep {
  const moves = movesOf(signals);
  return ({ messages }) => {
    const at = messages.findLastIndex(({ role }) => role === 'user');
    const prompt = textOf(messages[at]);
    const task = (Object.keys(TASKS) as TaskName[]).find((name) => TASKS[name] === prompt);
    const results = messages.slice(at).filter(({ role }) => role === 'tool');
    const move = task && moves[task][results.length];
    const system = textOf(messages.find(({ role }) => role === 'system' || role === 'developer'));
    return move?.({ system, results: results.map(textOf) }) ?? { text: 'I do not know this task.' };
  };
}
