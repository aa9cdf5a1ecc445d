/**
 * The doctor, as far as it goes: it loads the configuration like the server does
 * and names what is wrong with it. The checks of workspaces, extensions and
 * skills are still to come.
 */
import { fileURLToPath } from 'node:url';
import { configurationFiles } from '../adapters/fs/configuration-files.ts';
import { loadConfiguration } from '../config/load-configuration.ts';

const EXIT_ERRORS = 2;

/** Built, this file is `dist/doctor.js`; from source it lies one directory deeper. */
const packageRoot = fileURLToPath(new URL(import.meta.url.endsWith('.js') ? '..' : '../..', import.meta.url));

function report(lines: readonly string[]): void {
  // A reader that has gone away, as in `| head`, is no reason for a stack trace.
  process.stdout.on('error', () => {});
  process.stdout.write(`${lines.join('\n')}\n`);
}

const loaded = loadConfiguration({ env: process.env, packageRoot, files: configurationFiles });
if (loaded.ok) {
  const { workspaces, executionProfiles } = loaded.configuration;
  report([
    'The configuration is valid.',
    `workspaces: ${Object.keys(workspaces).join(', ') || 'none'}`,
    `execution profiles: ${Object.keys(executionProfiles).join(', ')}`,
    'Not checked yet: directories, extensions, skill files, build and version.',
  ]);
} else {
  report([
    `The server would not start: ${loaded.code}`,
    ...loaded.issues.map(({ subject, field, problem }) => `${subject}: ${field} ${problem}`),
  ]);
  process.exitCode = EXIT_ERRORS;
}
