/** Evaluated before everything else: from here on stdout belongs to the protocol, and stderr to the diagnostics. */
import { createDiagnostics } from './adapters/mcp/diagnostics.ts';
import { guardStderr, guardStdout } from './adapters/mcp/output-guard.ts';

export const diagnostics = createDiagnostics();
guardStderr({ diagnostics });
export const stdout = guardStdout({ diagnostics });
