/** Which registrations a writer may have. */
import type { Target } from '../ports/setup/target.ts';

/** A project's own file would start other people's writers. */
export const WRITER_CLIENTS: readonly Target[] = [
  { client: 'codex', scope: 'user' },
  { client: 'claude-code', scope: 'user' },
  { client: 'claude-code', scope: 'local' },
];
