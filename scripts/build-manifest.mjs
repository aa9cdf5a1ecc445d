/** `dist/build.json`: by this the doctor tells whether a build is whole, and whether its sources have changed since. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const digest = (bytes) => createHash('sha256').update(bytes).digest('hex');

/** Over the outputs as they are written, and those of our own sources that went into them. */
export function buildManifest(root, files, { inputs }) {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const sources = Object.keys(inputs)
    .filter((path) => path.startsWith('src/'))
    .sort();
  const manifest = {
    schemaVersion: 1,
    version,
    files: Object.fromEntries([...files].sort().map(([name, text]) => [name, digest(text)])),
    sources: Object.fromEntries(sources.map((path) => [path, digest(readFileSync(join(root, path)))])),
  };
  return `${JSON.stringify(manifest, undefined, 2)}\n`;
}
