/** OpenAI's responses, as Codex speaks them. */
import { type Step, textOf, type WireTo } from './wire.ts';

const USAGE = {
  input_tokens: 10,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 5,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 15,
};

/** Codex calls a tool by its name in the server's namespace, never by both in one. */
function callOf(server: string, step: Step): object | undefined {
  if (step.kind === 'mcp') {
    const namespace = `mcp__${server.replaceAll('-', '_')}`;
    return { name: step.tool, namespace, arguments: JSON.stringify(step.args) };
  }
  if (step.kind === 'shell') return { name: 'exec_command', arguments: JSON.stringify({ cmd: step.command }) };
  if (step.kind === 'skill') {
    const cmd = `cat "$HOME/.agents/skills/${step.name}/SKILL.md"`;
    return { name: 'exec_command', arguments: JSON.stringify({ cmd }) };
  }
  return undefined;
}

interface Item {
  readonly type: string;
  readonly call_id?: string;
  readonly output?: unknown;
}

export const responses: WireTo = (server) => ({
  path: '/v1/responses',
  answer(step, id) {
    const call = callOf(server, step);
    const content = [{ type: 'output_text', text: step.kind === 'say' ? step.text : '' }];
    const item = call
      ? { type: 'function_call', id: `fc_${id}`, call_id: id, ...call }
      : { type: 'message', id: `m_${id}`, role: 'assistant', content };
    return [
      { type: 'response.created', response: { id: `resp_${id}` } },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: { id: `resp_${id}`, usage: USAGE } },
    ];
  },
  resultOf(request, id) {
    const items = (request['input'] ?? []) as readonly Item[];
    const found = items.find((item) => item.type === 'function_call_output' && item.call_id === id);
    return found && textOf(found.output);
  },
});
