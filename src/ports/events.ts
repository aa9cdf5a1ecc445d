/** Turn events: what the delivery and the wake chart may ask of the world (docs/turn-events.md). */

/** A turn that has reached its terminal state. */
export interface EndedTurn {
  readonly sessionId: string;
  readonly turnId: string;
  readonly state: 'completed' | 'failed' | 'aborted';
  /** When, in milliseconds since the epoch. */
  readonly at: number;
}

export type SpoolOutcome = { readonly ok: true } | { readonly ok: false };

/** One server's own directory in the spool. No method rejects. */
export interface EventSpool {
  /** Makes the directory, and removes those of servers that are gone. */
  open(): Promise<SpoolOutcome>;
  /** One file, whole or not at all; makes the directory again if somebody has removed it. */
  write(turn: EndedTurn): Promise<SpoolOutcome>;
  /** Removes what a closed session has left. */
  forget(sessionId: string): Promise<SpoolOutcome>;
  /** Removes what is too old, and shows that the server lives. */
  sweep(): Promise<SpoolOutcome>;
  /** Removes the directory. */
  close(): Promise<void>;
}

/** What the server tells of its turns; nothing here throws, waits or says anything back. */
export interface TurnEvents {
  /** Called once, with the first session. Never rejects. */
  begin(): Promise<void>;
  ended(turn: EndedTurn): void;
  closed(sessionId: string): void;
  /** Resolves when nothing of this server is left in the spool, or its bound is over. */
  close(): Promise<void>;
}

/** The turn that somebody waits for. */
export interface WakeTarget {
  readonly sessionId: string;
  readonly turnId: string;
}

/** `deserted`: no server that delivers events is there, so none will come. */
export type LookOutcome = 'found' | 'absent' | 'deserted';

/** `taken`: somebody else wakes for this turn. `unavailable`: nobody can be kept from doing it twice. */
export type ClaimOutcome = 'claimed' | 'taken' | 'unavailable';

/** The waiting side. No method rejects or throws. */
export interface WakePort {
  look(target: WakeTarget): Promise<LookOutcome>;
  /** Tells of changes in the spool, not necessarily of all. @returns an end to it. */
  watchSpool(onChange: () => void): () => void;
  /** @returns an end to it. */
  watchClient(onGone: () => void): () => void;
  claim(target: WakeTarget): Promise<ClaimOutcome>;
  /** Puts the notice to the client. */
  notify(target: WakeTarget): Promise<SpoolOutcome>;
}
