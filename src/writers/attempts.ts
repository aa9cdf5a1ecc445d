/**
 * Attempts from inside a box at things outside of it, by Node's own file calls and
 * by a shell, and what the box shows of itself. What must not change is looked at
 * from the host, before and after.
 */
import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { CREDENTIAL_NAME } from '../adapters/podman/root.ts';
import type { BoxCommand, WriterBoundary, WriterBox } from '../ports/writers/boundary.ts';
import { INSIDE } from './places.ts';

const TIMEOUT_MS = 60_000;
const MAX_OUTPUT_BYTES = 256 * 1024;
const NAMESPACES = ['mnt', 'pid', 'user', 'ipc', 'uts', 'net'];

export interface Attempts {
  /** Files and directories that nothing inside may write to, or into. */
  readonly forbidden: readonly string[];
  /** Of these nothing may be seen at all. */
  readonly hidden: readonly string[];
  /** Directories that have to be writable. */
  readonly allowed: readonly string[];
}

export interface Attempted {
  /** Forbidden places that took a write. */
  readonly written: readonly string[];
  readonly seen: readonly string[];
  /** Allowed places that took none. */
  readonly refused: readonly string[];
  /** Names of variables that hold, or lead to, credentials of the operator. */
  readonly variables: readonly string[];
  /** Kind → the kernel's name of it. */
  readonly namespaces: Readonly<Record<string, string>>;
}

/** By Node, and then the same by the shell; each path also through a link, and as a walk up from the workspace. */
const NODE = `
const fs = require('node:fs'), path = require('node:path'), { spawnSync } = require('node:child_process');
const { forbidden, hidden, allowed, namespaces } = JSON.parse(fs.readFileSync(0, 'utf8'));
const did = (act) => { try { act(); return true; } catch { return false; } };
const isDirectory = (at) => { try { return fs.statSync(at).isDirectory(); } catch { return false; } };
let links = 0;
const link = (at) => { const made = '/tmp/canary-' + links++; fs.symlinkSync(at, made); return made; };
const ways = (at) => [at, '${INSIDE.work}/../..' + at, link(at)];
const file = (at) => isDirectory(at) ? path.join(at, '.pi-session-mcp-canary') : at;
const byNode = (at) => did(() => fs.appendFileSync(file(at), 'x')) || did(() => fs.writeFileSync(at + '/.pi-session-mcp-canary', 'x'));
const byShell = (at) => spawnSync('/bin/sh', ['-c', 'echo x >>"$1"', 'sh', file(at)], { stdio: 'ignore' }).status === 0;
const byMove = (at) => did(() => fs.renameSync(at, at + '.moved')) || did(() => fs.chmodSync(at, 0o777));
const written = forbidden.filter((at) => ways(at).some((way) => byNode(way) || byShell(way)) || byMove(at));
const seen = hidden.filter((at) => ways(at).some((way) => fs.existsSync(way)));
const refused = allowed.filter((at) => {
  const mine = path.join(at, '.pi-session-mcp-canary');
  const works = did(() => { fs.writeFileSync(mine, 'x'); fs.unlinkSync(mine); });
  return !works || spawnSync('/bin/sh', ['-c', 'echo x >"$1" && rm "$1"', 'sh', mine], { stdio: 'ignore' }).status !== 0;
});
const variables = Object.keys(process.env).filter((name) => ${CREDENTIAL_NAME}.test(name));
const inside = Object.fromEntries(namespaces.map((kind) => [kind, fs.readlinkSync('/proc/self/ns/' + kind)]));
process.stdout.write(JSON.stringify({ written, seen, refused, variables, namespaces: inside }));
`;

/** @param mounts Of the product, for its Node. Undefined when it did not come to an end. Never rejects. */
export async function attempt(
  boundary: WriterBoundary,
  writer: WriterBox,
  mounts: BoxCommand['mounts'],
  attempts: Attempts,
  signal: AbortSignal,
): Promise<Attempted | undefined> {
  const input = Buffer.from(JSON.stringify({ ...attempts, namespaces: NAMESPACES }));
  const bounds = { timeoutMs: TIMEOUT_MS, maxOutputBytes: MAX_OUTPUT_BYTES };
  const command = { argv: ['node', '-e', NODE], input, ...bounds, ...(mounts && { mounts }) };
  const outcome = await boundary.capture(writer, command, signal);
  if (outcome.kind !== 'ended' || outcome.code !== 0) return undefined;
  try {
    return JSON.parse(Buffer.from(outcome.stdout).toString('utf8')) as Attempted;
  } catch {
    return undefined;
  }
}

/** Was it a box, and did it hold? Each namespace has to be another one than this process has. */
export function held({ written, seen, refused, variables, namespaces }: Attempted): boolean {
  const isApart = NAMESPACES.every((kind) => namespaces[kind] !== undefined && namespaces[kind] !== ownNamespace(kind));
  return isApart && [written, seen, refused, variables].every((list) => list.length === 0);
}

function ownNamespace(kind: string): string {
  return readlinkSync(`/proc/self/ns/${kind}`);
}

/** One digest over what lies at these places: files by their bytes, directories by the names and modes of their entries. Never throws. */
export function stateOf(paths: readonly string[]): string {
  const hash = createHash('sha256');
  for (const path of paths) hash.update(`\0${path}\0${describe(path)}`);
  return hash.digest('hex');
}

function describe(path: string): string {
  try {
    const stat = lstatSync(path, { bigint: true });
    const own = `${stat.mode} ${stat.uid} ${stat.size}`;
    if (stat.isSymbolicLink()) return `${own} ${readlinkSync(path)}`;
    if (stat.isFile()) return `${own} ${createHash('sha256').update(readFileSync(path)).digest('hex')}`;
    if (!stat.isDirectory()) return own;
    // Not the size of the directory itself: on some file systems it depends on the past.
    return readdirSync(path)
      .sort()
      .map((name) => `${name} ${modeOf(join(path, name))}`)
      .join('\n');
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code);
  }
}

function modeOf(path: string): string {
  return String(lstatSync(path, { throwIfNoEntry: false })?.mode);
}
