/**
 * The floor of the server benchmarks: the least that the MCP SDK's documentation
 * shows, unbundled. JavaScript, so that no type stripping is charged to it.
 */
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import * as z from 'zod';

const server = new McpServer({ name: 'bare', version: '1.0.0' });
server.registerTool('look', { description: 'Answers.', inputSchema: { id: z.string() } }, ({ id }) => {
  const body = { ok: true, id };
  return { content: [{ type: 'text', text: JSON.stringify(body) }], structuredContent: body };
});
await server.connect(new StdioServerTransport());
