/** Records that a state file may hold. */
import type { OwnershipRecord } from '../../src/ports/setup/ownership.ts';

export const PROJECT = '@0123456789abcdef';

export const REGISTRATION: OwnershipRecord = {
  client: 'codex',
  scope: 'user',
  alias: 'pi-session-mcp',
  phase: 'pending',
  fingerprint: 'a'.repeat(64),
  release: 'b'.repeat(64),
};

export const SKILL: OwnershipRecord = {
  client: 'claude-code',
  scope: 'project',
  alias: `skill:pi-session-orchestration${PROJECT}`,
  phase: 'pending',
  fingerprint: 'c'.repeat(64),
  replaces: 'd'.repeat(64),
};
