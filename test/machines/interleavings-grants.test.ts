/** Races of one connection's deadlines, cancellations and close with what its server does; and races between servers. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createGrantHost, type GrantHostOptions } from '../../src/app/grant-host.ts';
import type { GrantsPort } from '../../src/ports/grants.ts';
import { choicesOfARun, grantInterleavings, runGrantChaos } from '../kit/grant-interleavings.ts';

grantInterleavings();

/** Hosts that somebody has made a mistake in. */
const WRONG: Readonly<Record<string, (options: GrantHostOptions) => GrantsPort>> = {
  'a cancellation is only passed on': (options) => {
    const host = createGrantHost(options);
    return { ...host, call: (sessionId, tool, args) => host.call(sessionId, tool, args) };
  },
  'an aborted opening goes on': (options) => {
    const host = createGrantHost(options);
    return { ...host, open: (request) => host.open(request, new AbortController().signal) };
  },
  'a close waits for the calls': (options) => {
    const host = createGrantHost(options);
    const calls: Promise<unknown>[] = [];
    return {
      ...host,
      call: (...asked) => {
        const reply = host.call(...asked);
        calls.push(reply);
        return reply;
      },
      close: async (sessionId) => {
        await Promise.all(calls);
        await host.close(sessionId);
      },
    };
  },
  'the children of one session are never ended': (options) => {
    const host = createGrantHost(options);
    return { ...host, close: async (sessionId) => (sessionId === 's1' ? undefined : host.close(sessionId)) };
  },
};

describe('the runs see that', () => {
  test.each(Object.entries(WRONG))('%s', async (_, assemble) => {
    const run = fc.asyncProperty(choicesOfARun, (choices) => runGrantChaos(choices, assemble));
    const { failed } = await fc.check(run, { numRuns: 500, seed: 1, endOnFailure: true });
    expect(failed).toBe(true);
  });
});
