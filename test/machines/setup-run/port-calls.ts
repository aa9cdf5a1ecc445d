/** All ports of a setup run as one function, so that a test can script, count, stop or watch every call in one place. */
import type { Customization } from '../../../src/ports/setup/customization.ts';
import type { SetupPorts } from '../../../src/ports/setup/run.ts';
import type { Target } from '../../../src/ports/setup/target.ts';

/** Named like the actors of the charts. */
export type PortName =
  | 'acquire'
  | 'release'
  | 'checkDoctor'
  | 'bindRelease'
  | 'readRecords'
  | 'put'
  | 'drop'
  | 'inspect'
  | 'add'
  | 'remove'
  | 'handshake'
  | 'readSource'
  | 'look'
  | 'recover'
  | 'stage'
  | 'displace'
  | 'place'
  | 'discard'
  | 'readShipped'
  | 'readBase'
  | 'readOverride'
  | 'recordBase'
  | 'inspectHook'
  | 'installHook'
  | 'uninstallHook';

export interface PortCall {
  readonly name: PortName;
  readonly input?: unknown;
  readonly target?: Target;
  readonly signal?: AbortSignal;
}

export type Ask = (call: PortCall) => Promise<unknown>;

/** Each of them changes something that outlives the run. */
export const CHANGES: readonly PortName[] = [
  'put',
  'drop',
  'add',
  'remove',
  'recover',
  'stage',
  'displace',
  'place',
  'discard',
  'recordBase',
  'installHook',
  'uninstallHook',
];

export function portsOf(ask: Ask): SetupPorts & { readonly customization: Customization } {
  const call = <T>(name: PortName, rest: Omit<PortCall, 'name'> = {}) => ask({ name, ...rest }) as Promise<T>;
  return {
    fence: { acquire: (signal) => call('acquire', { signal }), release: () => call('release') },
    doctor: { check: (signal) => call('checkDoctor', { signal }) },
    release: { fingerprint: (signal) => call('bindRelease', { signal }) },
    store: {
      read: () => call('readRecords'),
      put: (input) => call('put', { input }),
      drop: (input) => call('drop', { input }),
    },
    verifier: { handshake: (signal) => call('handshake', { signal }) },
    client: (target) => ({
      inspect: (signal) => call('inspect', { target, signal }),
      add: (signal) => call('add', { target, signal }),
      remove: (signal) => call('remove', { target, signal }),
    }),
    slot: (target) => ({
      source: () => call('readSource', { target }),
      look: () => call('look', { target }),
      recover: (input) => call('recover', { target, input }),
      stage: () => call('stage', { target }),
      displace: (input) => call('displace', { target, input }),
      place: () => call('place', { target }),
      discard: (input) => call('discard', { target, input }),
    }),
    wake: () => ({
      inspect: (signal) => call('inspectHook', { signal }),
      install: (signal) => call('installHook', { signal }),
      uninstall: (signal) => call('uninstallHook', { signal }),
    }),
    customization: {
      shipped: () => call('readShipped'),
      base: () => call('readBase'),
      override: () => call('readOverride'),
      recover: () => call('recover'),
      stage: () => call('stage'),
      place: () => call('place'),
      recordBase: (input) => call('recordBase', { input }),
    },
  };
}

/** The other way round: whoever implements ports, asked by call. */
export function askOf(ports: SetupPorts, customization?: Customization): Ask {
  return ({ name, input, target = { client: 'codex', scope: 'user' }, signal = new AbortController().signal }) => {
    const slot = () => ports.slot(target);
    const client = () => ports.client(target);
    const text = input as string;
    const handlers: Readonly<Record<PortName, () => Promise<unknown> | undefined>> = {
      acquire: () => ports.fence.acquire(signal),
      release: () => ports.fence.release(),
      checkDoctor: () => ports.doctor.check(signal),
      bindRelease: () => ports.release.fingerprint(signal),
      readRecords: () => ports.store.read(),
      put: () => ports.store.put(input as never),
      drop: () => ports.store.drop(input as never),
      handshake: () => ports.verifier.handshake(signal),
      inspect: () => client().inspect(signal),
      add: () => client().add(signal),
      remove: () => client().remove(signal),
      readSource: () => slot().source(),
      look: () => slot().look(),
      recover: () => customization?.recover() ?? slot().recover(input as never),
      stage: () => customization?.stage() ?? slot().stage(),
      place: () => customization?.place() ?? slot().place(),
      displace: () => slot().displace(text),
      discard: () => slot().discard(text),
      readShipped: () => customization?.shipped(),
      readBase: () => customization?.base(),
      readOverride: () => customization?.override(),
      recordBase: () => customization?.recordBase(text),
      inspectHook: () => ports.wake().inspect(signal),
      installHook: () => ports.wake().install(signal),
      uninstallHook: () => ports.wake().uninstall(signal),
    };
    return handlers[name]() ?? Promise.reject(new Error(`nobody answers ${name}`));
  };
}
