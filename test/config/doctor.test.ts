import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const DOCTOR = fileURLToPath(new URL('../../src/doctor/main.ts', import.meta.url));
const EXAMPLE = fileURLToPath(new URL('../../pi-session-mcp.example.json', import.meta.url));
const run = promisify(execFile);

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(import.meta.dirname, '.doctor-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

async function examine(path: string): Promise<{ code: number; stdout: string; stderr: string }> {
  const env = { PI_SESSION_MCP_CONFIG: path };
  try {
    return { code: 0, ...(await run(process.execPath, ['--no-warnings', DOCTOR], { env })) };
  } catch (error) {
    return error as { code: number; stdout: string; stderr: string };
  }
}

describe('the doctor', () => {
  test('finds nothing wrong with the example', async () => {
    const { code, stdout, stderr } = await examine(EXAMPLE);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('The configuration is valid.');
    expect(stdout).toContain('coding-worker');
  });

  test('names the field of a configuration that the server refuses, and no value or path', async () => {
    const path = join(directory, 'hunter2.json');
    const profile = {
      default: true,
      permissionProfile: 'read-only',
      provider: 'hunter2',
      model: 'm',
      thinkingLevel: 3,
    };
    writeFileSync(path, JSON.stringify({ workspaces: { app: '~/hunter2' }, executionProfiles: { reader: profile } }));
    const { code, stdout } = await examine(path);
    expect(code).toBe(2);
    expect(stdout).toContain('invalid_execution_profile_config');
    expect(stdout).toMatch(/reader: thinkingLevel/);
    expect(stdout).not.toContain('hunter2');
  });
});
