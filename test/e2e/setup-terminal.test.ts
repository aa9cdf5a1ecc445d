/** Ctrl-C in a real terminal: the run ends in order, and says so. Linux: `script` of util-linux makes the terminal. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { processesOf } from './kit/processes.ts';
import { until } from './kit/until.ts';
import { makeOperator, type Operator, runSetup } from './setup-kit/operator.ts';

const root = mkdtempSync(join(tmpdir(), 'setup-terminal-'));
const terminals: ChildProcess[] = [];
afterAll(() => {
  // Only what a failed test has left: its end hangs up the terminal.
  for (const terminal of terminals) terminal.kill('SIGKILL');
  rmSync(root, { recursive: true, force: true });
});

const SETUP = resolve(import.meta.dirname, '../../dist/setup.js');
const TARGET = ['--target', 'claude-code:user:pi-session-mcp'];
const CTRL_C = '\u0003';

class Terminal {
  readonly #child: ChildProcess;
  #shown = '';

  constructor({ project, env }: Operator, args: readonly string[], extra: Readonly<Record<string, string>> = {}) {
    const command = [process.execPath, SETUP, ...args].map((word) => `'${word}'`).join(' ');
    // Its input is no terminal, so nobody has told it a size.
    const line = `stty cols 80 rows 24 && exec ${command}`;
    this.#child = spawn('/usr/bin/script', ['-qec', line, '/dev/null'], {
      cwd: project,
      env: { ...env, SHELL: '/bin/sh', TERM: 'xterm', ...extra },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    terminals.push(this.#child);
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#shown += text;
    });
  }

  get shown(): string {
    return this.#shown;
  }

  type(text: string): void {
    this.#child.stdin?.write(text);
  }

  shows(text: string): Promise<unknown> {
    return until(
      () => `shown: ${this.#shown}`,
      () => this.#shown.includes(text),
    );
  }

  async end(): Promise<number> {
    const [code] = await once(this.#child, 'close');
    return code as number;
  }
}

describe.skipIf(!existsSync('/usr/bin/script'))('Ctrl-C', () => {
  test.each([
    ['while a client hangs', 'get:hang', 1, 'Asking the client'],
    ['twice, while a client is deaf', 'get:hang-deaf', 2, 'Asking the client'],
    ['while a client adds', 'add:hang', 1, 'Registering the server'],
  ])('%s', async (what, mischief, times, step) => {
    const operator = makeOperator(join(root, what.replaceAll(/\W/g, '-')));
    const terminal = new Terminal(operator, ['--apply', ...TARGET], { FAKE_MISCHIEF: mischief });
    await terminal.shows(step);
    for (let time = 0; time < times; time += 1) terminal.type(CTRL_C);
    expect([await terminal.end(), terminal.shown.includes('(operation_interrupted)')]).toEqual([130, true]);
    await until('no process left', () => processesOf(operator.root).length === 0);
    expect(readdirSync(operator.state).filter((name) => name.startsWith('client-'))).toEqual([]);
    expect((await runSetup(operator, ['--apply', '--json', ...TARGET])).code).toBe(0);
  });

  test('at a question of --init', async () => {
    const operator = makeOperator(join(root, 'question'));
    const path = join(operator.root, 'new.json');
    const terminal = new Terminal(operator, ['--init', '--config', path]);
    await terminal.shows('Directory for Pi sessions?');
    terminal.type(CTRL_C);
    expect([await terminal.end(), terminal.shown.includes('(operation_interrupted)')]).toEqual([130, true]);
    expect(existsSync(path)).toBe(false);
  });

  test('while --init asks Pi', async () => {
    const operator = makeOperator(join(root, 'pi'));
    const path = join(operator.root, 'new.json');
    const terminal = new Terminal(operator, ['--init', '--config', path, '--workspace', 'shop=.']);
    await terminal.shows('Asking Pi');
    terminal.type(CTRL_C);
    expect([await terminal.end(), terminal.shown.includes('(operation_interrupted)')]).toEqual([130, true]);
    expect(existsSync(path)).toBe(false);
  });
});
