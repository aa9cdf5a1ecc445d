/** Bundling copies other people's code, and their licences want to travel with it. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The licence texts of every package that has bytes in some output. */
export function thirdPartyLicenses(root, metafile) {
  const folders = new Set();
  for (const { inputs } of Object.values(metafile.outputs)) {
    for (const [input, { bytesInOutput }] of Object.entries(inputs)) {
      const [, folder] = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input) ?? [];
      if (folder && bytesInOutput > 0) folders.add(folder);
    }
  }
  return [...folders]
    .sort()
    .map((folder) => notice(join(root, folder)))
    .join('\n\n');
}

function notice(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((entry) => /^(licen[cs]e|copying)/i.test(entry));
  const text = file ? readFileSync(join(folder, file), 'utf8').trim() : '(no licence file in the package)';
  return `${name} ${version} (${license})\n\n${text}\n`;
}
