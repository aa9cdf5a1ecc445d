/**
 * The rules of the agent port, for every implementation: the Pi adapter and the
 * scripted fake that stands in for it in the charts' tests.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AgentPort, CreateOutcome, StartRequest, TurnRef } from '../../src/ports/agent.ts';

/** A turn that does not end by itself. */
export interface HeldTurn {
  /** Resolves once the agent works on it. */
  readonly working: Promise<void>;
  /** Lets it end normally with this text. */
  complete(text: string): void;
}

export interface AgentPortHarness {
  readonly agent: AgentPort;
  /** A request that can succeed. */
  request(sessionId: string): StartRequest;
  /** Calls `createSession` and aborts its signal before the handle arrives. */
  abortCreation(request: StartRequest): Promise<CreateOutcome>;
  /** What the next turn does. */
  holdNextTurn(): HeldTurn;
  completeNextTurn(text: string): void;
  failNextTurn(): void;
  /** Counts since the harness was made: disposed handles, prompts that an agent worked on, abort attempts. */
  disposals(): number;
  prompts(): number;
  aborts(): number;
  close(): Promise<void>;
}

const live = (): AbortSignal => new AbortController().signal;
const SESSION = '00000000-0000-4000-8000-000000000001';
const ref = (turnId: string, sessionId = SESSION): TurnRef => ({ sessionId, turnId });

export function agentPortContract(name: string, makeHarness: () => Promise<AgentPortHarness>): void {
  describe(`agent port: ${name}`, () => {
    let harness: AgentPortHarness;
    let agent: AgentPort;

    beforeEach(async () => {
      harness = await makeHarness();
      agent = harness.agent;
    });
    afterEach(() => harness.close());

    async function start(sessionId = SESSION): Promise<CreateOutcome> {
      const request = harness.request(sessionId);
      expect(await agent.selectModel(request, live())).toEqual({ ok: true });
      expect(await agent.checkAuthentication(request, live())).toEqual({ ok: true });
      expect(await agent.readAuthentication(request, live())).toEqual({ ok: true });
      expect(await agent.checkAvailability(request, live())).toEqual({ ok: true });
      expect(await agent.connectTools(request, live())).toEqual({ ok: true });
      return agent.createSession(request, live());
    }
    const admit = (turn: TurnRef, signal = live()) => agent.admitPrompt({ ...turn, prompt: 'work' }, signal);

    describe('start', () => {
      it('reports the selection of the created session', async () => {
        const created = await start();
        expect(created).toMatchObject({ ok: true, selection: { provider: expect.any(String) } });
      });

      it('disposes the late handle of an aborted start once and never keeps it', async () => {
        await start('00000000-0000-4000-8000-00000000000f');
        const outcome = await harness.abortCreation(harness.request(SESSION));
        expect(outcome.ok).toBe(false);
        expect(harness.disposals()).toBe(1);
        expect(await admit(ref('t1'))).toEqual({ disposition: 'refused' });
        await agent.disposeSession(SESSION);
        expect(harness.disposals()).toBe(1);
        expect(harness.prompts()).toBe(0);
      });
    });

    describe('turn', () => {
      it('ends with the text of its final message', async () => {
        await start();
        harness.completeNextTurn('the answer');
        expect(await admit(ref('t1'))).toEqual({ disposition: 'started' });
        const result = await agent.runTurn(ref('t1'));
        expect(result).toEqual({ state: 'completed', assistantText: 'the answer', truncated: false });
        await agent.settlePrompt(ref('t1'));
        expect(await agent.runTurn(ref('t1'))).toEqual(result);
      });

      it('is admitted long before it ends', async () => {
        await start();
        const held = harness.holdNextTurn();
        expect(await admit(ref('t1'))).toEqual({ disposition: 'started' });
        await held.working;
        held.complete('later');
        expect(await agent.runTurn(ref('t1'))).toMatchObject({ state: 'completed', assistantText: 'later' });
      });

      it('fails without taking the text of an earlier one', async () => {
        await start();
        harness.completeNextTurn('first');
        await admit(ref('t1'));
        await agent.runTurn(ref('t1'));
        harness.failNextTurn();
        expect(await admit(ref('t2'))).toEqual({ disposition: 'started' });
        expect(await agent.runTurn(ref('t2'))).toEqual({ state: 'failed' });
      });

      it('refuses a second prompt while one runs, which goes on', async () => {
        await start();
        const held = harness.holdNextTurn();
        await admit(ref('t1'));
        await held.working;
        expect(await admit(ref('t2'))).toEqual({ disposition: 'refused' });
        held.complete('only');
        expect(await agent.runTurn(ref('t1'))).toMatchObject({ assistantText: 'only' });
        expect(harness.prompts()).toBe(1);
      });

      it('is never submitted when its admission is over already', async () => {
        await start();
        const over = AbortSignal.abort();
        expect(await admit(ref('t1'), over)).toEqual({ disposition: 'refused' });
        await agent.settlePrompt(ref('t1'));
        expect(harness.prompts()).toBe(0);
      });

      it('settles, and is refused, when its admission ends during the preflight', async () => {
        await start();
        harness.completeNextTurn('unseen');
        const controller = new AbortController();
        const admitted = admit(ref('t1'), controller.signal);
        controller.abort();
        expect(await admitted).toEqual({ disposition: 'refused' });
        await agent.settlePrompt(ref('t1'));
        harness.completeNextTurn('seen');
        expect(await admit(ref('t2'))).toEqual({ disposition: 'started' });
        expect((await agent.runTurn(ref('t2'))).state).toBe('completed');
      });

      it('tells of its activity until unsubscribed', async () => {
        await start();
        let mine = 0;
        let stopped = 0;
        const held = harness.holdNextTurn();
        await admit(ref('t1'));
        agent.watchTurn(ref('t1'), () => {
          mine += 1;
        });
        agent.watchTurn(ref('t1'), () => {
          stopped += 1;
        })();
        await held.working;
        expect(mine).toBe(0);
        held.complete('text');
        await agent.runTurn(ref('t1'));
        expect(mine).toBe(1);
        harness.completeNextTurn('other');
        await admit(ref('t2'));
        await agent.runTurn(ref('t2'));
        expect([mine, stopped]).toEqual([1, 0]);
      });
    });

    describe('abort', () => {
      it('ends the turn as aborted, and the session goes on', async () => {
        await start();
        const held = harness.holdNextTurn();
        await admit(ref('t1'));
        await held.working;
        expect(await agent.abortTurn(ref('t1'))).toEqual({ ok: true });
        expect(await agent.runTurn(ref('t1'))).toEqual({ state: 'aborted' });
        harness.completeNextTurn('next');
        expect(await admit(ref('t2'))).toEqual({ disposition: 'started' });
        expect(await agent.runTurn(ref('t2'))).toMatchObject({ assistantText: 'next' });
      });

      it('lets the turn settle first', async () => {
        await start();
        const held = harness.holdNextTurn();
        await admit(ref('t1'));
        await held.working;
        const order: string[] = [];
        const ran = agent.runTurn(ref('t1')).then(() => order.push('run'));
        await agent.abortTurn(ref('t1')).then(() => order.push('abort'));
        await ran;
        expect(order).toEqual(['run', 'abort']);
      });

      it('joins a live attempt for the same turn', async () => {
        await start();
        const held = harness.holdNextTurn();
        await admit(ref('t1'));
        await held.working;
        const attempts = await Promise.all([agent.abortTurn(ref('t1')), agent.abortTurn(ref('t1'))]);
        expect(attempts).toEqual([{ ok: true }, { ok: true }]);
        expect(harness.aborts()).toBe(1);
      });

      it('changes nothing about a turn that has ended', async () => {
        await start();
        harness.completeNextTurn('kept');
        await admit(ref('t1'));
        await agent.runTurn(ref('t1'));
        expect(await agent.abortTurn(ref('t1'))).toEqual({ ok: true });
        expect(await agent.runTurn(ref('t1'))).toMatchObject({ state: 'completed', assistantText: 'kept' });
        expect(harness.aborts()).toBe(0);
      });
    });

    describe('dispose', () => {
      it('happens at most once for a handle', async () => {
        await start();
        await Promise.all([agent.disposeSession(SESSION), agent.disposeSession(SESSION)]);
        await agent.disposeSession(SESSION);
        agent.disposeAll();
        expect(harness.disposals()).toBe(1);
      });

      it('lets no later prompt through', async () => {
        await start();
        harness.completeNextTurn('first');
        await admit(ref('t1'));
        await agent.runTurn(ref('t1'));
        await agent.disposeSession(SESSION);
        expect(await admit(ref('t2'))).toEqual({ disposition: 'refused' });
        expect(harness.prompts()).toBe(1);
      });

      it('lets no prompt through that is still in its preflight', async () => {
        await start();
        const admitted = admit(ref('t1'));
        const settled = agent.settlePrompt(ref('t1'));
        await agent.disposeSession(SESSION);
        expect(await admitted).toEqual({ disposition: 'refused' });
        await settled;
        expect(harness.prompts()).toBe(0);
      });

      it('settles the turn that runs', async () => {
        await start();
        const held = harness.holdNextTurn();
        await admit(ref('t1'));
        await held.working;
        const ended = Promise.all([agent.settlePrompt(ref('t1')), agent.runTurn(ref('t1'))]);
        await agent.disposeSession(SESSION);
        const [, result] = await ended;
        expect(result.state).not.toBe('completed');
      });

      it('takes every session at the end of the process', async () => {
        await start();
        await start('00000000-0000-4000-8000-000000000002');
        agent.disposeAll();
        expect(harness.disposals()).toBe(2);
        await agent.disposeSession(SESSION);
        expect(harness.disposals()).toBe(2);
      });
    });

    it('answers for turns and sessions that it does not know', async () => {
      await agent.settlePrompt(ref('none'));
      expect(await agent.runTurn(ref('none'))).toEqual({ state: 'failed' });
      expect(await agent.abortTurn(ref('none'))).toEqual({ ok: true });
      expect(await admit(ref('none'))).toEqual({ disposition: 'refused' });
      agent.watchTurn(ref('none'), () => {})();
      await agent.disposeSession(SESSION);
    });
  });
}
