import type { Changes, Lab } from '../lab.ts';

/** One way in which the world can be, and what the doctor finds wrong with it. */
export interface Row {
  readonly world: string;
  readonly prepare?: (lab: Lab) => unknown;
  readonly input?: (lab: Lab) => Changes;
  /** Severity, id and subject of everything that is not ok, in order. */
  readonly found: readonly string[];
}

export const CODER = {};
export const MODES = 'config/execution-modes.json';

function modes(entry: object): object {
  return { schemaVersion: 1, workspaces: { shop: entry } };
}

export const HOST = modes({ mode: 'host', acceptHostWrites: true });
export const READ_ONLY = modes({ mode: 'read-only' });
export const CONTAINER = modes({ mode: 'container', profiles: ['coder'] });
