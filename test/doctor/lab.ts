/** A small real world for the doctor: package, configuration, home and workspace. Every path and value in it carries `SECRET`. */
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type DoctorInput, hostInput } from '../../src/doctor/input.ts';
import { SERVER_VERSION } from '../../src/version.ts';
import { buildManifest, REPOSITORY, scratch } from './repository.ts';

export const SECRET = 'hunter2';

type Text = string | Uint8Array | object;
type Environment = Record<string, string | undefined>;
export type Changes = Partial<Omit<DoctorInput, 'env'>> & { readonly env?: Environment };

interface Sections {
  readonly profile?: object;
  /** Adds a coding profile. */
  readonly coder?: object;
  readonly workspaces?: object;
  readonly skillCatalog?: object;
}

/** Paths are relative to the lab; everything that changes it returns it. */
export class Lab {
  readonly root: string;

  constructor() {
    this.root = scratch(`${SECRET}-`);
    this.configure().directory('shop').directory('home').tool('rg').tool('fdfind');
    cpSync(join(REPOSITORY, 'skills'), this.path('package/skills'), { recursive: true });
    const built = ['main.js', 'setup.js', 'doctor.js', 'reaper.js'].map((name) => [name, name] as const);
    for (const [name, text] of built) this.write(`package/dist/${name}`, text);
    this.write('package/dist/build.json', buildManifest(REPOSITORY, new Map(built), { inputs: { 'src/main.ts': {} } }));
    this.write('package/package.json', { name: 'pi-session-mcp', version: SERVER_VERSION });
  }

  path(name: string): string {
    return join(this.root, name);
  }

  write(name: string, content: Text): this {
    mkdirSync(dirname(this.path(name)), { recursive: true });
    const isRaw = typeof content === 'string' || content instanceof Uint8Array;
    writeFileSync(this.path(name), isRaw ? content : JSON.stringify(content));
    return this;
  }

  /** An executable that nobody may run: it would leave a mark. */
  tool(name: string): this {
    this.write(`bin/${name}`, `#!/bin/sh\ntouch "$0.was-run"\n`);
    return this.mode(`bin/${name}`, 0o755);
  }

  /** The usual configuration with these sections, or fields of its one profile, changed. */
  configure({ profile = {}, coder, workspaces = { shop: '../shop' }, skillCatalog }: Sections = {}): this {
    const executionProfiles = {
      reader: profileOf({ default: true, ...profile }),
      ...(coder === undefined ? {} : { coder: profileOf({ permissionProfile: 'coding', ...coder }) }),
    };
    const catalog = skillCatalog === undefined ? {} : { skillCatalog };
    return this.write('config/server.json', { workspaces, executionProfiles, ...catalog });
  }

  copy(from: string, name: string): this {
    cpSync(from, this.path(name), { recursive: true });
    return this;
  }

  directory(name: string): this {
    mkdirSync(this.path(name), { recursive: true });
    return this;
  }

  fifo(name: string): this {
    this.directory(dirname(name));
    execFileSync('mkfifo', [this.path(name)]);
    return this;
  }

  link(name: string, target: string): this {
    symlinkSync(target, this.path(name));
    return this;
  }

  move(from: string, to: string): this {
    renameSync(this.path(from), this.path(to));
    return this;
  }

  mode(name: string, mode: number): this {
    chmodSync(this.path(name), mode);
    return this;
  }

  without(name: string): this {
    rmSync(this.path(name), { recursive: true });
    return this;
  }

  input({ env, ...changes }: Changes = {}): DoctorInput {
    return hostInput({
      packageRoot: this.path('package'),
      home: this.path('home'),
      nodePath: '/usr/local/bin/node',
      nodeVersion: '22.19.0',
      platform: 'linux',
      userId: 1000,
      temporaryDirectories: [],
      env: { PI_SESSION_MCP_CONFIG: this.path('config/server.json'), PATH: this.path('bin'), ...env },
      ...changes,
    });
  }

  /** Every entry with its size and times: equal before and after means untouched. */
  listing(): string {
    return execFileSync('find', [this.root, '-printf', '%p %s %m %T@ %C@\n'], { encoding: 'utf8' });
  }

  remove(): void {
    rmSync(this.root, { recursive: true });
  }
}

function profileOf(changes: object): object {
  const intent = { provider: `${SECRET}-provider`, model: `${SECRET}-model`, thinkingLevel: 'low' };
  return { default: false, permissionProfile: 'read-only', ...intent, ...changes };
}
