/** The operator's own Podman in a lab, with images for it. */
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeSystem } from '../../kit/small-image.ts';
import type { Lab } from './lab.ts';

export class OperatorsStore {
  readonly #lab: Lab;
  readonly home: string;
  readonly #runtime: string;

  constructor(lab: Lab) {
    this.#lab = lab;
    this.home = lab.path('operator');
    // Podman takes no long path for it.
    this.#runtime = lab.path('xr');
  }

  get env(): Readonly<Record<string, string>> {
    return { HOME: this.home, XDG_RUNTIME_DIR: this.#runtime, PATH: '/usr/sbin:/usr/bin:/sbin:/bin' };
  }

  podman(...args: string[]): string {
    const { uid, gid } = this.#lab.user;
    const identity = process.getuid?.() === 0 ? { uid, gid } : {};
    const stdio = ['ignore', 'pipe', 'ignore'] as const;
    return execFileSync('podman', args, { encoding: 'utf8', cwd: '/', env: this.env, stdio: [...stdio], ...identity });
  }

  /** @param shape Changes the system before it becomes an image. @returns Its id. */
  import(name: string, programs: readonly string[], changes: readonly string[], shape: (root: string) => void): string {
    const root = this.#lab.path(`system-${name}`);
    makeSystem(root, programs);
    shape(root);
    const archive = this.#lab.write(join(this.#lab.directory, `${name}.tar`), '');
    execFileSync('tar', ['--owner=0', '--group=0', '-cf', archive, '-C', root, '.']);
    rmSync(root, { recursive: true });
    const settings = changes.map((change) => `--change=${change}`);
    const imported = this.podman('import', '--quiet', ...settings, archive, `localhost/${name}:1`);
    return imported.trim().replace(/^sha256:/, '');
  }

  containers(): string[] {
    return this.podman('ps', '--all', '--format={{.Names}}').split('\n').filter(Boolean);
  }

  /** Podman keeps a process for the user namespace. */
  close(): void {
    try {
      process.kill(Number(readFileSync(join(this.#runtime, 'libpod/tmp/pause.pid'), 'utf8')), 'SIGKILL');
    } catch {
      // It has never run.
    }
  }
}
