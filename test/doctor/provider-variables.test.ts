import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { PROVIDER_VARIABLES } from '../../src/doctor/provider-variables.ts';
import { REPOSITORY } from './repository.ts';

/** Not an export of the SDK, so it is read where it lies. */
const FILE = join(REPOSITORY, 'node_modules', '@earendil-works', 'pi-ai', 'dist', 'env-api-keys.js');

interface Sdk {
  findEnvKeys(provider: string, env: Record<string, string>): readonly string[] | undefined;
}

/** Have more ways than a key, and Pi's own table does not list those. */
const BY_HAND = new Set(['amazon-bedrock', 'google-vertex']);

test('Pi looks for each provider where the doctor does', async () => {
  const { findEnvKeys }: Sdk = await import(pathToFileURL(FILE).href);
  for (const [provider, names] of PROVIDER_VARIABLES) {
    if (BY_HAND.has(provider)) continue;
    const everything = Object.fromEntries([...PROVIDER_VARIABLES.values()].flat().map((name) => [name, 'x']));
    expect(findEnvKeys(provider, everything), provider).toEqual(names);
  }
});

test('no provider and no variable of Pi is missing', () => {
  const text = readFileSync(FILE, 'utf8');
  const table = text.slice(text.indexOf('const envMap = {'), text.indexOf('const envVars = envMap'));
  const providers = [...table.matchAll(/^\s+"?([a-z][a-z-]*)"?: ["[]/gm)].map(([, name]) => name);
  expect(providers.length).toBeGreaterThan(30);
  expect(providers.filter((name) => !PROVIDER_VARIABLES.has(name ?? ''))).toEqual([]);
  const credentials = [...text.matchAll(/\b(?:AWS|GOOGLE|GCLOUD)_[A-Z_]+\b/g)].map(([name]) => name);
  const known = new Set([...PROVIDER_VARIABLES.values()].flat());
  expect(credentials.filter((name) => !known.has(name))).toEqual([]);
});
