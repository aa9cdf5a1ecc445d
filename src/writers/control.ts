/**
 * The control of the isolation: real canaries below the operator's home, that a
 * process on the host can change and nothing in the box can see. Without it, a box
 * that protects nothing could pass for one that does.
 */
import { appendFileSync, lstatSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BoxCommand, WriterBoundary, WriterBox } from '../ports/writers/boundary.ts';
import { attempt, held, stateOf } from './attempts.ts';

const MARK = 'pi-session-mcp canary: may be deleted\n';

export interface ControlRequest {
  readonly home: string;
  readonly boundary: WriterBoundary;
  readonly writer: WriterBox;
  readonly mounts: BoxCommand['mounts'];
}

/** True: the canaries could be changed here, not from inside, and are gone again. Never rejects. */
export async function controlIsolation(request: ControlRequest, signal: AbortSignal): Promise<boolean> {
  const { home, boundary, writer, mounts } = request;
  const nest = join(home, `.pi-session-mcp-canary-${writer.name}`);
  if (!clear(nest)) return false;
  try {
    mkdirSync(nest, { mode: 0o700 });
    const canary = join(nest, 'canary');
    writeFileSync(canary, MARK);
    const before = stateOf([nest, canary]);
    appendFileSync(canary, 'x');
    // What does not notice this would notice nothing.
    if (stateOf([nest, canary]) === before) return false;
    const planted = stateOf([nest, canary]);
    const attempts = { forbidden: [nest, canary, home], hidden: [nest, canary, home], allowed: ['/work'] };
    const attempted = await attempt(boundary, writer, mounts, attempts, signal);
    return attempted !== undefined && held(attempted) && stateOf([nest, canary]) === planted;
  } catch {
    return false;
  } finally {
    clear(nest);
  }
}

/** Removes what an interrupted control has left, and nothing of anybody else's. */
function clear(nest: string): boolean {
  try {
    const stat = lstatSync(nest, { throwIfNoEntry: false });
    if (stat === undefined) return true;
    if (!stat.isDirectory() || !isOurs(join(nest, 'canary'))) return false;
    rmSync(nest, { recursive: true });
    return true;
  } catch {
    return false;
  }
}

function isOurs(canary: string): boolean {
  try {
    return readFileSync(canary, 'utf8').startsWith(MARK);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}
