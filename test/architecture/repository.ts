/** The files of the repository, as version control sees them. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';

export const root = resolve(import.meta.dirname, '..', '..');

const NOT_OURS = new Set(['node_modules', 'dist', 'coverage', '.git', '.cache']);

/** Tracked files and those about to be; every file that is not ignored where there is no git. */
export function repositoryFiles(): string[] {
  try {
    const output = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return output.split('\0').filter((file) => file !== '' && isFile(file));
  } catch {
    return readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
      (file) => !file.split('/').some((part) => NOT_OURS.has(part)) && isFile(file),
    );
  }
}

export function read(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}

function isFile(file: string): boolean {
  return statSync(join(root, file), { throwIfNoEntry: false })?.isFile() ?? false;
}
