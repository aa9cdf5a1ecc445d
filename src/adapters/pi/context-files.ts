/** `AGENTS.md` and its kin, as Pi finds them, without Pi's own warnings. */
import type { Diagnostics } from '../../ports/diagnostics.ts';
import type { Sdk } from './sdk.ts';

type ContextFiles = ReturnType<Sdk['loadProjectContextFiles']>;

/** Every prompt carries them: a longer one is a mistake, and would fill the model's context by itself. */
const MAX_CONTEXT_CHARACTERS = 256 * 1024;

/** The SDK prints the path and the system's error of an unreadable file; a path never leaves the server. */
export function loadContextFiles(sdk: Sdk, cwd: string, agentDir: string, diagnostics: Diagnostics): ContextFiles {
  // Not ours to print on, but the SDK's: the only place where its warnings can be caught.
  const output = globalThis.console;
  const print = output.error;
  let unreadable = 0;
  output.error = () => {
    unreadable += 1;
  };
  try {
    const files = sdk.loadProjectContextFiles({ cwd, agentDir });
    const kept = files.filter(({ content }) => content.length <= MAX_CONTEXT_CHARACTERS);
    const dropped = files.length - kept.length;
    if (dropped > 0) diagnostics.report('warn', 'context_file_too_large', { count: dropped });
    return kept;
  } finally {
    // All of this is synchronous, so nobody else's output is lost.
    output.error = print;
    if (unreadable > 0) diagnostics.report('warn', 'context_file_unreadable', { count: unreadable });
  }
}
