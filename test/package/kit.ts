/** The package as a user gets it: packed by npm, installed by npm into a prefix of its own. */
import { execFile } from 'node:child_process';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { root } from '../architecture/repository.ts';

const run = promisify(execFile);

/** What npm needs when the registry cannot be reached; anything else is a failure of ours. */
const OFFLINE = /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT|ENOTCACHED)\b/;

export type Installation = { readonly kind: 'installed' } | { readonly kind: 'offline' };

/** The caller's environment without what an outer `npm test` puts there: npm would take the project's settings for the user's. */
export function npmEnvironment(): NodeJS.ProcessEnv {
  const entries = Object.entries(process.env).filter(([name]) => !/^npm_(package|lifecycle|command)/i.test(name));
  return {
    ...Object.fromEntries(entries),
    PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter),
    npm_config_update_notifier: 'false',
    NO_COLOR: '1',
  };
}

/** Builds `dist/`; leaves it alone when it is up to date. */
export async function build(): Promise<void> {
  await run(process.execPath, [join(root, 'scripts', 'build.mjs')]);
}

/** Packs the repository into the directory; the path of the tarball. */
export async function pack(directory: string): Promise<string> {
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', directory];
  const { stdout } = await run('npm', args, { cwd: root, env: npmEnvironment() });
  const [{ filename }] = JSON.parse(stdout) as [{ readonly filename: string }];
  return join(directory, filename);
}

/** As `npm install -g` does it, in a prefix that is nobody's. No script of any package runs. */
export async function install(tarball: string, prefix: string): Promise<Installation> {
  const flags = ['--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund', '--fetch-retries=0'];
  try {
    await run('npm', ['install', '-g', '--prefix', prefix, ...flags, tarball], {
      cwd: dirname(tarball),
      env: npmEnvironment(),
      maxBuffer: 16 * 1024 * 1024,
    });
    return { kind: 'installed' };
  } catch (error) {
    if (OFFLINE.test(String((error as { readonly stderr?: string }).stderr))) return { kind: 'offline' };
    throw error;
  }
}
