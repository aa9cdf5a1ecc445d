/** Turn events on the real disk. */
import { homedir } from 'node:os';
import { createEventSpool } from '../adapters/fs/event-spool.ts';
import { startTimeOf } from '../adapters/process/process-table.ts';
import type { Diagnostics } from '../ports/diagnostics.ts';
import type { TurnEvents } from '../ports/events.ts';
import { createTurnEvents } from './turn-events.ts';

export function createSpooledTurnEvents(diagnostics: Diagnostics): TurnEvents {
  const spool = createEventSpool({ env: process.env, home: homedir(), startTimeOf, now: Date.now });
  return createTurnEvents({ spool, diagnostics });
}
