import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as sdk from '@earendil-works/pi-coding-agent';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { resolveExtensions } from '../../../src/adapters/pi/extension-package.ts';
import { type ExtensionLab, HOOKS, openExtensionLab, PROVIDER, TOOLS } from './extension-lab.ts';

let lab: ExtensionLab;
beforeEach(async () => {
  lab = await openExtensionLab({});
});
afterEach(() => lab.close());

const resolve = (...specs: string[]) => resolveExtensions(sdk, lab.agentDir, specs);
const root = () => join(lab.modules, 'fixture-tools');
const manifest = () => join(root(), 'package.json');

/** Fields to replace; `undefined` removes one. */
function editManifest(change: Readonly<Record<string, unknown>>): void {
  const document = JSON.parse(readFileSync(manifest(), 'utf8')) as Readonly<Record<string, unknown>>;
  writeFileSync(manifest(), JSON.stringify({ ...document, ...change }));
}

const declare = (...extensions: unknown[]) => editManifest({ pi: { extensions } });

function refusal(code: string, extension = 'fixture-tools') {
  return { ok: false, code, stage: 'extension_resolve', subject: { extension } };
}

describe('a pinned package', () => {
  it('is found where Pi installs it, with the files that Pi would load', async () => {
    expect(await resolve(TOOLS, PROVIDER)).toEqual({
      ok: true,
      packages: [
        { name: 'fixture-tools', entries: [join(root(), 'index.js')] },
        { name: '@fixture/provider', entries: [join(lab.modules, '@fixture/provider/src/index.ts')] },
      ],
    });
  });

  it('is found behind a linked agent directory', async () => {
    symlinkSync(lab.agentDir, join(lab.root, 'linked'));
    const found = await resolveExtensions(sdk, join(lab.root, 'linked'), [TOOLS]);
    expect(found).toMatchObject({ ok: true, packages: [{ entries: [join(root(), 'index.js')] }] });
  });

  it('may use patterns, and a BOM', async () => {
    declare('./*.js', '!other.js');
    writeFileSync(join(root(), 'other.js'), '');
    writeFileSync(manifest(), `\uFEFF${readFileSync(manifest(), 'utf8')}`);
    expect(await resolve(TOOLS)).toMatchObject({ ok: true, packages: [{ entries: [join(root(), 'index.js')] }] });
  });
});

describe('not installed', () => {
  it.each([
    ['a package that nobody has', 'npm:fixture-nowhere@1.2.3', 'fixture-nowhere'],
    ['a scope that nobody has', 'npm:@nowhere/fixture-tools@1.2.3', '@nowhere/fixture-tools'],
  ])('%s', async (_, spec, name) => {
    expect(await resolve(spec)).toEqual(refusal('extension_not_installed', name));
  });

  it('no install at all, a directory without a manifest, a link to nothing', async () => {
    rmSync(manifest());
    expect(await resolve(TOOLS)).toEqual(refusal('extension_not_installed'));
    rmSync(root(), { recursive: true });
    symlinkSync(join(lab.root, 'nothing'), root());
    expect(await resolve(TOOLS)).toEqual(refusal('extension_not_installed'));
    rmSync(join(lab.agentDir, 'npm'), { recursive: true });
    expect(await resolve(TOOLS)).toEqual(refusal('extension_not_installed'));
  });

  it('what only the workspace has installed', async () => {
    const project = join(lab.workspace, '.pi/npm/node_modules');
    mkdirSync(project, { recursive: true });
    renameSync(root(), join(project, 'fixture-tools'));
    expect(await resolve(TOOLS)).toEqual(refusal('extension_not_installed'));
  });
});

describe('another version', () => {
  it.each(['npm:fixture-tools@1.2.4', 'npm:fixture-tools@1.2.3-rc.1'])('%s', async (spec) => {
    expect(await resolve(spec)).toEqual(refusal('extension_version_mismatch'));
  });

  it('is said of the first package that does not fit', async () => {
    const outcome = await resolve(PROVIDER, 'npm:fixture-hooks@9.0.0', 'npm:fixture-nowhere@1.0.0');
    expect(outcome).toEqual(refusal('extension_version_mismatch', 'fixture-hooks'));
    expect(await resolve('npm:fixture-nowhere@1.0.0', HOOKS)).toMatchObject({ code: 'extension_not_installed' });
  });
});

describe('a manifest that does not fit', () => {
  const damages: readonly (readonly [string, () => void])[] = [
    ['another name', () => editManifest({ name: 'somebody-else' })],
    ['no name', () => editManifest({ name: undefined })],
    ['no pi', () => editManifest({ pi: undefined })],
    ['pi is a list', () => editManifest({ pi: [] })],
    ['no JSON', () => writeFileSync(manifest(), '{')],
    ['a list', () => writeFileSync(manifest(), '[]')],
    ['too large', () => editManifest({ padding: 'x'.repeat(1_048_576) })],
    ['no entries', () => declare()],
    ['too many entries', () => declare(...Array(65).fill('./index.js'))],
    ['an entry that is no text', () => declare('./index.js', 7)],
    ['an entry that is not there', () => declare('./index.js', './gone.js')],
    ['an entry outside', () => declare('../fixture-hooks/index.js')],
    ['an absolute entry', () => declare(join(lab.modules, 'fixture-hooks/index.js'))],
    ['a pattern that leads outside', () => declare('./index.js', '../fixture-hooks/*.js')],
    ['a pattern that finds nothing', () => declare('./*.mjs')],
  ];
  it.each(damages)('%s', async (_, damage) => {
    damage();
    expect(await resolve(TOOLS)).toEqual(refusal('extension_load_failed'));
  });

  it('a manifest that is a directory', async () => {
    rmSync(manifest());
    mkdirSync(manifest());
    expect(await resolve(TOOLS)).toEqual(refusal('extension_load_failed'));
  });
});

describe('links out of the package', () => {
  const outside = () => join(lab.root, 'outside');

  it.each([
    ['the package', () => root()],
    ['its manifest', () => manifest()],
    ['an entry', () => join(root(), 'index.js')],
  ])('%s', async (_, path) => {
    renameSync(path(), outside());
    symlinkSync(outside(), path());
    expect(await resolve(TOOLS)).toEqual(refusal('extension_load_failed'));
  });

  it('a file in a directory entry', async () => {
    mkdirSync(join(root(), 'extensions'));
    writeFileSync(outside(), '');
    symlinkSync(outside(), join(root(), 'extensions/escape.js'));
    declare('./extensions');
    expect(await resolve(TOOLS)).toEqual(refusal('extension_load_failed'));
  });

  it('but a link that stays inside is fine', async () => {
    renameSync(join(root(), 'index.js'), join(root(), 'real.js'));
    symlinkSync('real.js', join(root(), 'index.js'));
    expect(await resolve(TOOLS)).toMatchObject({ ok: true });
  });
});
