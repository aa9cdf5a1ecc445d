/** The end of the client connection, as the process chart needs it. */
export interface TransportPort {
  /** Closes the transport; resolves when it is closed, also when it was broken before. */
  close(): Promise<void>;
}
