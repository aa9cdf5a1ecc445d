import { describe, expect, test } from 'vitest';
import type { Configuration, ExecutionProfile, Workspace } from '../../src/config/configuration.ts';
import { containedConfiguration } from '../../src/writers/contained-configuration.ts';

const coder: ExecutionProfile = {
  alias: 'coder',
  default: false,
  permissionProfile: 'coding',
  provider: 'p',
  model: 'm',
  thinkingLevel: 'high',
  extensions: [],
  grantedExtensionTools: [],
  skills: [{ alias: 'how', path: '/host/SKILL.md' }],
  mcpServers: [],
};

function make(profile: Partial<ExecutionProfile> = {}, more: Partial<Configuration> = {}, catalog?: object) {
  const container = { writers: 1, lifecycle: 'persistent', image: 'node', network: 'none', cache: 'none' } as const;
  const workspace: Workspace = {
    alias: 'shop',
    directory: '/host/shop',
    mode: 'container',
    container: { ...container, profiles: [profile.alias ?? 'coder'] },
  };
  const configuration: Configuration = {
    fingerprint: '',
    directory: '/host',
    workspaces: { shop: workspace, secret: { alias: 'secret', directory: '/host/secret', mode: 'unset' } },
    executionProfiles: { [profile.alias ?? 'coder']: { ...coder, ...profile } },
    defaultExecutionProfile: 'reader',
    ...more,
  };
  return containedConfiguration({
    configuration,
    workspace,
    catalog: { how: 'builtin:pi-session-implementation', own: 'mine/SKILL.md', ...catalog },
  });
}

test('one workspace, a read-only default and the selected coding profiles, with nothing of the host', () => {
  const made = make();
  expect(JSON.parse(made?.configuration ?? '')).toEqual({
    workspaces: { shop: '/work' },
    skillCatalog: { how: 'builtin:pi-session-implementation' },
    executionProfiles: {
      'boundary-read-only': {
        default: true,
        permissionProfile: 'read-only',
        provider: 'p',
        model: 'm',
        thinkingLevel: 'high',
      },
      coder: {
        default: false,
        permissionProfile: 'coding',
        provider: 'p',
        model: 'm',
        thinkingLevel: 'high',
        skills: ['how'],
      },
    },
  });
  expect(JSON.parse(made?.modes ?? '')).toEqual({
    schemaVersion: 1,
    workspaces: { shop: { mode: 'host', acceptHostWrites: true } },
  });
  expect(made?.skills).toEqual(['pi-session-implementation']);
  expect(JSON.stringify(made)).not.toContain('/host');
});

test('turn events come along where the operator wants them', () => {
  expect(JSON.parse(make({}, { turnEvents: true })?.modes ?? '')).toMatchObject({ turnEvents: true });
});

describe('refused', () => {
  test.each<[string, Partial<ExecutionProfile>]>([
    ['an extension', { extensions: ['npm:x@1.0.0'] }],
    ['an external server', { mcpServers: [{ alias: 's', command: '/bin/s', args: [], envFrom: {}, tools: {} }] }],
    ['a skill of one’s own', { skills: [{ alias: 'own', path: '/host/mine/SKILL.md' }] }],
    ['a skill that the catalog does not have', { skills: [{ alias: 'gone', path: '/x' }] }],
    ['the name of the default', { alias: 'boundary-read-only' }],
  ])('%s', (_what, profile) => expect(make(profile)).toBeUndefined());
});
