/** What setup may ask of one client about one registration. The target and the intended entry are bound when it is made. */

export type Inspection =
  | 'absent'
  /** Exactly the intended entry, as far as the client's public commands can tell. */
  | 'equivalent'
  | 'divergent'
  /** The client is missing, or prints what does not fit. */
  | 'unsupported'
  /** It was started and did not come to an end that says anything: a timeout, too much output. */
  | 'failed';

/**
 * What a mutating command did. It says nothing about the registration: only an
 * inspection afterwards does. `retained`: something of it may still run, so
 * nothing more may be done and the lock stays where it is.
 */
export type Mutation = 'ended' | 'failed' | 'retained';

/** No method rejects. An aborted call ends what it started before it resolves (as `failed`). */
export interface RegistrationClient {
  inspect(signal: AbortSignal): Promise<Inspection>;
  add(signal: AbortSignal): Promise<Mutation>;
  remove(signal: AbortSignal): Promise<Mutation>;
}

/** How a directly started server answered `initialize`, `tools/list` and `pi_capabilities_get`. */
export type Handshake = 'verified' | 'unsupported' | 'timeout' | 'failed';

export interface ServerVerifier {
  /** Starts the intended entry itself, never a session; its process has ended when this resolves. */
  handshake(signal: AbortSignal): Promise<Handshake>;
}

/** The entry that a client shall hold. */
export interface IntendedEntry {
  /** Absolute path of Node. */
  readonly command: string;
  /** Absolute path of the server's entry module. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}
