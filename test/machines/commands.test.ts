/** Random commands on the whole assembly in virtual time; the pure charts say what must be seen. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createServerApp, type ServerAppOptions } from '../../src/app/server-app.ts';
import { sessionMachine } from '../../src/machines/session/session.machine.ts';
import { startMachine } from '../../src/machines/session/start.machine.ts';
import { turnMachine } from '../../src/machines/session/turn.machine.ts';
import { Coverage } from '../kit/coverage.ts';
import { drop, invocation, mutant } from '../kit/mutate.ts';
import type { SessionChart } from '../kit/pure-session.ts';
import { sessionCommands, setUp } from '../kit/session-commands.ts';
import type { WorldOptions } from '../kit/world.ts';

const SEED = Number(process.env['SEED'] ?? 20_261_130);
const RUNS = Number(process.env['COMMAND_RUNS'] ?? 500);
const MAX_COMMANDS = 40;

function agreement(options: WorldOptions = {}, chart?: SessionChart) {
  return fc.asyncProperty(fc.boolean(), sessionCommands(MAX_COMMANDS), async (opened, commands) => {
    const pair = await setUp(opened, options, chart);
    await fc.asyncModelRun(() => pair, commands);
  });
}

test(`the assembly does what the charts say: ${RUNS} runs, seed ${SEED}`, async () => {
  const coverage = new Coverage();
  await fc.assert(agreement({ inspect: coverage.inspect }), { numRuns: RUNS, seed: SEED });
  const taken = [startMachine, sessionMachine, turnMachine].map((machine) => {
    const { chart, transitions } = coverage.tally(machine);
    return `${chart} ${transitions.hit}/${transitions.total}`;
  });
  console.log(`commands, seed ${SEED}: transitions taken by ${RUNS} runs: ${taken.join(', ')}`);
});

/** A charts' copy with a mistake: then the assembly does not do what that one says. */
const MISTAKES: Readonly<Record<string, SessionChart>> = {
  'a failed admission makes a failed session idle': mutant(sessionMachine, (at) => {
    invocation(at('admitting'), 'admitPrompt').onError = {
      ...(invocation(at('admitting'), 'admitPrompt').onError as object),
      target: 'ready.idle',
    };
    const [, refused] = (invocation(at('admitting'), 'admitPrompt') as { onDone: { target: string }[] }).onDone;
    if (refused) refused.target = 'ready.idle';
    drop(at('quarantined'), 'onDone');
  }),
  'a prompt that waited is refused': mutant(sessionMachine, (at) => {
    at('admitting').on = { ...at('admitting').on, PROMPT: at('engaged').on?.['PROMPT'] };
  }),
  'a session that closes answers aborts late': mutant(sessionMachine, (at) => {
    at('closing').on = { ...at('closing').on, ABORT: at('closing').on?.['CLOSE'] };
  }),
  'a close during admission does not wait': mutant(sessionMachine, (at) => {
    at('admitting').on = { ...at('admitting').on, CLOSE: at('quarantined').on?.['CLOSE'] };
  }),
};

const NAIVE: Readonly<Record<string, (options: ServerAppOptions) => ReturnType<typeof createServerApp>>> = {
  'a server that lets a late admission start its turn': (options) => {
    const agent = Object.create(options.agent) as typeof options.agent;
    const { agent: real } = options;
    for (const name of Object.getOwnPropertyNames(Object.getPrototypeOf(real))) {
      const method = (real as unknown as Record<string, unknown>)[name];
      if (typeof method === 'function' && name !== 'constructor') Object.assign(agent, { [name]: method.bind(real) });
    }
    agent.admitPrompt = async (prompt, signal) => {
      const outcome = await real.admitPrompt(prompt, signal);
      if (outcome.disposition === 'started' && signal.aborted) void real.runTurn(prompt);
      return outcome;
    };
    return createServerApp({ ...options, agent });
  },
};

describe('a run of commands sees', () => {
  test.each(Object.entries(MISTAKES))('%s', async (_, chart) => {
    const { failed, numRuns, counterexample } = await fc.check(agreement({}, chart), { numRuns: RUNS, seed: SEED });
    expect(failed).toBe(true);
    console.log(`seen in run ${numRuns}, shrunk to: ${counterexample?.[1]}`);
  });
  test.each(Object.entries(NAIVE))('%s', async (_, assemble) => {
    const { failed, numRuns, counterexample } = await fc.check(agreement({ assemble }), { numRuns: RUNS, seed: SEED });
    expect(failed).toBe(true);
    console.log(`seen in run ${numRuns}, shrunk to: ${counterexample?.[1]}`);
  });
});
