/** A disposable operator for the spool: a home, a runtime directory, and time. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createEventSpool, eventText } from '../../../src/adapters/fs/event-spool.ts';
import { instanceName, ownInstance } from '../../../src/adapters/fs/event-spool-instance.ts';
import { createSpoolReader } from '../../../src/adapters/fs/event-spool-reader.ts';
import { startTimeOf } from '../../../src/adapters/process/process-table.ts';
import type { EndedTurn } from '../../../src/ports/events.ts';

export const SESSION = '11111111-2222-4333-8444-555555555555';
export const TURN = '66666666-7777-4888-9999-aaaaaaaaaaaa';
export const TARGET = { sessionId: SESSION, turnId: TURN };

export const turnOf = (fields: Partial<EndedTurn> = {}): EndedTurn => ({
  ...TARGET,
  state: 'completed',
  at: Date.UTC(2026, 0, 1),
  ...fields,
});

export interface LabOptions {
  /** Clients keep the variable from some servers. */
  readonly withoutRuntime?: boolean;
  readonly env?: Readonly<Record<string, string>>;
}

export function openLab({ withoutRuntime = false, env = {} }: LabOptions = {}) {
  const root = mkdtempSync(join(tmpdir(), 'spool-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const [home, runtime] = [join(root, 'home'), join(root, 'runtime')];
  for (const directory of [home, runtime]) mkdirSync(directory, { mode: 0o700 });
  const time = { now: Date.now() };
  const world = {
    env: { ...(withoutRuntime ? {} : { XDG_RUNTIME_DIR: runtime }), ...env },
    home,
  };
  const options = { ...world, startTimeOf, now: () => time.now };
  const state = join(home, '.local', 'state', 'pi-session-mcp');
  const place = withoutRuntime ? join(state, 'events') : join(runtime, 'pi-session-mcp', 'events');
  const instance = join(place, instanceName(ownInstance(startTimeOf)));
  return {
    root,
    home,
    runtime,
    state,
    place,
    /** This process's directory in the spool. */
    instance,
    world,
    options,
    time,
    spool: createEventSpool(options),
    reader: createSpoolReader(options),
  };
}

export type Lab = ReturnType<typeof openLab>;

/** Every name below a directory; empty when there is none. */
export function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory).sort();
  } catch {
    return [];
  }
}

/** What a worker may put where it likes. @returns the path. */
export function forge(path: string, text: string = eventText(turnOf())): string {
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}
