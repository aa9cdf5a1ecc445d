import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { plainProgress, terminalProgress } from '../../src/setup/progress.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** What a terminal shows: `\r` goes back, the erasing sequence clears the rest. */
function screenOf(columns?: number) {
  const written: string[] = [];
  const screen = { ...(columns === undefined ? {} : { columns }), write: (text: string) => written.push(text) };
  const line = () =>
    written
      .join('')
      .split('\r')
      .at(-1)
      ?.replace(`${String.fromCharCode(27)}[K`, '') ?? '';
  return { screen, written, line };
}

test('one line, which the last step has', () => {
  const { screen, line } = screenOf();
  const progress = terminalProgress(screen);
  progress.show('Asking');
  progress.show('Registering');
  vi.advanceTimersByTime(250);
  expect(line()).toBe('/ Registering');
  progress.end();
  expect(line()).toBe('');
  expect(vi.getTimerCount()).toBe(0);
});

test.each([10, 1])('never wider than a screen of %i columns', (columns) => {
  const { screen, written, line } = screenOf(columns);
  terminalProgress(screen).show('A text that is much too long');
  vi.advanceTimersByTime(100);
  expect(line().length).toBeLessThan(columns);
  expect(written.join('')).not.toContain('\n');
});

test('a step that is over at once is not shown at all', () => {
  const { screen, written } = screenOf();
  const progress = terminalProgress(screen);
  progress.show('Asking');
  vi.advanceTimersByTime(50);
  progress.end();
  vi.advanceTimersByTime(500);
  expect(written.join('')).not.toContain('Asking');
});

test('signals and the keyboard are left alone: Ctrl-C belongs to the run', () => {
  const counts = () => ['SIGINT', 'SIGTERM', 'exit'].map((name) => process.listenerCount(name));
  const before = [...counts(), process.stdin.listenerCount('data'), process.stdin.listenerCount('keypress')];
  const progress = terminalProgress(screenOf().screen);
  progress.show('Asking');
  vi.advanceTimersByTime(500);
  expect([...counts(), process.stdin.listenerCount('data'), process.stdin.listenerCount('keypress')]).toEqual(before);
  progress.end();
});

test('elsewhere only what takes a second gets a line', () => {
  const lines: string[] = [];
  const progress = plainProgress((line) => lines.push(line));
  progress.show('Quick');
  vi.advanceTimersByTime(900);
  progress.show('Slow');
  vi.advanceTimersByTime(1_100);
  progress.end();
  vi.advanceTimersByTime(5_000);
  expect(lines).toEqual(['Slow ...\n']);
});
