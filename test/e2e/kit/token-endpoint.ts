/**
 * The token endpoints of real providers, on loopback: a proxy takes every connection to a
 * server of ours, whose certificate an authority of this test has signed. What comes out is
 * what Pi's own OAuth code asks for, wherever it believes that it asks.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer as createProxy } from 'node:http';
import { createServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';

export interface TokenRequest {
  /** As Pi addressed it: host, method, path. */
  readonly to: string;
  readonly type: string | undefined;
  readonly body: string;
}

export interface TokenAnswer {
  readonly status: number;
  readonly body: object;
}

/** May answer later, or never. */
export type Answering = (request: TokenRequest) => TokenAnswer | Promise<TokenAnswer>;

export interface TokenEndpoint {
  readonly requests: readonly TokenRequest[];
  /** Hosts that somebody wanted to be connected to. */
  readonly connections: readonly string[];
  /** Of the proxy. */
  readonly proxy: string;
  /** PEM file of the authority. */
  readonly authority: string;
}

/** An authority for one test, and a certificate of it for these hosts. */
function certify(
  directory: string,
  hosts: readonly string[],
): { readonly authority: string; key: string; cert: string } {
  const at = (name: string) => join(directory, name);
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: directory, stdio: 'pipe' });
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-noenc'];
  openssl('req', '-x509', ...key, '-keyout', 'ca.key', '-out', 'ca.pem', '-days', '2', '-subj', '/CN=nobody');
  openssl('req', ...key, '-keyout', 'host.key', '-out', 'host.csr', '-subj', '/CN=host');
  writeFileSync(at('host.ext'), `subjectAltName=${hosts.map((host) => `DNS:${host}`).join()}\n`);
  const signing = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '1', '-extfile', 'host.ext'];
  openssl('x509', '-req', '-in', 'host.csr', '-out', 'host.pem', ...signing);
  return {
    authority: at('ca.pem'),
    key: readFileSync(at('host.key'), 'utf8'),
    cert: readFileSync(at('host.pem'), 'utf8'),
  };
}

/** Starts it for the running test. @param directory For keys; disposable. */
export async function startTokenEndpoint(
  directory: string,
  hosts: readonly string[],
  answering: Answering,
): Promise<TokenEndpoint> {
  const { authority, key, cert } = certify(directory, hosts);
  const requests: TokenRequest[] = [];
  const connections: string[] = [];
  const open = new Set<Duplex>();
  const server = createServer({ key, cert }, async (message, response) => {
    const { host, 'content-type': type } = message.headers;
    const request = { to: `${host} ${message.method} ${message.url}`, type, body: await text(message) };
    requests.push(request);
    const { status, body } = await answering(request);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  const proxy = createProxy((_message, response) => response.writeHead(405).end());
  proxy.on('connect', ({ url = '' }, incoming: Duplex, head: Buffer) => {
    connections.push(url);
    const outgoing: Socket = connect((server.address() as AddressInfo).port, '127.0.0.1', () => {
      incoming.write('HTTP/1.1 200 OK\r\n\r\n');
      outgoing.write(head);
      incoming.pipe(outgoing).pipe(incoming);
    });
    for (const stream of [incoming, outgoing]) {
      open.add(stream);
      stream.on('error', () => {});
    }
  });
  for (const one of [server, proxy]) await new Promise<void>((resolve) => one.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const stream of open) stream.destroy();
    server.close();
    proxy.close();
  });
  return { requests, connections, authority, proxy: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` };
}
