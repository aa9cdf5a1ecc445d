/** Every relative link and anchor in the documents leads somewhere. Links to other hosts are nobody's to check offline. */
import { existsSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, expect, test } from 'vitest';
import { brokenLinks, type Document, headingAnchors } from './links.ts';
import { read, repositoryFiles, root } from './repository.ts';

const files = repositoryFiles().filter((file) => file.endsWith('.md'));
const documents = new Map(files.map((file) => [file, read(file)]));
const exists = (path: string) => existsSync(join(root, path));

test('links and anchors of all documents resolve', () => {
  expect(files.length).toBeGreaterThan(20);
  expect(brokenLinks(documents, exists)).toEqual([]);
});

const reachable = (start: string): Set<string> => {
  const seen = new Set([start]);
  for (const file of seen) {
    const links = (documents.get(file) ?? '').matchAll(/\]\((?!\w+:)([^)#\s]+)/g);
    for (const [, path = ''] of links) {
      const target = posix.join(posix.dirname(file), path);
      if (documents.has(target)) seen.add(target);
    }
  }
  return seen;
};

test('every page of documentation can be reached from the README', () => {
  const reached = reachable('README.md');
  const pages = files.filter((file) => file.startsWith('docs/') || !file.includes('/'));
  expect(pages.filter((file) => !reached.has(file))).toEqual([]);
});

describe('the check', () => {
  const page = (text: string): Document =>
    new Map([
      ['docs/a.md', text],
      ['docs/b.md', '# One\n\n## Two `x`, three\n\n## One\n'],
    ]);
  const found = (text: string) => brokenLinks(page(text), (path) => path === 'src/x.ts');

  test.each([
    ['a page', '[b](b.md)'],
    ['an anchor', '[b](b.md#two-x-three)'],
    ['a second heading of a name', '[b](b.md#one-1)'],
    ['its own heading', '## Here\n[x](#here)'],
    ['a source', '[x](../src/x.ts)'],
    ['another host', '[x](https://example.org/nothing)'],
    ['code', '```md\n[x](nowhere.md)\n```\nand `[x](nowhere.md)`'],
  ])('passes %s', (_, text) => expect(found(text)).toEqual([]));

  test.each([
    ['a page', '[b](c.md)', 'docs/a.md: c.md'],
    ['an anchor', '[b](b.md#four)', 'docs/a.md: b.md#four'],
    ['an own anchor', '[b](#four)', 'docs/a.md: #four'],
    ['a heading in code', '```\n# Four\n```\n[b](#four)', 'docs/a.md: #four'],
    ['an absolute path', '[b](/docs/b.md)', 'docs/a.md: /docs/b.md'],
    ['a way out of the repository', '[b](../../x.md)', 'docs/a.md: ../../x.md'],
    ['a picture', '![b](c.png)', 'docs/a.md: c.png'],
    ['a reference', '[b][ref]\n\n[ref]: c.md', 'docs/a.md: c.md'],
  ])('finds a broken link to %s', (_, text, finding) => expect(found(text)).toEqual([finding]));

  test('anchors are made as the host makes them', () => {
    const text = '# A `b.c` & d_e!\n## [Link](x.md) – *so*\n### Ünder 2.0';
    expect([...headingAnchors(text)]).toEqual(['a-bc--d_e', 'link--so', 'ünder-20']);
  });
});
