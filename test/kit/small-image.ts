/** Small images, made of this machine's programs: nothing has to be downloaded. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, realpathSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** What Git needs, a shell's tools, and what the tests ask with. */
export const PROGRAMS = [
  ...['sh', 'git', 'cat', 'cp', 'env', 'id', 'ls', 'mkdir', 'mkfifo', 'mv', 'printf', 'rm', 'sleep', 'touch'],
];
const LINKS = ['bin', 'sbin', 'lib', 'lib64'];

/** The libraries that a program loads, by the names that it asks for. */
function librariesOf(program: string): string[] {
  const listed = execFileSync('ldd', [program], { encoding: 'utf8' });
  return [...listed.matchAll(/(\/\S+) \(0x/g)].map((match) => match[1] ?? '');
}

/** A directory as a system: links into `/usr`, the programs, and what they load. Node's libraries too, without Node. */
export function makeSystem(root: string, programs: readonly string[]): void {
  for (const place of ['usr/bin', 'usr/sbin', 'usr/lib', 'usr/lib64', 'etc', 'tmp']) {
    mkdirSync(join(root, place), { recursive: true });
  }
  for (const name of LINKS) symlinkSync(`usr/${name}`, join(root, name));
  const files = programs.map((name) => join('/usr/bin', name));
  for (const file of files) copyFileSync(realpathSync(file), join(root, file));
  for (const library of new Set([...files, process.execPath].flatMap(librariesOf))) {
    const place = join(root, library.startsWith('/usr') ? library : join('/usr', library));
    mkdirSync(dirname(place), { recursive: true });
    if (!existsSync(place)) copyFileSync(realpathSync(library), place);
  }
}
