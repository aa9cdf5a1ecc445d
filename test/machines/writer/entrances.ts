/** Every way in which the writer chart comes to a plan, and how to take the real assembly there. */
import { type Plan, planFor, planUnhindered } from '../../../src/machines/writers/plan.ts';
import type { WriterInput, WriterPhase } from '../../../src/ports/writers/lifecycle.ts';
import { WriterWorld, type WriterWorldOptions } from '../../kit/scripted-writer.ts';
import { INPUTS, PHASES } from './domain.ts';

export interface Entrance {
  readonly input: WriterInput;
  readonly phase: WriterPhase | null;
  readonly isInspected: boolean;
  readonly plan: Plan;
}

function entrances(): Entrance[] {
  return INPUTS.flatMap((input) =>
    PHASES.map((phase) => {
      const plan = planFor(input, phase);
      const isInspected = plan.kind === 'inspect';
      return { input, phase, isInspected, plan: isInspected ? planUnhindered(input) : plan };
    }),
  );
}

/** One entrance for each different plan of these kinds. */
export function plansOf<K extends Plan['kind']>(
  ...kinds: readonly K[]
): (Entrance & { readonly plan: Extract<Plan, { kind: K }> })[] {
  const byPlan = new Map<string, Entrance>();
  for (const entrance of entrances()) {
    const key = JSON.stringify(entrance.plan);
    if (kinds.some((kind) => kind === entrance.plan.kind) && !byPlan.has(key)) byPlan.set(key, entrance);
  }
  return [...byPlan.values()] as (Entrance & { readonly plan: Extract<Plan, { kind: K }> })[];
}

/** A run that stands where its child chart has just begun. */
export async function enter(
  { input, phase, isInspected }: Entrance,
  options?: WriterWorldOptions,
): Promise<WriterWorld> {
  const world = new WriterWorld(input, options);
  await world.succeed('fence');
  await world.succeed('read', { ok: true, phase });
  if (isInspected) await world.succeed('inspect');
  return world;
}
