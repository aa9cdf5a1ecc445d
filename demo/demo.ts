/** `npm run demo`: the built server, the real Pi SDK and a scripted model; no key, no network. */
import type { ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import { createInterface } from 'node:readline/promises';
import { connectClient, type DemoClient } from './client.ts';
import { createScene, type Scene } from './scene.ts';
import { demoScript } from './script.ts';
import { startScriptedModel } from './scripted-model.ts';
import * as story from './story.ts';
import { Transcript } from './transcript.ts';

const HELP = `Usage: npm run demo [-- --interactive]

Starts the built server as an MCP client would, delegates work to real Pi sessions
and verifies each step. The model is a script on 127.0.0.1: no key, no network, no
cost. Everything happens in .cache/ of the project and is removed at the end.

  --interactive   type prompts to a read-only session yourself
  --help          this text

Exit status: 0 when every step was verified, 1 when one was not, 64 on misuse.
Colours: on a terminal only; NO_COLOR=1 turns them off.`;

const INTERACTIVE_HELP = 'Try: Read "kettle.txt".  Write "x.txt" with "y".  What did I ask?  An empty line ends it.';
const SIGNAL_STATUS_BASE = 128;

/** However the demo ends, it leaves neither its directory nor its server behind. */
function cleanUpAtExit(scene: Scene, child: () => ChildProcess | undefined): void {
  process.once('exit', () => {
    child()?.kill('SIGKILL');
    scene.remove();
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => process.exit(SIGNAL_STATUS_BASE + constants.signals[signal]));
  }
  // Whoever reads has seen enough, for instance `head`.
  process.stdout.on('error', () => process.exit(1));
}

async function connect(out: Transcript, scene: Scene, onChild: (child: ChildProcess) => void): Promise<DemoClient> {
  out.step('Start the server and shake hands');
  out.sent('node dist/main.js', 'sees HOME, PATH, PI_SESSION_MCP_CONFIG and Pi’s directory');
  const { value: client, ms } = await out.during('initialize', connectClient(scene.env, onChild));
  const server = client.mcp.getServerVersion();
  out.received('initialized', `${server?.name} ${server?.version}`, ms);
  const { value: list, ms: listMs } = await out.during('tools/list', client.mcp.listTools());
  const names = list.tools.map((tool) => tool.name.replace(/^pi_/, ''));
  out.received(`${names.length} tools`, `pi_: ${names.join(', ')}`, listMs);
  out.check('it is pi-session-mcp with its eight tools', server?.name === 'pi-session-mcp' && names.length === 8);
  return client;
}

async function tell(out: Transcript, scene: Scene, client: DemoClient): Promise<void> {
  const parts = { out, scene, client };
  await story.discover(parts);
  const reader = await story.readOnly(parts);
  await story.abort(parts, reader);
  const coder = await story.coding(parts);
  await story.refusals(parts);
  await story.close(parts, [reader, coder]);
  await story.leave(parts);
}

async function converse(out: Transcript, client: DemoClient): Promise<void> {
  const { session } = await client.call('pi_session_start', { workspace: 'notes' });
  const sessionId = session?.['id'] ?? '';
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  out.line(`\n${INTERACTIVE_HELP}`);
  lines.setPrompt('> ');
  lines.prompt();
  for await (const line of lines) {
    if (line.trim() === '') break;
    const { turn, error } = await client.call('pi_session_prompt', { sessionId, prompt: line });
    const end = turn && (await client.turnEnd(sessionId, turn.turnId));
    out.line(end ? `${end.state}: ${end.assistantText ?? ''}` : `${error?.code}: ${error?.message}`);
    lines.prompt();
  }
  lines.close();
  await client.leave();
}

async function run(interactive: boolean): Promise<number> {
  const began = performance.now();
  const out = new Transcript();
  const model = await startScriptedModel({ choose: demoScript });
  const scene = await createScene({
    name: 'demo',
    modelUrl: model.baseUrl,
    workspaces: {
      notes: { mode: 'read-only', files: { 'kettle.txt': `About the kettle\n\n${story.SECRET_LINE}\n` } },
      code: { mode: 'host', files: { 'greeting.txt': story.GREETING } },
    },
  });
  let child: ChildProcess | undefined;
  cleanUpAtExit(scene, () => child);
  try {
    out.heading('pi-session-mcp: an MCP client delegates work to Pi sessions', [
      'The server and Pi are real; the model is a script on 127.0.0.1. No key, no network.',
      '→ sent by the client   ← answered by the server   ✓ verified by this demo',
    ]);
    const client = await connect(out, scene, (started) => {
      child = started;
    });
    if (interactive) await converse(out, client);
    else await tell(out, scene, client);
  } catch (error) {
    out.check(`it goes on to the end: ${error instanceof Error ? error.message : String(error)}`, false);
  } finally {
    child?.kill('SIGKILL');
    await model.close();
    scene.remove();
  }
  return out.end(performance.now() - began);
}

const args = process.argv.slice(2);
const unknown = args.find((arg) => arg !== '--help' && arg !== '--interactive');
if (args.includes('--help')) console.log(HELP);
else if (unknown !== undefined) {
  console.error(`demo: unknown argument ${unknown}; see --help`);
  process.exitCode = 64;
} else process.exitCode = await run(args.includes('--interactive'));
