/** For each check the faults that must make it fail. */
import { expect } from 'vitest';
import type { McpCall } from '../kit/driving/transcript.ts';
import type { Evidence } from './evidence.ts';
import { CREDENTIAL, type Mutable, ms, TOKEN } from './sample.ts';

export type Fault = (evidence: Mutable<Evidence>) => void;
export type Faults = readonly (readonly [check: string, fault: string, plant: Fault])[];

const mcpCalls = ({ controller }: Mutable<Evidence>, tool: string) =>
  controller.calls.filter((call) => call.kind === 'mcp' && call.tool === tool) as Mutable<McpCall>[];

/** Rewrites both forms of the n-th result of a tool. */
export function reword(tool: string, index: number, from: string | RegExp, to: string): Fault {
  return (evidence) => {
    const call = mcpCalls(evidence, tool)[index];
    expect(call?.results[0]).toMatch(from);
    if (call) call.results = call.results.map((text) => text.replace(from, to));
  };
}

/** A field more in a result of the server, in both of its forms. */
const plant = (value: string) => reword('pi_session_close', 0, /}$/, `,"more":${JSON.stringify(value)}}`);
const drop =
  (tool: string): Fault =>
  (evidence) => {
    evidence.controller.calls = evidence.controller.calls.filter((call) => call.kind !== 'mcp' || call.tool !== tool);
  };
const move =
  (tool: string, to: number): Fault =>
  ({ controller }) => {
    const at = controller.calls.findIndex((call) => call.kind === 'mcp' && call.tool === tool);
    controller.calls.splice(to, 0, ...controller.calls.splice(at, 1));
  };

const COMMON: Faults = [
  [
    'setup reports applied and skill_installed',
    'another code',
    ({ setup }) => {
      setup.statuses[1] = 'x:skill_linked';
    },
  ],
  [
    'controller skill is a regular copy of the shipped one',
    'a link',
    ({ setup }) => {
      setup.skillCopied = false;
    },
  ],
  [
    'client offers the controller skill to its model',
    'not offered',
    ({ controller }) => {
      controller.firstRequest = '';
    },
  ],
  [
    'client ends with 0',
    'killed',
    ({ controller }) => {
      controller.code = null;
    },
  ],
  [
    'controller goes through to its end',
    'gave up',
    ({ controller }) => {
      controller.failure = 'gave up';
    },
  ],
  [
    'controller goes through to its end',
    'cut short',
    ({ controller }) => {
      controller.finished = false;
    },
  ],
  [
    'client asks its model for nothing else',
    'an update',
    ({ controller }) => void controller.others.push('GET /update'),
  ],
  ['capabilities come first', 'a session first', move('pi_capabilities_get', 3)],
  ['capabilities show the version under test', 'an older one', reword('pi_capabilities_get', 0, '1.2.3', '1.2.2')],
  ['capabilities show the fingerprint of the configuration', 'another', reword('pi_capabilities_get', 0, 'abc', 'abd')],
  ['capabilities show the skills of the coding profile', 'one', reword('pi_capabilities_get', 0, ',"handshake"', '')],
  ['two sessions of the coding profile', 'the reader', reword('pi_session_start', 1, 'accept-code', 'accept-read')],
  ['every session is closed', 'never closed', drop('pi_session_close')],
  ['every session is closed', 'still closing', reword('pi_session_close', 1, '"closed"', '"closing"')],
  [
    'every result is one JSON object, alike in each form',
    'no results',
    ({ controller }) => {
      controller.calls = [];
    },
  ],
  [
    'every result is one JSON object, alike in each form',
    'one form has more',
    (evidence) => void mcpCalls(evidence, 'pi_turn_get')[0]?.results.push('{"ok":true}'),
  ],
  ['every result is one JSON object, alike in each form', 'text', reword('pi_session_start', 0, /.*/, 'fine')],
  ['no result holds a local path', "the run's own", plant('see /srv/run')],
  ['no result holds a local path', 'some other', plant('see /opt/thing/else')],
  ['no result holds a local path', 'in a line of its own', plant('see\n/opt/thing')],
  ['no result holds a local path', 'of the home', plant('~/.config')],
  ['no result holds a local path', 'as a URL', plant('file:///opt/thing')],
  ['no result holds the token', 'in a field', plant(TOKEN)],
  ['no result holds a credential', 'the key itself', plant(CREDENTIAL)],
  ['no result holds a credential', 'a field that says so', plant('api_key=x')],
  [
    'the token is nowhere in the controller transcript',
    'printed',
    ({ controller }) => {
      controller.said += TOKEN;
    },
  ],
  ['no worker prompt holds the token', 'sent', ({ worker }) => void worker.prompts.push(`use ${TOKEN}`)],
  [
    'no worker prompt holds the token',
    'no prompts',
    (evidence) => {
      evidence.worker.prompts = [];
      drop('pi_session_prompt')(evidence);
    },
  ],
  [
    'no worker prompt names a private path or a skill file',
    'a path',
    ({ worker }) => void worker.prompts.push('/srv/run/private'),
  ],
  [
    'no worker prompt names a private path or a skill file',
    'a file',
    (evidence) => {
      for (const { args } of mcpCalls(evidence, 'pi_session_prompt')) args['prompt'] = 'Read SKILL.md';
    },
  ],
  [
    'the controller never names the private directory',
    'reads it',
    ({ controller }) => void controller.calls.push({ kind: 'own', text: 'cat /srv/run/private/skills/x' }),
  ],
  [
    'the watch saw the controller and the server',
    'blind',
    ({ processes }) => {
      processes.seen = [];
    },
  ],
  [
    'the watch saw the controller and the server',
    'no server',
    ({ processes }) => {
      processes.seen = processes.seen.filter(({ server }) => !server);
    },
  ],
  [
    'no process is left after the shutdown bound',
    'one is',
    ({ processes }) => {
      processes.left = processes.seen.slice(0, 1);
    },
  ],
];

const writeAt =
  (second: number): Fault =>
  ({ fixtures }) => {
    for (const fixture of Object.values(fixtures)) {
      for (const file of Object.keys(fixture.written)) fixture.written[file] = ms(second);
    }
  };

const written = 'changed files were written within turns of their session';

export const PARALLEL: Faults = [
  ...COMMON,
  [written, 'before', writeAt(0)],
  [written, 'between', writeAt(8)],
  [written, 'afterwards', writeAt(30)],
  ['both first turns are started before the first look', 'looked too early', move('pi_turn_get', 5)],
  ['the first turns are of two workspaces', 'both in one', reword('pi_turn_get', 1, 's-cx-stats', 's-cx-slug')],
  ['the first turns complete', 'one failed', reword('pi_turn_get', 1, '"completed"', '"failed"')],
  ['the first turns overlap', 'one after the other', reword('pi_turn_get', 1, '00:02.000', '00:05.500')],
  ['the first turns overlap', 'never seen to end', reword('pi_turn_get', 0, '"completedAt"', '"other"')],
  ['one follow-up, in the first session, completes', 'aborted', reword('pi_turn_get', 2, '"completed"', '"aborted"')],
  ['one follow-up, in the first session, completes', 'elsewhere', reword('pi_turn_get', 2, 's-cx-slug', 's-cx-stats')],
  [
    'the worker reads the override skill that holds the token',
    'guessed',
    ({ worker }) => {
      worker.reads = [];
    },
  ],
  [
    'the handshake file holds the token',
    'another word',
    ({ fixtures }) => {
      if (fixtures.slug) fixtures.slug.handshake = 'TOKEN';
    },
  ],
  [
    'the handshake file was written in the follow-up',
    'earlier',
    ({ fixtures }) => {
      if (fixtures.slug) fixtures.slug.written['HANDSHAKE.txt'] = ms(4);
    },
  ],
  ...oracles('slug'),
  ...oracles('stats'),
];

function oracles(name: 'slug' | 'stats' | 'wait' | 'range'): Faults {
  const change = (how: (fixture: NonNullable<Mutable<Evidence>['fixtures'][typeof name]>) => void): Fault => {
    return ({ fixtures }) => {
      const fixture = fixtures[name];
      if (fixture) how(fixture);
    };
  };
  return [
    [`${name}: exactly the allowed files changed`, 'one more', change(({ status }) => void status.push('?? extra'))],
    [
      `${name}: its tests pass`,
      'one fails',
      change(({ tests }) => {
        tests.failed = 1;
      }),
    ],
    [
      `${name}: its tests pass`,
      'one is gone',
      change(({ tests }) => {
        tests.passed -= 1;
      }),
    ],
  ];
}

const order = 'aborted is seen after the abort and before the close';
const during = 'the abort lies within the running time of the neighbour';
const everyAbort = 'there is an abort, and every abort is ok';
const timedOut = '{"ok":false,"error":{"code":"abort_timeout"}}';

export const ABORT: Faults = [
  ...COMMON,
  [written, 'afterwards', writeAt(30)],
  ['the first turns are of two workspaces', 'both in one', reword('pi_turn_get', 1, 's-cx-range', 's-cx-wait')],
  [everyAbort, 'none', drop('pi_session_abort')],
  [
    everyAbort,
    'timed out, and no retry undoes it',
    (evidence) => {
      const [good] = mcpCalls(evidence, 'pi_session_abort');
      if (good) evidence.controller.calls.splice(6, 0, { ...good, results: [timedOut, timedOut] });
    },
  ],
  [order, 'never seen', reword('pi_turn_get', 0, '"aborted"', '"running"')],
  [order, 'seen before', move('pi_session_abort', 8)],
  [order, 'closed before', move('pi_session_close', 6)],
  [during, 'the neighbour was done', reword('pi_turn_get', 1, '00:09.000', '00:04.000')],
  [during, 'the neighbour had not begun', reword('pi_turn_get', 1, '00:02.000', '00:05.500')],
  ['the neighbour completes', 'aborted as well', reword('pi_turn_get', 1, '"completed"', '"aborted"')],
  ['the waiting command was seen', 'never ran', ({ processes }) => void processes.seen.pop()],
  [
    'no waiting command is left',
    'it is',
    ({ processes }) => {
      processes.left = processes.seen.slice(-1);
    },
  ],
  [
    'the late file never comes',
    'it does',
    (evidence) => {
      evidence.lateFile = true;
    },
  ],
  ...oracles('wait'),
  ...oracles('range'),
];
