import { join } from 'node:path';
import { agentDirectory, type DoctorInput, isOnPath } from '../input.ts';
import type { DoctorCheck } from '../model.ts';
import { judge } from '../remedies.ts';

/** Name in Pi's own `bin` → names on `PATH`. Pi looks there in this order, then downloads. */
const TOOLS = { fd: ['fd', 'fdfind'], rg: ['rg'] } as const;

export function checkSearchTools(input: DoctorInput): readonly DoctorCheck[] {
  return Object.entries(TOOLS).map(([tool, names]) => {
    const own = input.files.exists(join(agentDirectory(input), 'bin', tool));
    return judge('search_tool_missing', tool, own || names.some((name) => isOnPath(input, name)));
  });
}
