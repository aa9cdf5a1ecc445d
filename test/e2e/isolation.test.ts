/** Two sessions in two workspaces, at work at the same time, never see each other's directory. */
import { expect, it } from 'vitest';
import type { RecordedRequest, ScriptedStep } from '../../demo/scripted-model.ts';
import { connect } from './kit/server.ts';
import { bash, prompt, startSession, turnEnd } from './kit/sessions.ts';
import { useStage } from './kit/stage.ts';

const ALIASES = ['left', 'right'] as const;
type Alias = (typeof ALIASES)[number];

/** Resolves for everybody once everybody has come. */
function barrier(parties: number): () => Promise<void> {
  let come = 0;
  let open: () => void = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return () => {
    come += 1;
    if (come === parties) open();
    return opened;
  };
}

/** The session tells by its prompt who it is; what it has read is in the messages. */
function aliasOf(request: RecordedRequest): Alias {
  return JSON.stringify(request.messages.filter((message) => message.role === 'user')).includes('I am left')
    ? 'left'
    : 'right';
}

const files = (alias: Alias) => ({ 'note.txt': `secret of ${alias}`, 'AGENTS.md': `house rules of ${alias}` });

it('each reads its own files, is told of its own directory and runs in it', async () => {
  const requests: Record<Alias, RecordedRequest[]> = { left: [], right: [] };
  // Nobody gets an answer before both have asked, at every step: the turns are parallel for certain.
  const gates = [0, 1, 2, 3].map(() => barrier(2));
  const script: readonly ScriptedStep[] = [
    { tools: [{ name: 'read', args: { path: 'note.txt' } }] },
    bash('pwd; cat note.txt; echo "$PWD" > where.txt'),
    { tools: [{ name: 'ls', args: {} }] },
    { text: 'done' },
  ];
  const choose = (request: RecordedRequest): ScriptedStep => {
    const mine = requests[aliasOf(request)];
    const at = mine.push(request) - 1;
    const step = script[at] ?? { text: 'too many' };
    return {
      delay: async () => {
        await gates[at]?.();
        return step;
      },
    };
  };
  const stage = await useStage({
    workspaces: { left: files('left'), right: files('right') },
    model: { choose },
  });
  const server = await connect(stage);
  const turns = await Promise.all(
    ALIASES.map(async (alias) => {
      const sessionId = await startSession(server, 'coder', alias);
      return turnEnd(server, await prompt(server, sessionId, `I am ${alias}`));
    }),
  );
  expect(turns).toMatchObject([
    { state: 'completed', assistantText: 'done' },
    { state: 'completed', assistantText: 'done' },
  ]);

  for (const [mine, other] of [
    ['left', 'right'],
    ['right', 'left'],
  ] as const) {
    expect(requests[mine]).toHaveLength(script.length);
    const sent = JSON.stringify(requests[mine].map((request) => request.body));
    const has = (text: string) => sent.includes(text);
    const own = [stage.path(mine), `secret of ${mine}`, `house rules of ${mine}`, 'where.txt'];
    expect(own.filter((text) => !has(text))).toEqual([]);
    // Neither the other's nor, in the last one, the operator's side of things.
    const foreign = [stage.path(other), `of ${other}`, `I am ${other}`, stage.configuration];
    expect(foreign.filter(has)).toEqual([]);
  }
});

it('ten turns at once end each with its own answer', async () => {
  const gate = barrier(10);
  const choose = (request: RecordedRequest): ScriptedStep => {
    const [number] = /number \d+/.exec(JSON.stringify(request.messages.at(-1))) ?? ['nobody'];
    return {
      delay: async () => {
        await gate();
        return { text: number };
      },
    };
  };
  const stage = await useStage({ workspaces: { left: {}, right: {} }, model: { choose } });
  const server = await connect(stage);
  const numbers = Array.from({ length: 10 }, (_, index) => `number ${index}`);
  const turns = await Promise.all(
    numbers.map(async (text, index) => {
      const sessionId = await startSession(server, 'reader', ALIASES[index % 2]);
      return turnEnd(server, await prompt(server, sessionId, text));
    }),
  );
  expect(turns.map((turn) => turn['assistantText'])).toEqual(numbers);
});
