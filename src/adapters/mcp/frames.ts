/**
 * What one line is, and what may go out. Every error that leaves carries a fixed
 * text for its code: the SDK's texts quote what the client sent.
 */
import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  type JSONRPCMessage,
  type RequestId,
} from '@modelcontextprotocol/sdk/types.js';
import { PROTOCOL_MESSAGES } from './messages.ts';

const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;
const INTERNAL_ERROR = -32603;

export interface ErrorFrame {
  readonly jsonrpc: '2.0';
  readonly id: RequestId | null;
  readonly error: { readonly code: number; readonly message: string };
}

export type Inbound =
  | { readonly kind: 'message'; readonly message: JSONRPCMessage }
  | { readonly kind: 'rejected'; readonly answer: ErrorFrame }
  /** Nothing to do and nothing to answer: an empty line, or a reply to a request that we never send. */
  | { readonly kind: 'ignored' };

function errorFrame(code: number, id: RequestId | null, message = PROTOCOL_MESSAGES[code] ?? ''): ErrorFrame {
  return { jsonrpc: '2.0', id, error: { code, message } };
}

function rejected(code: number, id: RequestId | null): Inbound {
  return { kind: 'rejected', answer: errorFrame(code, id) };
}

function readableId(value: unknown): RequestId | null {
  return typeof value === 'string' || Number.isSafeInteger(value) ? (value as RequestId) : null;
}

/** Classifies one line of input; total, also over nonsense. */
export function readFrame(line: string): Inbound {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return line.trim() === '' ? { kind: 'ignored' } : rejected(PARSE_ERROR, null);
  }
  if (typeof value !== 'object' || value === null) return rejected(INVALID_REQUEST, null);
  if (isJSONRPCRequest(value) || isJSONRPCNotification(value)) return { kind: 'message', message: value };
  // Answering a malformed reply with its id would answer a request of the client that has the same id.
  if (!Object.hasOwn(value, 'method') && (Object.hasOwn(value, 'result') || Object.hasOwn(value, 'error'))) {
    return { kind: 'ignored' };
  }
  return rejected(INVALID_REQUEST, readableId((value as { id?: unknown }).id));
}

const ID = String.raw`"id"\s*:\s*(-?\d{1,15}|"[\w.:-]{1,128}")\s*`;
const ID_FIRST = new RegExp(String.raw`^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?${ID},`);
/** A member right before the brace that ends the line belongs to the outermost object. */
const ID_LAST = new RegExp(String.raw`[,{]\s*${ID}\}\s*$`);

/** The answer to a line that was dropped for its size, with its id where one of the edges shows it. */
export function oversizeAnswer(head: string, tail: string): ErrorFrame {
  // Without a method it is no request but perhaps a reply, whose id must not be answered.
  const isRequest = head.includes('"method"');
  const found = isRequest ? (ID_FIRST.exec(head)?.[1] ?? ID_LAST.exec(tail)?.[1]) : undefined;
  const id = found === undefined ? null : readableId(JSON.parse(found));
  return errorFrame(INVALID_REQUEST, id, 'Request is too large');
}

/** What the SDK wants to send, with our text instead of its own and without its data. */
export function sanitized(message: JSONRPCMessage): JSONRPCMessage | ErrorFrame {
  if (!('error' in message)) return message;
  const { code } = message.error;
  return errorFrame(Object.hasOwn(PROTOCOL_MESSAGES, code) ? code : INTERNAL_ERROR, message.id ?? null);
}

/** The line for one outgoing message. */
export function writeFrame(message: JSONRPCMessage | ErrorFrame): string {
  try {
    return `${JSON.stringify(message)}\n`;
  } catch (error) {
    // A result that cannot be written is our defect, and the client still waits for its answer.
    if ('result' in message) return `${JSON.stringify(errorFrame(INTERNAL_ERROR, message.id))}\n`;
    throw error;
  }
}
