/** What a server that lives in a writer's box asks before it lets a session write there (docs/writers.md). */
export interface CodingAdmission {
  /**
   * Is the clone as the operator's side has left it: its one branch at the baseline, nothing changed, nothing
   * stashed? False also when nobody can tell. Looked up anew each time. Never rejects.
   */
  isAtBaseline(): Promise<boolean>;
  /** Says on disk that a session writes. False: setup works on the clone right now, and nothing was said. */
  enter(): boolean;
  /** Takes it back; also when nothing was said. */
  leave(): void;
}
