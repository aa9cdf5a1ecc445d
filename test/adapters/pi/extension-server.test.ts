/** Extensions that do not come back, under the charts' own deadlines. */
import { randomUUID } from 'node:crypto';
import { expect, it, onTestFinished } from 'vitest';
import { createServerApp } from '../../../src/app/server-app.ts';
import { DEADLINES_MS } from '../../../src/machines/shared/deadlines.ts';
import { ManualClock } from '../../kit/manual-clock.ts';
import { type ExtensionLab, extended, HOOKS, LOADING, openExtensionLab } from './extension-lab.ts';
import { configurationOf, eventually, profile } from './lab.ts';

const profiles = [profile('reader'), extended('hooks', [HOOKS]), extended('loading', [LOADING])];

async function openApp(environment: Readonly<Record<string, string>>) {
  const lab: ExtensionLab = await openExtensionLab({ profiles: profiles.slice(1) }, environment);
  onTestFinished(() => lab.close());
  const clock = new ManualClock(0);
  const reports: object[] = [];
  const app = createServerApp({
    configuration: configurationOf(lab.root, { main: lab.workspace }, profiles),
    agent: lab.agent,
    transport: { close: async () => {} },
    diagnostics: { report: (_level, event, fields) => void reports.push({ event, ...fields }) },
    now: () => 0,
    newId: randomUUID,
    clock,
  });
  app.ready();
  const start = (executionProfile: string) => app.service.start({ workspace: 'main', executionProfile });
  return { lab, clock, reports, app, start };
}

it.each([
  ['loading', { FIXTURE_LOAD: 'hang' }, 'loading', 'runtime', 'loadingTimeout'],
  ['hooks', { FIXTURE_HOOKS: 'hang' }, 'start hasUI=false trusted=false', 'create_session', 'creationTimeout'],
] as const)(
  '%s: the deadline refuses a start that hangs, and the server lives on',
  async (alias, environment, line, stage, deadline) => {
    const { lab, clock, reports, app, start } = await openApp(environment);
    const hanging = start(alias);
    expect(await eventually(() => lab.log().includes(line), 20_000)).toBe(true);
    expect(await start('reader')).toMatchObject({ ok: true });
    clock.fire(DEADLINES_MS[deadline]);
    expect(await hanging).toEqual({ ok: false, code: 'pi_session_creation_failed' });
    expect(reports).toEqual([expect.objectContaining({ event: 'pi_session_creation_failed', stage })]);
    expect(await start('reader')).toMatchObject({ ok: true });
    expect(app.service.list()).toHaveLength(2);
    const ends = alias === 'hooks' ? 1 : 0;
    expect(await eventually(() => lab.log().filter((one) => one === 'shutdown').length === ends)).toBe(true);
  },
);
