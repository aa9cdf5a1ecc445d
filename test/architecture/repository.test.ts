import { expect, test } from 'vitest';
import { read, repositoryFiles } from './repository.ts';

// Spelt so that this file does not contain what it looks for.
// A writer's box has its clone in the first of the two, so there only what is no part of a clone counts.
const ABSOLUTE = /(?<![\w.~$}/-])[/](?:work[/](?:main|lab|shared|wt)\b|root[/][\w.])/;
const GENERATED = new Set(['package-lock.json']);

const isText = (text: string) => !text.includes('\0');

test('no file names a folder of the machine that it was written on', () => {
  const files = repositoryFiles().filter((file) => !GENERATED.has(file));
  expect(files).toContain('package.json');
  const named = files.filter((file) => {
    const text = read(file);
    return isText(text) && ABSOLUTE.test(text);
  });
  expect(named).toEqual([]);
});

test.each([
  ['/wo', 'rk/main/src', true],
  ['/wo', 'rk/.git/config', false],
  ['"/ro', 'ot/.config"', true],
  ['test/wo', 'rk/x.ts', false],
  ['~/ro', 'ot/x', false],
])('%s%s', (start, end, found) => expect(ABSOLUTE.test(start + end)).toBe(found));
