/** Every chart of the product, for the test kit and the drawings. */
import { connectionMachine } from './grants/connection.machine.ts';
import { endingMachine } from './grants/ending.machine.ts';
import { processMachine } from './process/process.machine.ts';
import { registryMachine } from './session/registry.machine.ts';
import { sessionMachine } from './session/session.machine.ts';
import { startMachine } from './session/start.machine.ts';
import { turnMachine } from './session/turn.machine.ts';

export const charts = {
  connection: connectionMachine,
  ending: endingMachine,
  process: processMachine,
  registry: registryMachine,
  session: sessionMachine,
  start: startMachine,
  turn: turnMachine,
} as const;
