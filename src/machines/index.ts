/** Every chart of the product, for the test kit and the drawings. */
import { deliveryMachine } from './events/delivery.machine.ts';
import { wakeMachine } from './events/wake.machine.ts';
import { connectionMachine } from './grants/connection.machine.ts';
import { endingMachine } from './grants/ending.machine.ts';
import { processMachine } from './process/process.machine.ts';
import { registryMachine } from './session/registry.machine.ts';
import { sessionMachine } from './session/session.machine.ts';
import { startMachine } from './session/start.machine.ts';
import { turnMachine } from './session/turn.machine.ts';

export const charts = {
  connection: connectionMachine,
  delivery: deliveryMachine,
  ending: endingMachine,
  process: processMachine,
  registry: registryMachine,
  session: sessionMachine,
  start: startMachine,
  turn: turnMachine,
  wake: wakeMachine,
} as const;
