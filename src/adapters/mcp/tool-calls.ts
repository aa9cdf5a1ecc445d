/** One call in, one result out: arguments, service, view. Nothing here throws. */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type * as z from 'zod';
import type { Configuration } from '../../config/configuration.ts';
import type { Diagnostics } from '../../ports/diagnostics.ts';
import type { ErrorCode } from '../../ports/error-code.ts';
import type { Failure, SessionReply, SessionService } from '../../ports/session-service.ts';
import { checkArguments } from './arguments.ts';
import { MESSAGES } from './messages.ts';
import { capabilitiesView, sessionView, turnView } from './projection.ts';
import { inputSchemas, inputs } from './schemas.ts';
import { TOOLS, type ToolName } from './tools.ts';

export interface ToolDependencies {
  readonly service: SessionService;
  readonly configuration: Configuration;
  readonly diagnostics: Diagnostics;
}

/**
 * A client may send any name; only the eight are ever named back. `cancelled` is the request's own signal: nobody
 * will read the result.
 */
export type CallTool = (name: string, args: unknown, cancelled?: AbortSignal) => Promise<CallToolResult>;

type Success = { readonly ok: true; readonly [field: string]: unknown };
type Outcome = Success | Failure;

interface Operation {
  readonly check: (
    args: unknown,
  ) =>
    | { ok: true; run: (cancelled: AbortSignal | undefined) => Outcome | Promise<Outcome> }
    | { ok: false; message: string };
}

const UNKNOWN_TOOL = `There is no such tool. The tools are ${TOOLS.map((tool) => tool.name).join(', ')}.`;

function result(body: Success | { readonly ok: false; readonly error: object }): CallToolResult {
  return {
    content: [{ type: 'text', text: JSON.stringify(body) }],
    structuredContent: { ...body },
    ...(!body.ok && { isError: true }),
  };
}

function errorResult(code: ErrorCode, message: string = MESSAGES[code]): CallToolResult {
  return result({ ok: false, error: { code, message } });
}

function operation<K extends keyof typeof inputs>(
  input: K,
  run: (value: z.output<(typeof inputs)[K]>, cancelled: AbortSignal | undefined) => Outcome | Promise<Outcome>,
): Operation {
  type Value = z.output<(typeof inputs)[K]>;
  const validator = inputs[input] as unknown as z.ZodType<Value>;
  return {
    check(args) {
      const checked = checkArguments(validator, inputSchemas[input], args);
      return checked.ok ? { ok: true, run: (cancelled) => run(checked.value, cancelled) } : checked;
    },
  };
}

function session(reply: SessionReply): Outcome {
  return reply.ok ? { ok: true, session: sessionView(reply.session) } : reply;
}

function operations({ service, configuration }: ToolDependencies): Readonly<Record<ToolName, Operation>> {
  // The same for the life of the process, and not needed to answer `initialize`.
  let capabilities: Success | undefined;
  return {
    pi_capabilities_get: operation('none', () => {
      capabilities ??= { ok: true, ...capabilitiesView(configuration) };
      return capabilities;
    }),
    pi_session_start: operation('start', async (input, cancelled) => {
      const reply = await service.start(input);
      // Nobody will ever learn its id, and whoever cancelled may well start another.
      if (reply.ok && cancelled?.aborted) void service.close({ sessionId: reply.session.id });
      return session(reply);
    }),
    pi_session_list: operation('none', () => ({ ok: true, sessions: service.list().map(sessionView) })),
    pi_session_get: operation('session', ({ sessionId }) => session(service.get(sessionId))),
    pi_session_prompt: operation('prompt', async (input, cancelled) => {
      const reply = await service.prompt(input);
      // Likewise: a turn that nobody knows of must not go on working.
      if (reply.ok && cancelled?.aborted) void service.abort({ sessionId: input.sessionId });
      return reply.ok ? { ok: true, session: sessionView(reply.session), turn: turnView(reply.turn) } : reply;
    }),
    pi_turn_get: operation('turn', ({ sessionId, turnId }) => {
      const reply = service.turn(sessionId, turnId);
      return reply.ok ? { ok: true, turn: turnView(reply.turn) } : reply;
    }),
    pi_session_abort: operation('session', async (input) => session(await service.abort(input))),
    pi_session_close: operation('session', async (input) => session(await service.close(input))),
  };
}

function outcomeResult(outcome: Outcome): CallToolResult {
  if (outcome.ok) return result(outcome);
  if (!Object.hasOwn(MESSAGES, outcome.code)) throw new Error('a service failed with an undeclared code');
  return errorResult(outcome.code);
}

/** Whatever goes wrong in our own code is `internal_error`, never the client's fault. */
export function createCallTool(dependencies: ToolDependencies): CallTool {
  const byName = new Map<string, Operation>(Object.entries(operations(dependencies)));
  return async (name, args, cancelled) => {
    const found = byName.get(name);
    if (!found) return errorResult('invalid_arguments', UNKNOWN_TOOL);
    try {
      const checked = found.check(args === undefined ? {} : args);
      return checked.ok
        ? outcomeResult(await checked.run(cancelled))
        : errorResult('invalid_arguments', checked.message);
    } catch {
      dependencies.diagnostics.report('error', 'tool_call_defect', { tool: name });
      return errorResult('internal_error');
    }
  };
}
