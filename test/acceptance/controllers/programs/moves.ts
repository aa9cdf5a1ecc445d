/** The moves from which these programs are made, on top of those of any controller. */
import { call, type Moves, type TurnIds } from '../../kit/driving/moves.ts';
import type { FixtureName } from '../fixtures.ts';
import type { Stage } from '../stage.ts';
import { TASKS, type TaskName } from '../tasks.ts';

/** The skill first, and what the skill says first. */
export async function* prepare(): Moves<void> {
  const skill = yield { kind: 'skill', name: 'pi-session-orchestration' };
  if (!skill.includes('# Running Pi workers')) throw new Error('the controller skill could not be read');
  const { executionProfiles } = yield* call('pi_capabilities_get');
  if (!executionProfiles?.some(({ alias }) => alias === 'accept-code')) throw new Error('no coding profile');
}

export async function* startSession(stage: Stage, name: FixtureName): Moves<string> {
  const clean = yield { kind: 'shell', command: `git -C ${stage.fixture(name)} status --short` };
  if (clean.includes('.js')) throw new Error('a fixture is not clean');
  const args = { workspace: stage.alias(name), executionProfile: 'accept-code' };
  const { session } = yield* call('pi_session_start', args);
  return session?.id ?? 'missing';
}

export async function* prompt(sessionId: string, task: TaskName): Moves<TurnIds> {
  const { turn } = yield* call('pi_session_prompt', { sessionId, prompt: TASKS[task] });
  return { sessionId, turnId: turn?.turnId ?? 'missing' };
}

/** The controller's own check of a worker's claim. */
export async function* verify(stage: Stage, name: FixtureName): Moves<void> {
  const file = stage.fixture(name, `${name}.test.js`);
  const output = yield { kind: 'shell', command: `node --test --test-reporter=tap ${file}` };
  if (!/^# fail 0$/m.test(output)) throw new Error('tests fail after a worker has reported success');
  yield { kind: 'shell', command: `git -C ${stage.fixture(name)} status --short` };
}
