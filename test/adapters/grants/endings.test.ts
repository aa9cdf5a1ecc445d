/** No process of a granted server outlives its session. */
import { describe, expect, it } from 'vitest';
import { type FixtureOptions, fixture } from '../../fixtures/mcp-servers/servers.ts';
import { TEST_DEADLINES } from '../../kit/world.ts';
import { eventually } from '../pi/lab.ts';
import { mentioning, sleepToken } from '../process/processes.ts';
import { SESSION, said, useGrants } from './lab.ts';

/** Marked processes, and what of them no longer carries the mark. */
const living = (lab: ReturnType<typeof useGrants>, token: string) => [
  ...lab.children().map(String),
  ...mentioning(token),
];

async function ready(options: FixtureOptions, stopTime = false) {
  const token = sleepToken();
  const lab = useGrants([fixture('a', options, { token })], { stopTime });
  expect(await lab.open()).toEqual({ ok: true });
  return { lab, token };
}

describe.skipIf(process.platform !== 'linux')('after a close', () => {
  it('a server that keeps to the protocol has gone by itself', async () => {
    const { lab, token } = await ready({}, true);
    await lab.grants.close(SESSION);
    expect(living(lab, token)).toEqual([]);
    lab.clock.assertEmpty();
    // Again, and by somebody else.
    await Promise.all([lab.grants.close(SESSION), lab.grants.close('nobody')]);
  });

  it('one that ignores the end of its input has been asked', async () => {
    const { lab, token } = await ready({ stubborn: 'eof' }, true);
    const closed = lab.grants.close(SESSION);
    lab.clock.fire(TEST_DEADLINES.externalEndTimeout);
    await closed;
    expect(living(lab, token)).toEqual([]);
  });

  it('one that ignores SIGTERM too has been killed', async () => {
    const { lab, token } = await ready({ stubborn: 'term' }, true);
    const closed = lab.grants.close(SESSION);
    lab.clock.fire(TEST_DEADLINES.externalEndTimeout);
    expect(await eventually(() => living(lab, token).length === 0, 200)).toBe(false);
    lab.clock.fire(TEST_DEADLINES.externalTerminateTimeout);
    await closed;
    expect(living(lab, token)).toEqual([]);
  });

  it('one that was stopped has been killed, within the bound of real time', async () => {
    const { lab, token } = await ready({});
    const pid = Number(said(await lab.call('a', { how: 'pid' })));
    process.kill(pid, 'SIGSTOP');
    const began = performance.now();
    await lab.grants.close(SESSION);
    expect(performance.now() - began).toBeLessThan(4_500);
    expect(living(lab, token)).toEqual([]);
  }, 15_000);

  it('what it has left behind is gone, in whatever session it was', async () => {
    const grandchild = sleepToken();
    const { lab } = await ready({ grandchild });
    expect(mentioning(`sleep ${grandchild}`)).toHaveLength(1);
    await lab.grants.close(SESSION);
    expect(mentioning(`sleep ${grandchild}`)).toEqual([]);
  });

  it('the server of another session is left alone', async () => {
    const { lab } = await ready({});
    expect(await lab.open('s2')).toEqual({ ok: true });
    await lab.grants.close('s2');
    expect(said(await lab.call('a', { how: 'echo', say: 'here' }))).toBe('here');
  });

  it('of a server that has failed before, nothing is left either', async () => {
    const grandchild = sleepToken();
    const { lab } = await ready({ grandchild });
    await lab.call('a', { how: 'die' });
    await lab.grants.close(SESSION);
    expect(living(lab, grandchild)).toEqual([]);
  });
});

it.skipIf(process.platform !== 'linux')('the end of the process takes them at once', async () => {
  const { lab, token } = await ready({ stubborn: 'term' });
  lab.grants.abandon();
  expect(await eventually(() => living(lab, token).length === 0)).toBe(true);
});
