/**
 * What the demo's model "thinks". It sees what any model would see, the request
 * alone, so that whatever it says about a file it must have got through a tool.
 */
import type { ChatMessage, RecordedRequest, ScriptedStep, ScriptedToolCall } from './scripted-model.ts';

function textOf(message: ChatMessage | undefined): string {
  const content = message?.content;
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return (content as readonly { readonly text?: string }[]).map((part) => part.text ?? '').join('');
}

function call(name: string, args: ScriptedToolCall['args']): ScriptedStep {
  return { tools: [{ name, args }] };
}

/** The quoted words of a prompt: file names and texts are given that way. */
function quoted(prompt: string): string[] {
  return [...prompt.matchAll(/"([^"]*)"/g)].map(([, text]) => text ?? '');
}

function onPrompt(prompt: string, asked: readonly string[]): ScriptedStep {
  const [first = '', second = '', third = ''] = quoted(prompt);
  if (/^wait/i.test(prompt)) return { hang: 'after-headers' };
  if (/^read/i.test(prompt) && first) return call('read', { path: first });
  if (/^write/i.test(prompt) && first) return call('write', { path: first, content: `${second}\n` });
  if (/^replace/i.test(prompt) && third)
    return call('edit', { path: third, edits: [{ oldText: first, newText: second }] });
  if (/^what did i ask/i.test(prompt)) return { text: `You asked: ${asked.at(-2) ?? 'nothing'}` };
  return { text: `I am a script. You wrote: ${prompt}` };
}

function onToolResult(prompt: string, result: string, tool: string | undefined): ScriptedStep {
  // After the edit the shell counts, so that a coding turn shows both of its powers.
  if (tool === 'edit') return call('bash', { command: `grep -c "${quoted(prompt)[1]}" "${quoted(prompt)[2]}"` });
  if (tool === 'bash') return { text: `Changed. grep counts ${result.trim().split('\n')[0]} line with the new text.` };
  if (tool === 'read') return { text: `The last line is: ${result.trim().split('\n').at(-1)}` };
  return { text: `${tool ?? 'tool'} answered: ${result.trim().split('\n')[0]}` };
}

/** The name of the tool whose result ends the conversation so far. */
function lastTool(messages: readonly ChatMessage[]): string | undefined {
  const calls = messages.findLast((message) => message.role === 'assistant')?.tool_calls;
  return (calls?.at(-1) as { readonly function?: { readonly name?: string } } | undefined)?.function?.name;
}

/** Chooses the next step by the request alone. */
export function demoScript({ messages }: RecordedRequest): ScriptedStep {
  const asked = messages.filter((message) => message.role === 'user').map(textOf);
  const prompt = asked.at(-1) ?? '';
  const last = messages.at(-1);
  return last?.role === 'tool' ? onToolResult(prompt, textOf(last), lastTool(messages)) : onPrompt(prompt, asked);
}
