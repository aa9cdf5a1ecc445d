/** What this adapter needs of the owner of tool processes; `adapters/process` implements it. */

export interface ToolCallChildren {
  readonly variables: Readonly<Record<string, string>>;
  started(pid: number): void;
  kill(): Promise<void>;
  ended(): void;
}

export interface ToolChildren {
  markServer(): void;
  arm(sessionId: string): void;
  openCall(sessionId: string): ToolCallChildren;
  endSession(sessionId: string): Promise<void>;
  abandon(): void;
}
