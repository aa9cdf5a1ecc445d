/** A client in a terminal of its own, as a person has it: tmux holds the terminal, the test looks and types. */
import { execFileSync } from 'node:child_process';
import { onTestFinished } from 'vitest';

export interface Terminal {
  /** The client itself. */
  readonly pid: number;
  /** What is on the screen. */
  screen(): string;
  /** Types the words, and then Enter apart: a client takes a burst for a paste. */
  say(words: string): Promise<void>;
}

/** Why no terminal can be had here; undefined when one can. */
export function missingTerminal(): string | undefined {
  try {
    execFileSync('tmux', ['-V'], { stdio: 'ignore' });
    return undefined;
  } catch {
    return 'tmux is not installed';
  }
}

let count = 0;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Starts the command with exactly these variables; its terminal ends with the test. */
export function openTerminal(command: readonly string[], env: Readonly<Record<string, string>>, cwd: string): Terminal {
  count += 1;
  const name = `psm-${process.pid}-${count}`;
  const tmux = (...args: readonly string[]) =>
    execFileSync('tmux', ['-L', name, '-f', '/dev/null', ...args], {
      encoding: 'utf8',
      stdio: 'pipe',
      env: { PATH: process.env['PATH'] ?? '', LANG: 'C.UTF-8', TERM: 'xterm-256color' },
    });
  const variables = Object.entries({ ...env, TERM: 'xterm-256color' }).map(([key, value]) => `${key}=${value}`);
  // Words of its own, not one line for a shell: then tmux starts the command itself.
  tmux('new-session', '-d', '-x', '160', '-y', '50', '-c', cwd, 'env', '-i', ...variables, ...command);
  onTestFinished(() => {
    try {
      tmux('kill-server');
    } catch {
      // It ended with its client.
    }
  });
  return {
    pid: Number(tmux('display-message', '-p', '#{pane_pid}')),
    screen: () => tmux('capture-pane', '-p'),
    async say(words) {
      tmux('send-keys', '-l', words);
      await pause(500);
      tmux('send-keys', 'Enter');
    },
  };
}
