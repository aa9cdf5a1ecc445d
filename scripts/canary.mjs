/**
 * The maintainers' canary: do the unchanged sources fit the newest published SDK?
 * Works in copies below .cache/newest; the pins of this checkout stay as they are.
 * Usage and exit status: docs/releasing.md#the-canary.
 */
import { parseArgs } from 'node:util';
import { tryOn } from './canary-trial.mjs';

const TESTS_PI = ['test/adapters/pi', 'test/e2e/client.test.ts', 'test/e2e/extensions.test.ts'];
const TESTS_MCP = [
  'test/adapters/mcp',
  'test/adapters/grants',
  'test/adapters/clients/server-verifier.test.ts',
  'test/e2e/client.test.ts',
  'test/e2e/grants.test.ts',
];
const TESTS_XSTATE = ['test/kit', 'test/machines', 'test/e2e/client.test.ts'];

const SUBJECTS = {
  pi: { package: '@earendil-works/pi-coding-agent', tests: TESTS_PI },
  mcp: { package: '@modelcontextprotocol/sdk', tests: TESTS_MCP },
  xstate: { package: 'xstate', tests: TESTS_XSTATE },
};
const USAGE = `usage: npm run canary -- [--force] [--keep] [${Object.keys(SUBJECTS).join('|')}[@VERSION]] …`;
const EXIT = { fits: 0, unchanged: 0, broken: 1, untried: 2 };
const MISUSE = 64;

function readArguments() {
  try {
    const options = { force: { type: 'boolean', default: false }, keep: { type: 'boolean', default: false } };
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    const wanted = (positionals.length > 0 ? positionals : ['pi']).map((word) => word.split('@'));
    const isSound = wanted.every(([name, version]) => name in SUBJECTS && version !== '');
    return isSound ? { ...values, wanted } : undefined;
  } catch {
    return undefined;
  }
}

function table(rows) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

async function main() {
  const asked = readArguments();
  if (!asked) {
    console.error(USAGE);
    return MISUSE;
  }
  const outcomes = [];
  for (const [name, version = 'latest'] of asked.wanted) {
    console.error(`canary: ${name}, a few minutes …`);
    outcomes.push(await tryOn({ name, version, ...SUBJECTS[name], force: asked.force, keep: asked.keep }));
  }
  const rows = outcomes.map(({ package: subject, pinned, tried, steps, verdict }) => [
    subject,
    pinned,
    tried,
    ...['install', 'types', 'build', 'tests'].map((step) => steps[step] ?? '-'),
    verdict,
  ]);
  console.log(table([['package', 'pinned', 'tried', 'install', 'types', 'build', 'tests', 'verdict'], ...rows]));
  for (const { name, details } of outcomes) for (const detail of details) console.log(`${name}: ${detail}`);
  return Math.max(...outcomes.map(({ verdict }) => EXIT[verdict]));
}

process.exitCode = await main();
