/** The extensions of one session, from their loading to the session's end. */
import type { OpenedRuntime } from './model-runtime.ts';
import type { LoadExtensionsResult } from './sdk.ts';
import type { ToolGate } from './tool-gate.ts';

export interface LoadedExtensions {
  readonly opened: OpenedRuntime;
  /** The very objects that the session's runner works on: later registrations show here. */
  readonly result: LoadExtensionsResult;
  readonly gate: ToolGate;
  /** The configured package that an extension's path belongs to. */
  ownerOf(extensionPath: string): string | undefined;
}

/** Is there an MCP server that an extension brings, and that nobody would connect? Then what to blame, if it is known. */
export function mcpRegistration({ result, ownerOf }: Pick<LoadedExtensions, 'result' | 'ownerOf'>) {
  const [server] = result.runtime.mcpServers.list();
  if (!server) return undefined;
  const extension = ownerOf(server.extensionPath);
  return extension ? { subject: { extension } } : {};
}

/** For extensions that no session took over: from here on their API throws. They saw no session, so no shutdown. */
export function releaseExtensions({ result }: Pick<LoadedExtensions, 'result'>): void {
  result.runtime.invalidate();
}
