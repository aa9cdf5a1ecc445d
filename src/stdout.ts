/** Evaluated before everything else: from here on stdout belongs to the protocol. */
import { createDiagnostics } from './adapters/mcp/diagnostics.ts';
import { guardStdout } from './adapters/mcp/stdout-guard.ts';

export const diagnostics = createDiagnostics();
export const stdout = guardStdout({ diagnostics });
