/** Talks to the contained server in its box as a client would: no session, no provider. */
import { TOOL_NAMES } from '../config/tool-names.ts';
import type { BoxCommand, WriterBoundary, WriterBox } from '../ports/writers/boundary.ts';
import { DEFAULT_PROFILE } from './contained-configuration.ts';

const TIMEOUT_MS = 60_000;
const MAX_OUTPUT_BYTES = 1024 * 1024;
const CLIENT = { name: 'pi-session-mcp-setup', version: '1' };

const QUESTIONS = [
  { id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: CLIENT } },
  { method: 'notifications/initialized' },
  { id: 2, method: 'tools/list' },
  { id: 3, method: 'tools/call', params: { name: 'pi_capabilities_get', arguments: {} } },
];

interface Answer {
  readonly id?: number;
  readonly result?: Readonly<Record<string, unknown>>;
}

export interface Expected {
  readonly workspace: string;
  /** Aliases of the coding profiles. */
  readonly profiles: readonly string[];
}

/** Never rejects. */
export async function shakeHands(
  boundary: WriterBoundary,
  writer: WriterBox,
  command: BoxCommand,
  expected: Expected,
  signal: AbortSignal,
): Promise<boolean> {
  const input = Buffer.from(QUESTIONS.map((one) => `${JSON.stringify({ jsonrpc: '2.0', ...one })}\n`).join(''));
  const bounds = { timeoutMs: TIMEOUT_MS, maxOutputBytes: MAX_OUTPUT_BYTES };
  const outcome = await boundary.capture(writer, { ...command, input, ...bounds }, signal);
  if (outcome.kind !== 'ended') return false;
  try {
    const lines = Buffer.from(outcome.stdout).toString('utf8').split('\n').filter(Boolean);
    return isExpected(
      lines.map((line) => JSON.parse(line) as Answer),
      expected,
    );
  } catch {
    return false;
  }
}

function isExpected(answers: readonly Answer[], { workspace, profiles }: Expected): boolean {
  const resultOf = (id: number) => answers.find((answer) => answer.id === id)?.result ?? {};
  const tools = (resultOf(2)['tools'] ?? []) as readonly { readonly name: string }[];
  const { workspaces, executionProfiles } = (resultOf(3)['structuredContent'] ?? {}) as {
    readonly workspaces?: readonly { readonly alias: string; readonly mode: string }[];
    readonly executionProfiles?: readonly { readonly alias: string; readonly default: boolean }[];
  };
  const known = (executionProfiles ?? []).map(({ alias }) => alias).sort();
  const [only, ...others] = workspaces ?? [];
  return (
    sameNames(
      tools.map(({ name }) => name),
      TOOL_NAMES,
    ) &&
    only?.alias === workspace &&
    only.mode === 'host' &&
    others.length === 0 &&
    sameNames(known, [DEFAULT_PROFILE, ...profiles])
  );
}

function sameNames(left: readonly string[], right: readonly string[]): boolean {
  return JSON.stringify([...left].sort()) === JSON.stringify([...right].sort());
}
