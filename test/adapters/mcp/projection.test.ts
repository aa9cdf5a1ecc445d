import { describe, expect, it } from 'vitest';
import manifest from '../../../package.json' with { type: 'json' };
import { capabilitiesView, sessionView, turnView } from '../../../src/adapters/mcp/projection.ts';
import { COMPLETED, CONFIGURATION, SECRET, SESSION, TURN } from './harness.ts';

/** A record that a careless change gave one more field. */
function widened<T extends object>(record: T): T {
  return { ...record, prompt: SECRET, directory: SECRET, handle: SECRET };
}

describe('the view of a session', () => {
  it('shows the declared fields and nothing else', () => {
    expect(sessionView(widened(SESSION))).toEqual({
      id: SESSION.id,
      workspace: 'app',
      executionProfile: 'review',
      profile: 'read-only',
      provider: 'scripted',
      model: 'scripted-1',
      thinkingLevel: 'high',
      state: 'idle',
      createdAt: '2023-11-14T22:13:20.000Z',
      updatedAt: '2023-11-14T22:13:21.000Z',
    });
  });

  it('says that the last turn failed, in fixed words', () => {
    expect(sessionView({ ...SESSION, state: 'failed', lastTurnFailed: true }).lastError).toBe('Pi turn failed');
  });
});

describe('the view of a turn', () => {
  const common = { turnId: TURN.turnId, sessionId: SESSION.id, startedAt: '2023-11-14T22:13:22.000Z' };
  const text = { assistantText: SECRET, truncated: true };

  it('running: no end, no text', () => {
    expect(turnView(widened({ ...TURN, ...text }))).toEqual({
      ...common,
      state: 'running',
      updatedAt: '2023-11-14T22:13:23.000Z',
    });
  });

  it('completed: end, text and whether it was cut', () => {
    expect(turnView(widened(COMPLETED))).toEqual({
      ...common,
      state: 'completed',
      updatedAt: '2023-11-14T22:13:24.000Z',
      completedAt: '2023-11-14T22:13:24.000Z',
      assistantText: COMPLETED.assistantText,
      truncated: false,
    });
  });

  it('failed: end and the fixed error, no text', () => {
    expect(turnView({ ...COMPLETED, ...text, state: 'failed' })).toEqual({
      ...common,
      state: 'failed',
      updatedAt: '2023-11-14T22:13:24.000Z',
      completedAt: '2023-11-14T22:13:24.000Z',
      error: { code: 'turn_failed', message: 'Pi turn failed' },
    });
  });

  it('aborted: the end alone, which is the last update when none was recorded', () => {
    expect(turnView({ ...TURN, ...text, state: 'aborted' })).toEqual({
      ...common,
      state: 'aborted',
      updatedAt: '2023-11-14T22:13:23.000Z',
      completedAt: '2023-11-14T22:13:23.000Z',
    });
  });
});

describe('capabilities', () => {
  it('show the declared fields, sorted, without a path', () => {
    const view = capabilitiesView(CONFIGURATION);
    expect(view).toEqual({
      server: { name: 'pi-session-mcp', version: manifest.version },
      configuration: { fingerprint: CONFIGURATION.fingerprint, reloadPolicy: 'restart-required' },
      workspaces: [
        { alias: 'app', mode: 'unset' },
        { alias: 'lib', mode: 'read-only' },
      ],
      executionProfiles: [
        {
          alias: 'code',
          default: false,
          permissionProfile: 'coding',
          provider: 'scripted',
          model: 'scripted-1',
          thinkingLevel: 'high',
          extensions: ['npm:pi-lens@1.2.3', 'npm:a@0.1.0'],
          grantedExtensionTools: [],
          skills: ['z-skill', 'a-skill'],
        },
        {
          alias: 'review',
          default: true,
          permissionProfile: 'read-only',
          provider: 'scripted',
          model: 'scripted-1',
          thinkingLevel: 'high',
          extensions: [],
          grantedExtensionTools: [],
          skills: [],
        },
      ],
    });
    expect(JSON.stringify(view)).not.toContain(SECRET);
  });

  it('sort by code point, not by the rules of a language', () => {
    const workspaces = ['b', 'a_', 'a-', 'a1', 'aa'].map((alias) => ({ alias, directory: '/', mode: 'host' as const }));
    const view = capabilitiesView({
      ...CONFIGURATION,
      workspaces: Object.fromEntries(workspaces.map((workspace) => [workspace.alias, workspace])),
    });
    expect(view.workspaces.map(({ alias }) => alias)).toEqual(['a-', 'a1', 'a_', 'aa', 'b']);
  });
});
