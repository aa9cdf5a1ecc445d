/** Anthropic's messages, as Claude Code speaks them. */
import { type Step, textOf, type WireTo } from './wire.ts';

const USAGE = { input_tokens: 10, output_tokens: 5 };

function callOf(server: string, step: Step): { readonly name: string; readonly input: object } | undefined {
  if (step.kind === 'mcp') return { name: `mcp__${server}__${step.tool}`, input: step.args };
  if (step.kind === 'shell') return { name: 'Bash', input: { command: step.command, description: 'A check' } };
  if (step.kind === 'skill') return { name: 'Skill', input: { skill: step.name } };
  return undefined;
}

interface Block {
  readonly type: string;
  readonly tool_use_id?: string;
  readonly content?: unknown;
}

export const anthropic: WireTo = (server) => ({
  path: '/v1/messages',
  answer(step, id) {
    const message = {
      id: `msg_${id}`,
      type: 'message',
      role: 'assistant',
      model: 'scripted',
      content: [],
      usage: USAGE,
    };
    const call = callOf(server, step);
    const text = step.kind === 'say' ? step.text : '';
    const [content_block, delta] = call
      ? [
          { type: 'tool_use', id, name: call.name, input: {} },
          { type: 'input_json_delta', partial_json: JSON.stringify(call.input) },
        ]
      : [
          { type: 'text', text: '' },
          { type: 'text_delta', text },
        ];
    const end = { stop_reason: call ? 'tool_use' : 'end_turn', stop_sequence: null };
    return [
      { type: 'message_start', message: { ...message, stop_reason: null, stop_sequence: null } },
      { type: 'content_block_start', index: 0, content_block },
      { type: 'content_block_delta', index: 0, delta },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: end, usage: USAGE },
      { type: 'message_stop' },
    ];
  },
  resultOf(request, id) {
    const messages = (request['messages'] ?? []) as readonly { readonly content: string | readonly Block[] }[];
    const blocks = messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content));
    const at = blocks.findIndex((block) => block.type === 'tool_result' && block.tool_use_id === id);
    if (at < 0) return undefined;
    // The text of a skill comes behind the result, as a message of its own.
    const rest = blocks.slice(at + 1).map((block) => textOf([block]));
    return [textOf(blocks[at]?.content), ...rest].join('\n').trim();
  },
});
