/** Tables of the documents that users script against, held to the source that they describe. */
import { describe, expect, test } from 'vitest';
import { MESSAGES } from '../../src/adapters/mcp/messages.ts';
import { TOOLS } from '../../src/adapters/mcp/tools.ts';
import { read, repositoryFiles } from './repository.ts';

const rowsOf = (page: string): string[][] =>
  read(page)
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
const namesIn = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name);

describe('docs/tools.md', () => {
  const rows = rowsOf('docs/tools.md');

  test('has a row for each tool, with its annotations', () => {
    const said = Object.fromEntries(
      rows.filter((row) => row.length === 7).map(([name, , , ...hints]) => [namesIn(name)[0], hints]),
    );
    const yes = (hint: boolean | undefined) => (hint ? 'yes' : 'no');
    const offered = TOOLS.map(
      ({ name, annotations: { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } }) => [
        name,
        [readOnlyHint, destructiveHint, idempotentHint, openWorldHint].map(yes),
      ],
    );
    expect(said).toEqual(Object.fromEntries(offered));
  });

  test('says for each code, once, what to do', () => {
    const codes = rows.filter((row) => row.length === 2).flatMap(([cell]) => namesIn(cell));
    const known = Object.keys(MESSAGES);
    expect(codes.filter((code = '') => known.includes(code)).sort()).toEqual(known.sort());
  });
});

test('the list of decisions has each of them, and no two share a number', () => {
  const pages = repositoryFiles().filter((file) => /^docs\/adr\/\d/.test(file));
  const numbers = pages.map((file) => file.slice('docs/adr/'.length, 'docs/adr/0000'.length));
  expect(new Set(numbers).size).toBe(numbers.length);
  const index = read('docs/adr/README.md');
  expect(pages.filter((file) => !index.includes(`](${file.slice('docs/adr/'.length)})`))).toEqual([]);
});
