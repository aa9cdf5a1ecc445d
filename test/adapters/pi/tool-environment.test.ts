import { describe, expect, it } from 'vitest';
import { isKeptFromTools, toolEnvironment } from '../../../src/adapters/pi/tool-environment.ts';

describe('tool environment', () => {
  it.each([
    'ANTHROPIC_API_KEY',
    'SOME_APIKEY',
    'GITHUB_TOKEN',
    'npm_config__authToken',
    'AWS_SECRET_ACCESS_KEY',
    'PGPASSWORD',
    'MYSQL_PASSWD',
    'GOOGLE_APPLICATION_CREDENTIALS',
    'CLAUDECODE',
    'CLAUDE_CODE_ENTRYPOINT',
    'CODEX_HOME',
    'ANTHROPIC_BASE_URL',
    'OPENAI_ORGANIZATION',
    'MCP_TIMEOUT',
    'NODE_CHANNEL_FD',
    'PI_SESSION_MCP_CONFIG',
    'GH_PAT',
    'MYSQL_PWD',
    'SMTP_PASS',
    'REDIS_URL',
    'MONGODB_URI',
    'AZURE_STORAGE_CONNECTION_STRING',
    'SLACK_WEBHOOK_URL',
    'STRIPE_KEY',
    'AWS_ACCESS_KEY_ID',
    'DATABASE_URL',
    'SENTRY_DSN',
    'NPM_CONFIG__AUTH',
    'GPG_PASSPHRASE',
  ])('keeps %s', (name) => {
    expect(isKeptFromTools(name)).toBe(true);
  });

  it.each(['PATH', 'HOME', 'LANG', 'PWD', 'SSH_AUTH_SOCK', 'TMPDIR', 'EDITOR', 'NODE_OPTIONS', 'PI_SESSION_ID'])(
    'passes %s',
    (name) => {
      expect(isKeptFromTools(name)).toBe(false);
    },
  );

  it('adds on top and changes nothing of the original', () => {
    const original = Object.freeze({ PATH: '/bin', A_TOKEN: 'x', SCOPE: 'old' });
    expect(toolEnvironment(original, { SCOPE: 'new' })).toEqual({ PATH: '/bin', SCOPE: 'new' });
  });
});
