/** The disk that the server really uses. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { configurationFiles } from '../../src/adapters/fs/configuration-files.ts';
import { loadConfiguration } from '../../src/config/load-configuration.ts';
import { configurationOf, failureOf, validDocument } from './kit.ts';

let root = '';
const at = (name: string): string => join(root, name);
const loadAt = (name: string) =>
  loadConfiguration({
    env: { PI_SESSION_MCP_CONFIG: at(name) },
    packageRoot: at('package'),
    files: configurationFiles,
  });

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'pi-config-'));
  writeFileSync(at('good.json'), JSON.stringify(validDocument()));
  writeFileSync(at('full.json'), JSON.stringify(validDocument()).padEnd(1_048_576));
  writeFileSync(at('large.json'), JSON.stringify(validDocument()).padEnd(1_048_577));
  mkdirSync(at('directory'));
  mkdirSync(at('linked'));
  symlinkSync(at('good.json'), at('linked/link.json'));
  symlinkSync(at('nowhere'), at('dangling.json'));
  execFileSync('mkfifo', [at('fifo')]);
  writeFileSync(at('locked.json'), '{}');
  chmodSync(at('locked.json'), 0o000);
});

afterAll(() => rmSync(root, { recursive: true }));

describe('read', () => {
  test.each([
    ['absent.json', 'missing'],
    ['good.json/below.json', 'missing'],
    ['directory', 'not_a_file'],
    ['fifo', 'not_a_file'],
    ['large.json', 'too_large'],
    ['dangling.json', 'unreadable'],
  ])('%s is %s', (name, reason) => {
    expect(failureOf(loadAt(name))).toMatchObject({ code: 'config_unreadable', reason });
  });

  test.skipIf(process.getuid?.() === 0)('a file without permission is unreadable', () => {
    expect(failureOf(loadAt('locked.json'))).toMatchObject({ code: 'config_unreadable', reason: 'unreadable' });
  });

  test('a file of exactly the limit is read whole', () => {
    expect(loadAt('full.json')).toMatchObject({ ok: true });
    expect(configurationFiles.read(at('full.json'), 1_048_576)).toMatchObject({ ok: true });
    expect(configurationFiles.read(at('full.json'), 1_048_575)).toEqual({ ok: false, reason: 'too_large' });
  });

  test('a linked configuration belongs to the directory that names it', () => {
    expect(configurationOf(loadAt('linked/link.json')).directory).toBe(at('linked'));
  });
});

describe('execution modes beside it', () => {
  test.each([
    ['a link to nowhere', (path: string) => symlinkSync(at('nowhere'), path)],
    ['a directory', (path: string) => mkdirSync(path)],
  ])('%s is not the same as no file', (_name, make) => {
    make(at('linked/execution-modes.json'));
    try {
      expect(failureOf(loadAt('linked/link.json')).code).toBe('invalid_execution_modes');
    } finally {
      rmSync(at('linked/execution-modes.json'), { recursive: true });
    }
  });
});

describe('exists', () => {
  test.each([
    ['good.json', true],
    ['linked/link.json', true],
    ['directory', true],
    ['absent.json', false],
    ['good.json/below', false],
    ['dangling.json', false],
  ])('%s: %s', (name, expected) => {
    expect(configurationFiles.exists(at(name))).toBe(expected);
  });

  test('what cannot be told counts as there, so that an override is never skipped silently', () => {
    expect(configurationFiles.exists(at('x'.repeat(300)))).toBe(true);
  });
});
