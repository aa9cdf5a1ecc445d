/** What is in the published package, by rule: npm itself says what it would pack. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { brokenLinks } from '../architecture/links.ts';
import { root } from '../architecture/repository.ts';
import { build, npmEnvironment } from './kit.ts';
import { outsiders, packageFindings, REQUIRED } from './rules.ts';

interface Packed {
  readonly path: string;
  readonly mode: number;
}

let packed: readonly Packed[] = [];
const paths = () => packed.map(({ path }) => path);
const text = (path: string) => readFileSync(join(root, path), 'utf8');

beforeAll(async () => {
  await build();
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts'];
  const output = execFileSync('npm', args, {
    cwd: root,
    env: npmEnvironment(),
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  packed = (JSON.parse(output) as [{ readonly files: Packed[] }])[0].files;
});

test('everything that a user needs is there', () => {
  expect(REQUIRED.filter((path) => !paths().includes(path))).toEqual([]);
});

test('nothing else is', () => {
  expect(outsiders(paths())).toEqual([]);
});

test('no file names a folder, a registry or a source map', () => {
  expect(packed.flatMap(({ path }) => packageFindings(path, text(path), root))).toEqual([]);
});

test('its pages link to each other; what is for maintainers stays in the repository', () => {
  const pages = new Map(paths().flatMap((path) => (path.endsWith('.md') ? [[path, text(path)] as const] : [])));
  const outside = brokenLinks(pages, (path) => paths().includes(path));
  const forMaintainers =
    /^(README|docs\/architecture)\.md: (AGENTS|CONTRIBUTING|(docs\/)?(benchmarks|releasing))\.md|deadlines\.ts$/;
  expect(outside.filter((link) => !forMaintainers.test(link))).toEqual([]);
});

test('exactly the executables can be executed', () => {
  const executables = ['dist/doctor.js', 'dist/main.js', 'dist/setup.js', 'dist/writer.js'];
  expect(packed.filter(({ mode }) => (mode & 0o111) !== 0).map(({ path }) => path)).toEqual(executables);
});

test('each file of the build is in its list', () => {
  const { files } = JSON.parse(text('dist/build.json')) as { readonly files: Record<string, string> };
  const built = paths().filter((path) => path.startsWith('dist/') && path !== 'dist/build.json');
  expect(built.sort()).toEqual(
    Object.keys(files)
      .map((name) => `dist/${name}`)
      .sort(),
  );
});

describe('each rule can fail', () => {
  test.each([
    'src/main.ts',
    'test/kit/toy.ts',
    'dist/main.js.map',
    'dist/deeper/main.js',
    'dist/main.ts',
    'docs/releasing.md',
    'docs/acceptance.md',
    'docs/benchmarks.md',
    'docs/draft.txt',
    'skills/pi-session-review/.draft/SKILL.md',
    'package-lock.json',
    '.npmrc',
    'scripts/build.mjs',
    'pi-session-mcp.json',
  ])('%s does not belong', (path) => expect(outsiders([path])).toEqual([path]));

  test.each([
    ['a folder of a user', `see ${'/ho'}me/somebody/x`],
    ['the repository', `at ${root}/src`],
    ['a registry', 'https://regis' + 'try.example.org/x'],
    ['a source map', '//# source' + 'MappingURL=main.js.map'],
    ['a link to a file', `import('fi${'le:///'}x/y.js')`],
  ])('%s', (_, line) => expect(packageFindings('dist/x.js', line, root)).toHaveLength(1));

  test('examples of documents may name a home', () => {
    expect(packageFindings('docs/x.md', `"${'/ho'}me/me/code/shop"`, root)).toEqual([]);
  });
});
