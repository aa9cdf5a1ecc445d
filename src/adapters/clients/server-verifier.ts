/** Talks to the intended server as a client would, without any client (docs/clients.md). */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { ResultSchema } from '@modelcontextprotocol/sdk/types.js';
import * as z from 'zod/mini';
import { TOOL_NAMES } from '../../config/tool-names.ts';
import type { Handshake, IntendedEntry, ServerVerifier } from '../../ports/setup/registration.ts';
import { SERVER_NAME, SERVER_VERSION } from '../../version.ts';
import { isCapabilitiesResult } from './capabilities.ts';
import type { Variables } from './client-commands.ts';
import { isPassable, sameList } from './entry.ts';
import { type EndableProcess, VerifiedProcess } from './verified-process.ts';

/** From the start of the server to its last answer; a healthy one needs half a second. */
const HANDSHAKE_TIMEOUT_MS = 10_000;
/** The deadline above counts. The SDK insists on one of its own; this is the longest that a timer takes. */
const NEVER_MS = 2 ** 31 - 1;

/** The environment that the most sparing client gives a server. */
const PASSED_ON = ['HOME', 'LANG', 'LC_ALL', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'TMPDIR', 'TZ', 'USER'];

export interface VerifierOptions {
  readonly entry: IntendedEntry;
  /** The operator's own. */
  readonly environment: Variables;
  /** Absolute; the working directory of the server. */
  readonly directory: string;
  /** Brings the server to its end, whatever has come of it: end of input, SIGTERM, SIGKILL (docs/statecharts/ending.md). */
  readonly end: (server: EndableProcess) => Promise<void>;
  /** Starts the time limit. */
  readonly deadline?: () => AbortSignal;
}

export function createServerVerifier(options: VerifierOptions): ServerVerifier {
  const { deadline = () => AbortSignal.timeout(HANDSHAKE_TIMEOUT_MS) } = options;
  return {
    async handshake(signal) {
      if (signal.aborted || !isPassable(options.entry)) return 'failed';
      const limit = deadline();
      const server = start(options);
      if (server === undefined) return 'failed';
      const answered = await converse(server, AbortSignal.any([signal, limit]));
      // Both are looked at before the end, during which a late limit would mean nothing.
      const outcome = outcomeOf(answered, server, signal.aborted, limit.aborted);
      await options.end(server).catch(() => {});
      return server.hasEnded ? outcome : 'failed';
    },
  };
}

function start({ entry, environment, directory }: VerifierOptions): VerifiedProcess | undefined {
  const inherited: Record<string, string> = {};
  for (const name of PASSED_ON) {
    const value = environment[name];
    if (value !== undefined) inherited[name] = value;
  }
  try {
    return new VerifiedProcess(entry, directory, { ...inherited, ...entry.env });
  } catch {
    return undefined;
  }
}

function outcomeOf(answered: Handshake, server: VerifiedProcess, aborted: boolean, late: boolean): Handshake {
  if (answered === 'verified') return server.isNoisy ? 'unsupported' : 'verified';
  if (aborted) return 'failed';
  if (late) return 'timeout';
  if (server.isNoisy) return 'unsupported';
  return server.isLost ? 'failed' : answered;
}

const toolList = z.object({
  tools: z.array(z.object({ name: z.string() })),
  nextCursor: z.optional(z.never()),
});

async function converse(server: VerifiedProcess, signal: AbortSignal): Promise<Handshake> {
  const client = new Client({ name: `${SERVER_NAME}-setup`, version: SERVER_VERSION });
  const bounds = { signal, timeout: NEVER_MS };
  let calling = false;
  try {
    await client.connect(server, bounds);
    if (client.getServerVersion()?.name !== SERVER_NAME) return 'unsupported';
    const list = toolList.safeParse(await client.request({ method: 'tools/list', params: {} }, ResultSchema, bounds));
    if (!list.success || !areOurTools(list.data.tools.map(({ name }) => name))) return 'unsupported';
    calling = true;
    const params = { name: TOOL_NAMES[0], arguments: {} };
    const result = await client.request({ method: 'tools/call', params }, ResultSchema, bounds);
    if (result['isError'] === true) return 'failed';
    return isCapabilitiesResult(result) ? 'verified' : 'unsupported';
  } catch {
    // An error in place of an answer: not our protocol at first, a defect later.
    return calling ? 'failed' : 'unsupported';
  }
}

/** Exactly the eight, in any order. */
function areOurTools(names: readonly string[]): boolean {
  return sameList([...names].sort(), [...TOOL_NAMES].sort());
}
