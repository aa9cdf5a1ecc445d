/** `turnEvents` of `execution-modes.json` (docs/turn-events.md). */
import { describe, expect, test } from 'vitest';
import { type Content, configurationOf, failureOf, load, MODES_PATH, validDocument } from './kit.ts';

const withModes = (modes: Content) => load(validDocument(), { [MODES_PATH]: modes });
const modes = (turnEvents: unknown) => withModes({ schemaVersion: 1, workspaces: {}, turnEvents });

test('true turns them on, beside any modes', () => {
  expect(configurationOf(modes(true)).turnEvents).toBe(true);
  const { turnEvents, workspaces } = configurationOf(
    withModes({ schemaVersion: 1, turnEvents: true, workspaces: { project: { mode: 'read-only' } } }),
  );
  expect([turnEvents, workspaces['project']?.mode]).toEqual([true, 'read-only']);
});

test('false, no field and no file leave them off, and nothing of them in the configuration', () => {
  const off = [modes(false), withModes({ schemaVersion: 1, workspaces: {} }), load(validDocument())];
  expect(off.map((result) => 'turnEvents' in configurationOf(result))).toEqual([false, false, false]);
});

describe('refuses', () => {
  test.each([['true'], [1], [null], [{}], [[true]]])('%j', (value) => {
    const { code, issues } = failureOf(modes(value));
    expect(code).toBe('invalid_execution_modes');
    expect(issues).toMatchObject([{ subject: 'execution-modes', field: 'turnEvents' }]);
  });
});
