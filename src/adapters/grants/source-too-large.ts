/**
 * The one error that a server can tell a model about: that the source is too
 * large. Recognized strictly, because whatever is recognized changes what the
 * model does next. Not even then do the server's words pass.
 */
import { isDeepStrictEqual } from 'node:util';
import { IssueLog } from '../../config/issues.ts';
import { parseStrictJson } from '../../config/strict-json.ts';
import { isRecord, jsonBytes } from './records.ts';

const CODE = 'SOURCE_TOO_LARGE';
const MAX_BYTES = 1024;
const MAX_MESSAGE = 200;

const CONTROL = /[\p{C}\p{Zl}\p{Zp}]/u;
const PATH_OR_URL = /[/\\]|:\/\//;
/** `example.com`, `a.b.c`, `10.0.0.1`; also file names, which say no less about a place. */
const DOMAIN = /[\p{L}\p{N}_-]\.[\p{L}\p{N}]/u;

interface FailedResult {
  readonly content: readonly { readonly type: string; readonly text?: unknown }[];
  readonly structuredContent?: unknown;
}

function isMessage(message: unknown): boolean {
  if (typeof message !== 'string') return false;
  const { length } = [...message];
  const saysTooMuch = CONTROL.test(message) || PATH_OR_URL.test(message) || DOMAIN.test(message);
  return length >= 1 && length <= MAX_MESSAGE && !saysTooMuch;
}

function isEnvelope(value: unknown): boolean {
  if (!isRecord(value) || jsonBytes(value) > MAX_BYTES) return false;
  const isClosed = Object.keys(value).sort().join() === 'code,message';
  return isClosed && value['code'] === CODE && isMessage(value['message']);
}

/** The envelope of a text block; undefined for anything else, a repeated key included. */
function readText({ type, text }: FailedResult['content'][number]): unknown {
  if (type !== 'text' || typeof text !== 'string' || Buffer.byteLength(text) > MAX_BYTES) return undefined;
  const parsed = parseStrictJson(Buffer.from(text), new IssueLog('configuration'));
  return parsed.ok ? parsed.value : undefined;
}

/** Every form of the failed result is the envelope, there is at least one, and all of them agree. */
export function isSourceTooLarge({ content, structuredContent }: FailedResult): boolean {
  if (content.length > 1) return false;
  const forms = content.map(readText);
  if (structuredContent !== undefined) forms.push(structuredContent);
  const [first] = forms;
  return forms.length > 0 && forms.every((form) => isEnvelope(form) && isDeepStrictEqual(form, first));
}
