/**
 * The floor of the session benchmarks: raw Pi sessions behind a bare MCP server,
 * with one tool for each step of the exchange and not one check.
 */
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import * as z from 'zod';
import { createSession, openPi } from './raw-pi.mjs';

const pi = await openPi(process.env.PI_CODING_AGENT_DIR);
const cwd = process.argv[2];
const sessions = new Map();
let count = 0;
const server = new McpServer({ name: 'raw', version: '1.0.0' });

function tool(name, inputSchema, run) {
  server.registerTool(name, { description: name, inputSchema }, async (input) => {
    const body = await run(input);
    return { content: [{ type: 'text', text: JSON.stringify(body) }], structuredContent: body };
  });
}

tool('start', {}, async () => {
  count += 1;
  const id = String(count);
  sessions.set(id, { session: await createSession(pi, cwd), done: true });
  return { id };
});
tool('prompt', { id: z.string(), prompt: z.string() }, async ({ id, prompt }) => {
  const entry = sessions.get(id);
  entry.done = false;
  await new Promise((resolve, reject) => {
    entry.session.prompt(prompt, { expandPromptTemplates: false, source: 'rpc', preflightResult: resolve }).then(() => {
      entry.done = true;
    }, reject);
  });
  return { id };
});
tool('poll', { id: z.string() }, ({ id }) => {
  const { session, done } = sessions.get(id);
  return done ? { done, text: session.getLastAssistantText() } : { done };
});
tool('close', { id: z.string() }, ({ id }) => {
  sessions.get(id).session.dispose();
  sessions.delete(id);
  return {};
});
await server.connect(new StdioServerTransport());
