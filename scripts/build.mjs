/** Bundles the executables into dist/ (or `--out DIR`). `--analyze` prints what each output is made of. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { reportOutputs, staticClosure } from './build-analysis.mjs';
import { thirdPartyLicenses } from './build-licenses.mjs';
import { buildManifest } from './build-manifest.mjs';
import {
  importedEntries,
  lightZodLocales,
  separateClientTypes,
  serverWithoutAjv,
  slimManifest,
  unusedSdkSchemas,
} from './build-plugins.mjs';

const { values: options } = parseArgs({ options: { analyze: { type: 'boolean' }, out: { type: 'string' } } });
const root = resolve(import.meta.dirname, '..');
const dist = resolve(root, options.out ?? 'dist');
const entryPoints = {
  main: 'src/main.ts',
  setup: 'src/setup/main.ts',
  'setup-targets': 'src/setup/execute-targets.ts',
  'server-verifier': 'src/adapters/clients/server-verifier.ts',
  doctor: 'src/doctor/main.ts',
  reaper: 'src/adapters/process/reaper.ts',
  wake: 'src/wake/main.ts',
  guardian: 'src/setup/guardian.ts',
  writer: 'src/writers/main.ts',
  'warm-up': 'src/writers/warm-up.ts',
};
const executables = new Set(['main.js', 'setup.js', 'doctor.js', 'writer.js']);

const SHEBANG = '#!/usr/bin/env node\n';
// Bundled CommonJS still calls require() for Node's own modules, and an ES module has none.
const REQUIRE =
  "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);";

function assertEntriesExist() {
  const missing = Object.values(entryPoints).filter((path) => !existsSync(join(root, path)));
  if (missing.length === 0) return;
  console.error(`build: not written yet: ${missing.join(', ')}`);
  process.exit(1);
}

/**
 * Each group is bundled by itself and shares no file with the others. What somebody waits for starts faster
 * without a row of small chunks to load, and without what only the others need of a library.
 */
const APART = [['main', 'reaper'], ['writer'], ['setup'], ['setup-targets'], ['guardian']];
/** CommonJS, which Node starts some milliseconds faster: every command of a client waits for the guardian. */
const COMMON_JS = ['guardian'];
const GROUPS = [...APART, Object.keys(entryPoints).filter((name) => !APART.flat().includes(name))];

async function bundle() {
  const groups = await Promise.all(GROUPS.map(bundleGroup));
  const outputFiles = groups.flatMap((group) => group.outputFiles);
  const metafile = {
    inputs: Object.assign({}, ...groups.map((group) => group.metafile.inputs)),
    outputs: Object.assign({}, ...groups.map((group) => group.metafile.outputs)),
  };
  const files = new Map(outputFiles.map(({ path, text }) => [basename(path), finish(basename(path), text)]));
  files.set('THIRD-PARTY-LICENSES.txt', thirdPartyLicenses(root, metafile));
  // Nearer than the package's own, so that the doctor can start, and say so, when that one is damaged.
  files.set('package.json', '{ "type": "module" }\n');
  files.set('build.json', buildManifest(root, files, metafile));
  return { files, metafile };
}

function bundleGroup(names) {
  const isCommonJs = names.every((name) => COMMON_JS.includes(name));
  return build({
    absWorkingDir: root,
    entryPoints: Object.fromEntries(names.map((name) => [name, entryPoints[name]])),
    outdir: 'dist',
    // Flat, so that `new URL('./reaper.js', import.meta.url)` means the same in an entry and in a chunk.
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: !isCommonJs,
    format: isCommonJs ? 'cjs' : 'esm',
    outExtension: { '.js': isCommonJs ? '.cjs' : '.js' },
    platform: 'node',
    target: 'node22',
    // ES modules first: the UMD twins of some packages hide their require() from the bundler.
    mainFields: ['module', 'main'],
    minify: true,
    legalComments: 'none',
    external: ['@earendil-works/*'],
    plugins: [
      importedEntries(root, entryPoints, names),
      lightZodLocales,
      serverWithoutAjv,
      separateClientTypes,
      unusedSdkSchemas,
      slimManifest(join(root, 'package.json')),
    ],
    metafile: true,
    write: false,
    logLevel: 'warning',
  });
}

function finish(name, text) {
  const code = text.replace(/^#!.*\n/, '');
  const needsRequire = code.includes('Dynamic require of');
  return (executables.has(name) ? SHEBANG : '') + (needsRequire ? REQUIRE : '') + code;
}

/** The Pi SDK, and what only the client side of MCP needs: schemas, and a validator that generates code. */
const HEAVY = /^@earendil-works\/|\?client$|[\\/]sdk[\\/]dist[\\/]esm[\\/]client[\\/]|node_modules[\\/]ajv/;

/** The Pi SDK takes over half a second to import: nothing that runs at start may reach it, or anything like it. */
function assertLightStart(metafile) {
  for (const entry of [
    'dist/main.js',
    'dist/doctor.js',
    'dist/setup.js',
    'dist/setup-targets.js',
    'dist/writer.js',
    'dist/wake.js',
  ]) {
    const { outputs, external } = staticClosure(metafile, entry);
    const bundled = outputs.flatMap((path) => Object.keys(metafile.outputs[path]?.inputs ?? {}));
    const heavy = [...external, ...bundled].filter((path) => HEAVY.test(path)).slice(0, 5);
    if (heavy.length === 0) continue;
    console.error(`build: ${entry} imports ${heavy.join(', ')} at start; reach it through a dynamic import`);
    process.exit(1);
  }
}

function isUpToDate(files) {
  if (!existsSync(dist) || readdirSync(dist).length !== files.size) return false;
  return [...files].every(([name, text]) => {
    const path = join(dist, name);
    return existsSync(path) && readFileSync(path, 'utf8') === text;
  });
}

/** Whole or not at all: servers that run from the old dist/ must not see half of the new one. */
function replaceDist(files) {
  const fresh = `${dist}.new-${process.pid}`;
  const stale = `${dist}.old-${process.pid}`;
  mkdirSync(fresh, { recursive: true });
  for (const [name, text] of files) {
    const path = join(fresh, name);
    writeFileSync(path, text);
    chmodSync(path, executables.has(name) ? 0o755 : 0o644);
  }
  if (existsSync(dist)) renameSync(dist, stale);
  renameSync(fresh, dist);
  rmSync(stale, { recursive: true, force: true });
}

assertEntriesExist();
const { files, metafile } = await bundle();
assertLightStart(metafile);
// Same bytes: leave the directory alone, so that a build during a test run disturbs nobody.
if (!isUpToDate(files)) replaceDist(files);
if (options.analyze) console.log(reportOutputs(metafile));
