/** One trial of the canary: a copy of the sources with one package exchanged, and what the checks say of it. */
import { execFile, execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { delimiter, dirname, join, relative, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..');
const MAX_DETAILS = 40;
const MAX_OUTPUT = 64 * 1024 * 1024;
const VERSION = /^\d+\.\d+\.\d+[\w.+-]*$/;
const TYPE_ERROR = /^((?:src|test|demo|bench|scripts)\/[\w./-]+)\((\d+),\d+\): error (TS\d+)/gm;

/** Never rejects: a step that fails is what a canary is for. */
function run(directory, command, args) {
  const env = { ...process.env, NO_COLOR: '1', CI: '', INTERLEAVINGS: '2000' };
  env.PATH = [join(directory, 'node_modules', '.bin'), dirname(process.execPath), env.PATH].join(delimiter);
  return new Promise((done) => {
    execFile(command, args, { cwd: directory, env, maxBuffer: MAX_OUTPUT }, (error, stdout) =>
      done({ ok: error === null, stdout }),
    );
  });
}

function copySources(directory) {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  });
  for (const file of new Set(listed.split('\0').filter(Boolean))) {
    mkdirSync(dirname(join(directory, file)), { recursive: true });
    cpSync(join(root, file), join(directory, file), { force: true, verbatimSymlinks: true });
  }
}

/** `file:line TS2345`, without the compiler's words: they quote types of third parties and paths. */
async function checkTypes(directory) {
  const { ok, stdout } = await run(directory, 'tsc', ['--pretty', 'false']);
  const errors = [...stdout.matchAll(TYPE_ERROR)].map(([, file, line, code]) => `${file}:${line} ${code}`);
  return { ok, said: ok ? 'ok' : `${errors.length || 'some'} errors`, details: errors };
}

async function checkBuild(directory) {
  const { ok } = await run(directory, 'node', ['scripts/build.mjs']);
  return { ok, said: ok ? 'ok' : 'failed', details: [] };
}

function readResults(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}

async function runTests(directory, tests, flags = []) {
  const json = join(directory, 'coverage', 'canary.json');
  rmSync(json, { force: true });
  await run(directory, 'vitest', ['run', '--reporter=json', `--outputFile=${json}`, ...flags, ...tests]);
  return readResults(json);
}

/** File and title of what failed; no message of a failure, which may hold anything. */
function failuresOf(directory, { testResults }) {
  return testResults.flatMap(({ name, status, assertionResults }) => {
    const file = relative(directory, name);
    const failed = assertionResults.filter((test) => test.status === 'failed').map(({ title }) => ({ file, title }));
    return status === 'failed' && failed.length === 0 ? [{ file, title: '(does not load)' }] : failed;
  });
}

/** What fails is run a second time, file by file: on a busy machine a deadline is missed now and then. */
async function checkTests(directory, tests) {
  const results = await runTests(directory, tests);
  if (!results || results.numTotalTests === 0) return { ok: false, said: 'did not run', details: [] };
  let failures = failuresOf(directory, results);
  if (failures.length > 0) {
    const files = [...new Set(failures.map(({ file }) => file))];
    const again = await runTests(directory, files, ['--no-file-parallelism']);
    if (again) failures = failuresOf(directory, again);
  }
  const details = failures.map(({ file, title }) => `${file} > ${title}`);
  const passed = results.numTotalTests - results.numPendingTests - failures.length;
  return { ok: failures.length === 0, said: `${passed} passed, ${failures.length} failed`, details };
}

async function newest(subject, version) {
  const { stdout } = await run(root, 'npm', ['view', `${subject}@${version}`, 'version', '--json']);
  try {
    // A tag or a version answers with one text, a range with a list.
    const found = [JSON.parse(stdout)].flat().at(-1);
    return VERSION.test(found) ? found : undefined;
  } catch {
    return undefined;
  }
}

async function check(directory, { package: subject, tests }, tried) {
  const steps = {};
  const details = [];
  const install = ['install', '--save-exact', '--no-audit', '--no-fund', '--prefer-offline', `${subject}@${tried}`];
  const installed = await run(directory, 'npm', install);
  steps.install = installed.ok ? 'ok' : 'failed';
  if (!installed.ok) return { steps, details, verdict: 'untried' };
  let fits = true;
  // All of them, whatever the one before says: a type error alone does not tell how bad it is.
  for (const [name, step] of [
    ['types', checkTypes],
    ['build', checkBuild],
    ['tests', (place) => checkTests(place, tests)],
  ]) {
    const { ok, said, details: more } = await step(directory);
    steps[name] = said;
    details.push(...more.map((detail) => `${name}: ${detail}`));
    fits &&= ok;
  }
  if (details.length > MAX_DETAILS) details.splice(MAX_DETAILS, Infinity, `and ${details.length - MAX_DETAILS} more`);
  return { steps, details, verdict: fits ? 'fits' : 'broken' };
}

/**
 * Tries one subject; `verdict` is `fits`, `broken`, `unchanged` (nothing newer than the pin, and no `force`)
 * or `untried` (no registry, or npm could not install). Nothing in the outcome names a directory.
 */
export async function tryOn(subject) {
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const pinned = dependencies[subject.package];
  const base = { name: subject.name, package: subject.package, pinned, steps: {}, details: [] };
  const tried = await newest(subject.package, subject.version);
  if (!tried) return { ...base, tried: '?', verdict: 'untried', details: ['the registry did not say a version'] };
  if (tried === pinned && !subject.force) return { ...base, tried, verdict: 'unchanged' };
  // The path must not hold a word that tests look for, such as the name of this script.
  mkdirSync(join(root, '.cache', 'newest'), { recursive: true });
  const directory = mkdtempSync(join(root, '.cache', 'newest', `${subject.name}-`));
  try {
    copySources(directory);
    return { ...base, tried, ...(await check(directory, subject, tried)) };
  } finally {
    if (!subject.keep) rmSync(directory, { recursive: true, force: true });
  }
}
