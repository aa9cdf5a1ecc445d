/** Commands of the git side, in a box of the writer's without a network. */
import type { WriterBoundary, WriterBox } from '../ports/writers/boundary.ts';
import type { InsideResult, RunInside } from '../ports/writers/git.ts';

export function runInside(boundary: WriterBoundary, writer: Pick<WriterBox, 'name' | 'directory' | 'root'>): RunInside {
  const box: WriterBox = { ...writer, network: 'none' };
  return async ({ argv, env, input, maxOutputBytes, timeoutMs }, signal): Promise<InsideResult> => {
    const command = { argv, env, maxOutputBytes, timeoutMs, ...(input && { input }) };
    let outcome = await boundary.capture(box, command, signal);
    // Nothing of it has run. Podman starts a box for the second time where a busy machine kept it from the first.
    if (outcome.kind === 'not_started' && !signal.aborted) outcome = await boundary.capture(box, command, signal);
    if (outcome.kind === 'ended') return { kind: 'exited', code: outcome.code, stdout: outcome.stdout };
    return { kind: outcome.kind === 'output_too_large' ? 'output_too_large' : 'failed' };
  };
}
