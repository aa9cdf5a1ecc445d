/** The end of a server that setup itself has started. */
import { createActor, fromPromise, toPromise } from 'xstate';
import type { EndableProcess } from '../adapters/clients/verified-process.ts';
import { endingMachine } from '../machines/grants/ending.machine.ts';

/** End of input, SIGTERM, SIGKILL (docs/statecharts/ending.md). */
export function endProcess(server: EndableProcess): Promise<void> {
  const machine = endingMachine.provide({
    actors: {
      endInput: fromPromise(() => server.endInput()),
      terminate: fromPromise(() => server.terminate()),
      kill: fromPromise(() => server.kill()),
    },
  });
  const actor = createActor(machine);
  const ended = toPromise(actor);
  actor.start();
  return ended.then(() => {});
}
