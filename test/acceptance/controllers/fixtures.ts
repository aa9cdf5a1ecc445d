/** The small git repositories that the workers get, and what may be different in each afterwards. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export type FixtureName = 'slug' | 'stats' | 'wait' | 'range';

export interface Fixture {
  readonly files: Readonly<Record<string, string>>;
  /** The repair that the worker makes: the file, and the text that is replaced. */
  readonly repair?: { readonly file: string; readonly from: string; readonly to: string };
  /** What `git status` must say at the end, sorted, and how many tests must pass. */
  readonly status: readonly string[];
  readonly tests: number;
}

const PACKAGE = `${JSON.stringify({ name: 'fixture', private: true, type: 'module' })}\n`;

function tests(file: string, symbol: string, cases: readonly string[]): string {
  const lines = cases.map((assertion, index) => `test('case ${index + 1}', () => ${assertion});`);
  const head = [
    "import assert from 'node:assert/strict';",
    "import { test } from 'node:test';",
    `import { ${symbol} } from './${file}';`,
  ];
  return `${[...head, '', ...lines].join('\n')}\n`;
}

export const SLUG_NEW_TEST = "test('digits', () => assert.equal(slug('Route 66'), 'route-66'));\n";

export const FIXTURES: Readonly<Record<FixtureName, Fixture>> = {
  slug: {
    files: {
      'package.json': PACKAGE,
      'slug.js': "export const slug = (text) => text.replace(' ', '-');\n",
      'slug.test.js': tests('slug.js', 'slug', [
        "assert.equal(slug('one two'), 'one-two')",
        "assert.equal(slug('One  Two Three'), 'one-two-three')",
      ]),
    },
    repair: {
      file: 'slug.js',
      from: "text.replace(' ', '-')",
      to: "text.toLowerCase().replace(/\\s+/g, '-')",
    },
    status: [' M slug.js', ' M slug.test.js', '?? HANDSHAKE.txt'],
    tests: 3,
  },
  stats: {
    files: {
      'package.json': PACKAGE,
      'stats.js': 'export const mean = (all) => all.reduce((sum, one) => sum + one, 0) / all.length;\n',
      'stats.test.js': tests('stats.js', 'mean', ['assert.equal(mean([1, 2, 3]), 2)', 'assert.equal(mean([]), 0)']),
    },
    repair: { file: 'stats.js', from: '/ all.length', to: '/ Math.max(all.length, 1)' },
    status: [' M stats.js'],
    tests: 2,
  },
  wait: {
    files: {
      'package.json': PACKAGE,
      'wait.js': 'export const patience = 1;\n',
      'wait.test.js': tests('wait.js', 'patience', ['assert.equal(patience, 1)']),
    },
    status: [],
    tests: 1,
  },
  range: {
    files: {
      'package.json': PACKAGE,
      'range.js': 'export const range = (from, to) => Array.from({ length: to - from }, (_, index) => from + index);\n',
      'range.test.js': tests('range.js', 'range', [
        'assert.deepEqual(range(1, 4), [1, 2, 3])',
        'assert.deepEqual(range(4, 1), [])',
      ]),
    },
    repair: { file: 'range.js', from: 'length: to - from', to: 'length: Math.max(to - from, 0)' },
    status: [' M range.js'],
    tests: 2,
  },
};

/** Nothing of the operator's git configuration. */
export const GIT_ENV = { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' };

/** Writes the repository with one commit. */
export function plantFixture(directory: string, name: FixtureName, env: Readonly<Record<string, string>>): void {
  for (const [file, text] of Object.entries(FIXTURES[name].files)) {
    mkdirSync(dirname(join(directory, file)), { recursive: true });
    writeFileSync(join(directory, file), text);
  }
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-C', directory, ...args], { env: { ...env, ...GIT_ENV }, stdio: 'pipe' });
  git('init', '--quiet', '--initial-branch=main');
  git('add', '.');
  git('-c', 'user.name=nobody', '-c', 'user.email=nobody@localhost', 'commit', '--quiet', '-m', 'A fixture');
}
