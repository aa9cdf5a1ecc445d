/**
 * The MCP server on the SDK's low-level class: the high-level one drops schemas
 * and answers bad arguments with text of its own.
 */
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  ErrorCode,
  type JSONRPCRequest,
  type ListToolsResult,
  McpError,
  type ServerResult,
} from '@modelcontextprotocol/sdk/types.js';
import { SERVER_NAME, SERVER_VERSION } from '../../version.ts';
import { PROTOCOL_MESSAGES } from './messages.ts';
import { type CallTool, createCallTool, type ToolDependencies } from './tool-calls.ts';
import { INSTRUCTIONS, TOOLS } from './tools.ts';

/** We send no elicitation, so nothing is ever validated; building Ajv would cost start-up time. */
const NO_VALIDATOR = {
  getValidator(): never {
    throw new Error('this server validates no client answers');
  },
};

/** The SDK's type wants mutable arrays all the way down. */
const TOOL_LIST = { tools: TOOLS } as unknown as ListToolsResult;

class PiSessionServer extends Server {
  /** A request that asks for task augmentation is handled like any other: we declare no tasks. */
  protected override assertTaskHandlerCapability(): void {}
}

function protocolError(code: number): McpError {
  return new McpError(code, PROTOCOL_MESSAGES[code] ?? '');
}

async function handle(request: JSONRPCRequest, callTool: CallTool, cancelled: AbortSignal): Promise<ServerResult> {
  if (request.method === 'tools/list') return TOOL_LIST;
  if (request.method !== 'tools/call') throw protocolError(ErrorCode.MethodNotFound);
  const name = request.params?.['name'];
  if (typeof name !== 'string') throw protocolError(ErrorCode.InvalidParams);
  return callTool(name, request.params?.['arguments'], cancelled);
}

/** A server that is ready to connect; it starts nothing and reads nothing until then. */
export function createMcpServer(dependencies: ToolDependencies): Server {
  const server = new PiSessionServer(
    { name: SERVER_NAME, version: SERVER_VERSION },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS, jsonSchemaValidator: NO_VALIDATOR },
  );
  const callTool = createCallTool(dependencies);
  // The fallback is the only hook that gets a request as it was sent: registered handlers see
  // what is left after the SDK's parse, and bad arguments would be answered before we see them.
  server.fallbackRequestHandler = (request, { signal }) => handle(request, callTool, signal);
  return server;
}
