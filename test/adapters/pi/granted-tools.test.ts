import { expect, it } from 'vitest';
import { grantedTools } from '../../../src/adapters/pi/granted-tools.ts';
import type { CallReply, GrantsPort } from '../../../src/ports/grants.ts';

function execute(reply: CallReply) {
  const grants: Pick<GrantsPort, 'tools' | 'call'> = {
    tools: () => [{ name: 'mcp_a_do', description: '', inputSchema: { type: 'object' } }],
    call: async () => reply,
  };
  const [tool] = grantedTools(grants as GrantsPort, 's1');
  if (!tool) throw new Error('no tool');
  return tool.execute('call', {} as never, undefined, undefined, undefined as never);
}

it.each([
  ['failed', 'The external tool failed.'],
  ['timeout', 'The external tool did not answer within 30 seconds.'],
  ['cancelled', 'The call was cancelled.'],
  ['unavailable', 'The external tool is no longer available in this session.'],
  ['result_too_large', expect.stringMatching(/limit of 262144 bytes.*Ask for less/)],
  ['source_too_large', expect.stringMatching(/cannot read a source that large.*Ask for less/)],
] as const)('a call that is %s is an error, in these words', async (reason, text) => {
  expect(await execute({ ok: false, reason })).toMatchObject({ isError: true, content: [{ type: 'text', text }] });
});

it('a result is none', async () => {
  const content = [{ type: 'text', text: 'result' }] as const;
  const result = await execute({ ok: true, content });
  expect(result).toMatchObject({ content });
  expect(result).not.toHaveProperty('isError');
});
