/**
 * The scripted model where a box can reach it. A user-mode network does not lead
 * to the host's loopback, so the endpoint is also offered on one address of this machine.
 */
import { connect, createServer, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { type ScriptedModel, startScriptedModel } from '../../../demo/scripted-model.ts';

export interface OfferedModel {
  readonly model: ScriptedModel;
  /** For the box. */
  readonly origin: string;
  close(): Promise<void>;
}

/** @returns `undefined` when this machine has no address but loopback. */
export async function offerModel(): Promise<OfferedModel | undefined> {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const own = addresses.find(({ family, internal }) => family === 'IPv4' && !internal)?.address;
  if (own === undefined) return undefined;
  const model = await startScriptedModel();
  const { port } = new URL(model.baseUrl);
  const sockets = new Set<Socket>();
  const server = createServer((incoming) => {
    const outgoing = connect(Number(port), '127.0.0.1');
    for (const socket of [incoming, outgoing]) {
      sockets.add(socket);
      socket.on('error', () => {});
    }
    incoming.pipe(outgoing).pipe(incoming);
  });
  await new Promise<void>((resolve) => server.listen(0, own, resolve));
  const address = server.address();
  const offered = typeof address === 'object' && address ? address.port : 0;
  return {
    model,
    origin: `http://${own}:${offered}`,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await model.close();
    },
  };
}
