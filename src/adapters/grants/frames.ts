/** One line of a server's output: a protocol message, or noise. */
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { IssueLog } from '../../config/issues.ts';
import { parseStrictJson } from '../../config/strict-json.ts';
import { isRecord } from './records.ts';

/** An error that may pass has at most 1 KiB; with every character escaped it still fits into this. */
const MAX_ERROR_LINE = 16 * 1024;

const MAYBE_SURROGATE = /\\u[dD][89a-fA-F]/;

/** Half a surrogate pair would make our own next request to the provider one that strict parsers refuse. */
const wellFormed = (_: string, value: unknown): unknown => (typeof value === 'string' ? value.toWellFormed() : value);

function parse(text: string): unknown {
  try {
    return MAYBE_SURROGATE.test(text) ? JSON.parse(text, wellFormed) : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** `JSON.parse` keeps the last of two equal keys and tells nobody. */
function isUnambiguous(text: string): boolean {
  return text.length <= MAX_ERROR_LINE && parseStrictJson(Buffer.from(text), new IssueLog('configuration')).ok;
}

/** Nothing when the line is no message. A failed result that could be read in two ways loses what it says. */
export function readFrame(text: string): JSONRPCMessage | undefined {
  const value = parse(text);
  if (!isRecord(value) || value['jsonrpc'] !== '2.0') return undefined;
  const { result } = value;
  if (!isRecord(result) || result['isError'] !== true || isUnambiguous(text)) return value as JSONRPCMessage;
  return { ...value, result: { content: [], isError: true } } as unknown as JSONRPCMessage;
}

/** An answer to a request of ours, as opposed to what a server says unasked. */
export function isAnswer(message: JSONRPCMessage): boolean {
  return 'result' in message || 'error' in message;
}
