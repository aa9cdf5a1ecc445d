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
import { commandMachine } from './setup/command.machine.ts';
import { customizationMachine } from './setup/customization.machine.ts';
import { registrationMachine } from './setup/registration.machine.ts';
import { setupRunMachine } from './setup/run.machine.ts';
import { skillSlotMachine } from './setup/skill-slot.machine.ts';
import { wakeHookMachine } from './setup/wake-hook.machine.ts';
import { credentialsMachine } from './writers/credentials.machine.ts';
import { finishMachine } from './writers/finish.machine.ts';
import { launcherMachine } from './writers/launcher.machine.ts';
import { provisionMachine } from './writers/provision.machine.ts';
import { removalMachine } from './writers/removal.machine.ts';
import { writerMachine } from './writers/writer.machine.ts';

export const charts = {
  command: commandMachine,
  connection: connectionMachine,
  credentials: credentialsMachine,
  customization: customizationMachine,
  delivery: deliveryMachine,
  ending: endingMachine,
  finish: finishMachine,
  launcher: launcherMachine,
  process: processMachine,
  registration: registrationMachine,
  provision: provisionMachine,
  registry: registryMachine,
  removal: removalMachine,
  session: sessionMachine,
  'setup-run': setupRunMachine,
  'skill-slot': skillSlotMachine,
  start: startMachine,
  turn: turnMachine,
  writer: writerMachine,
  wake: wakeMachine,
  'wake-hook': wakeHookMachine,
} as const;
