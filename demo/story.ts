/** The demo's steps, in the order in which a coding agent would take them. */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import type { DemoClient, ToolResult, TurnResult } from './client.ts';
import type { Scene } from './scene.ts';
import { formatTime, type Transcript } from './transcript.ts';

/** Nobody but the file knows it. */
export const SECRET_LINE = `The kettle's serial number is ${randomBytes(4).toString('hex')}.`;
export const GREETING = 'Hello from before the turn.\n';
const NEW_GREETING = 'Hello from the Pi session.';
/** A shutdown that takes longer is cut off by some clients. */
const EXIT_LIMIT_MS = 490;

export interface Story {
  readonly client: DemoClient;
  readonly scene: Scene;
  readonly out: Transcript;
}

type Timed = ToolResult & { readonly ms: number };

/** A call whose sending is shown; the answer is left to the caller. */
async function show({ client, out }: Story, tool: string, args: Record<string, string> = {}): Promise<Timed> {
  const { prompt: task, ...aliases } = args;
  const parts = Object.entries(aliases).map(
    ([key, value]) => `${NAMES[key] ?? key} ${key === 'sessionId' ? short(value) : value}`,
  );
  out.sent(tool, parts.join('   '));
  if (task) out.note('', `“${task}”`);
  const { value, ms } = await out.during(tool, client.call(tool, args));
  return { ...value, ms };
}

const NAMES: Readonly<Record<string, string>> = { sessionId: 'session', executionProfile: 'profile' };

function short(id: string | undefined): string {
  return id ? `${id.slice(0, 8)}…` : '?';
}

function showSession(out: Transcript, { session, error, ms }: Timed): string {
  const text = session && `session ${short(session['id'])}   ${session['workspace']} as ${session['executionProfile']}`;
  out.received(session?.['state'] ?? error?.code ?? '?', text ?? error?.message ?? '', ms);
  return session?.['id'] ?? '';
}

async function start(story: Story, args: Record<string, string>): Promise<string> {
  const reply = await show(story, 'pi_session_start', args);
  const id = showSession(story.out, reply);
  story.out.check(`a session on the verified model ${reply.session?.['model']}`, reply.session?.['state'] === 'idle');
  return id;
}

async function prompt(story: Story, sessionId: string, text: string): Promise<string> {
  const { turn, error, ms } = await show(story, 'pi_session_prompt', { sessionId, prompt: text });
  story.out.received(
    turn?.state ?? error?.code ?? '?',
    turn ? `turn ${short(turn.turnId)}` : (error?.message ?? ''),
    ms,
  );
  return turn?.turnId ?? '';
}

/** A prompt and its turn to the end. */
async function turn(story: Story, sessionId: string, text: string): Promise<TurnResult> {
  const turnId = await prompt(story, sessionId, text);
  story.out.sent('pi_turn_get', `turn ${short(turnId)}   until it has ended`);
  const { value, ms } = await story.out.during('pi_turn_get', story.client.turnEnd(sessionId, turnId));
  story.out.received(value.state, value.assistantText ? `“${value.assistantText}”` : '', ms);
  return value;
}

export async function discover(story: Story): Promise<void> {
  const { out } = story;
  out.step('Discover: what did the operator allow?');
  const { workspaces = [], executionProfiles = [], ms } = await show(story, 'pi_capabilities_get');
  out.received(`${workspaces.length} workspaces`, '', ms);
  for (const { alias, mode } of workspaces) out.note('', `${alias.padEnd(8)}${mode}`);
  out.received(`${executionProfiles.length} profiles`, '');
  for (const profile of executionProfiles) {
    const { alias, permissionProfile, provider, model } = profile;
    const suffix = `${provider}/${model}${profile['default'] ? '   default' : ''}`;
    out.note('', `${String(alias).padEnd(8)}${String(permissionProfile).padEnd(11)}${suffix}`);
  }
  out.check('aliases only, no directory', workspaces.length === 2 && !JSON.stringify(workspaces).includes('/'));
}

export async function readOnly(story: Story): Promise<string> {
  const { out } = story;
  out.step('Delegate a read-only task');
  out.note('', 'The first start of a process loads the Pi SDK; later ones take milliseconds.');
  const id = await start(story, { workspace: 'notes' });
  const answer = await turn(story, id, 'Read "kettle.txt" and tell me its last line.');
  const text = answer.assistantText ?? '';
  out.check(
    'the answer holds a random line that stands in the file and nowhere else',
    text.includes(SECRET_LINE),
    text,
  );

  out.step('Follow up in the same session');
  const again = await turn(story, id, 'What did I ask you before?');
  out.check(
    'the session remembers its earlier turn',
    again.assistantText?.includes('kettle.txt') ?? false,
    again.assistantText,
  );

  out.step('Try to write from the read-only session');
  await turn(story, id, 'Write "planted.txt" with "this must not exist".');
  out.check('the model called `write`, and no file appeared', !existsSync(story.scene.path('notes', 'planted.txt')));
  return id;
}

export async function abort(story: Story, id: string): Promise<void> {
  const { out, client } = story;
  out.step('Abort a turn that hangs');
  const turnId = await prompt(story, id, 'Wait for ever.');
  const busy = await show(story, 'pi_session_prompt', { sessionId: id, prompt: 'Another task.' });
  out.received(busy.error ? 'refused' : 'admitted', busy.error?.code ?? '', busy.ms);
  out.note('', busy.error?.message ?? '');
  out.check('a session runs one turn at a time', busy.error?.code === 'session_running');
  showSession(out, await show(story, 'pi_session_abort', { sessionId: id }));
  out.sent('pi_turn_get', `turn ${short(turnId)}`);
  const { value: ended, ms } = await out.during('pi_turn_get', client.turnEnd(id, turnId));
  out.received(ended.state, '', ms);
  out.check('the turn is aborted; the session lives', ended.state === 'aborted', ended.state);
}

export async function coding(story: Story): Promise<string> {
  const { out, scene } = story;
  const file = scene.path('code', 'greeting.txt');
  out.step('Delegate a coding task');
  const id = await start(story, { workspace: 'code', executionProfile: 'coder' });
  const before = readFileSync(file, 'utf8');
  const answer = await turn(story, id, `Replace "${GREETING.trim()}" by "${NEW_GREETING}" in "greeting.txt".`);
  const after = readFileSync(file, 'utf8');
  out.note('greeting.txt before', before);
  out.note('greeting.txt after', after);
  out.check('the file on disk changed', before === GREETING && after === `${NEW_GREETING}\n`, after);
  out.check(
    'its shell command ran: grep counted the new line',
    answer.assistantText?.includes('counts 1 line') ?? false,
    answer.assistantText,
  );
  return id;
}

export async function refusals(story: Story): Promise<void> {
  const { out } = story;
  out.step('What is refused, and how it is said');
  const cases = [
    [{ workspace: 'payroll', executionProfile: 'coder' }, 'unknown_workspace'],
    [{ workspace: 'notes', executionProfile: 'coder' }, 'workspace_mode_forbids_coding'],
  ] as const;
  for (const [args, code] of cases) {
    const { error, ms } = await show(story, 'pi_session_start', args);
    out.received('refused', error?.code ?? 'started', ms);
    out.note('', error?.message ?? '');
    out.check(`refused with the code ${code}`, error?.code === code, error?.code);
  }
}

export async function close(story: Story, ids: readonly string[]): Promise<void> {
  const { out } = story;
  out.step('Close the sessions');
  for (const sessionId of ids) showSession(out, await show(story, 'pi_session_close', { sessionId }));
  const { sessions, ms } = await show(story, 'pi_session_list');
  out.received('sessions', `${sessions?.length ?? '?'} open`, ms);
  out.check('none is left', sessions?.length === 0);
}

export async function leave(story: Story): Promise<void> {
  const { out, client } = story;
  out.step('Leave: the client closes the pipe');
  out.sent('end of stdin');
  const { value, ms } = await out.during('waiting for the exit', client.leave());
  out.received('exit', `status ${value.code ?? value.signal}`, ms);
  out.check(
    `status 0 within ${formatTime(EXIT_LIMIT_MS)}`,
    value.code === 0 && ms < EXIT_LIMIT_MS,
    `${value.code}, ${formatTime(ms)}`,
  );
  const stderr = client.stderr().trim();
  out.check('nothing on stderr', stderr === '', stderr);
}
