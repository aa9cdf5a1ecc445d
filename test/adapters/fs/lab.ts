/** Disposable directories, and what is in them down to modes and links. */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach } from 'vitest';

const made: string[] = [];

afterEach(() => {
  for (const path of made.splice(0)) rmSync(path, { recursive: true, force: true });
});

/** Where syncing costs nothing: these tests do it by the thousand. */
const MEMORY = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

/** An empty directory without links above it; gone after the test. */
export function scratch(where = MEMORY): string {
  const path = mkdtempSync(join(realpathSync(where), 'pi-session-mcp-fs-'));
  made.push(path);
  return path;
}

/** On a file system that gives the inode of what was removed to what comes next. */
export const diskScratch = (): string => scratch(tmpdir());

/** Relative path → content. */
export type Files = Readonly<Record<string, string | Uint8Array>>;

export function write(root: string, files: Files): string {
  mkdirSync(root, { recursive: true });
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  return root;
}

/** Everything below `root`: kind, mode and content of each entry. Access times and the like are nobody's business. */
export function picture(root: string): Record<string, string> {
  const entries: Record<string, string> = {};
  const visit = (path: string, relative: string): void => {
    const stat = lstatSync(path);
    const mode = (stat.mode & 0o7777).toString(8);
    if (stat.isSymbolicLink()) entries[relative] = `link ${readlinkSync(path)}`;
    else if (stat.isFile())
      entries[relative] = `file ${mode} ${stat.uid} ${stat.nlink} ${readFileSync(path, 'latin1')}`;
    else if (stat.isDirectory()) {
      entries[relative] = `directory ${mode} ${stat.uid}`;
      for (const name of readdirSync(path).sort()) visit(join(path, name), `${relative}/${name}`);
    } else entries[relative] = `special ${mode}`;
  };
  visit(root, '.');
  return entries;
}

/** Below `root`, what setup may not leave behind. */
export function litter(root: string): string[] {
  return Object.keys(picture(root)).filter((path) => /\.(staged|displaced|discarded|tmp)-[0-9a-f]+$/.test(path));
}

export function modeOf(path: string): string {
  return (lstatSync(path).mode & 0o7777).toString(8);
}

export const hex = (digit: string): string => digit.repeat(64);
