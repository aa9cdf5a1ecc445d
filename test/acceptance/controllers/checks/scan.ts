/** Looks through every result of the server for what must never be in one. */
import type { Evidence } from '../evidence.ts';

export interface Scan {
  readonly results: number;
  /** Results that are no JSON, or whose text and structured forms differ. */
  readonly foreign: number;
  readonly paths: number;
  readonly tokens: number;
  readonly credentials: number;
  /** The same in `assistantText`, which is a third party's: counted, not forbidden. */
  readonly inAssistantText: number;
}

/** An absolute path of two parts or more, or one of the home directory. */
const LOCAL_PATH = /(?:^|[\s"'`=(:,])(?:file:\/\/)?(?:~|\/[\w.@ -]+)\/[\w.@-]/;
const CREDENTIAL = /\bsk-[a-z0-9]|bearer\s|PRIVATE KEY|(?:api[_-]?key|secret|password|authorization)["']?\s*[:=]/i;

interface Parts {
  readonly rest: string;
  readonly assistant: string;
}

/** As JSON, where names stand beside values, and each text for itself, without escapes. */
function partsOf(value: unknown): Parts {
  const assistant: string[] = [];
  const texts: string[] = [];
  const json = JSON.stringify(value, (key, part: unknown) => {
    if (key === 'assistantText') {
      assistant.push(String(part));
      return undefined;
    }
    if (typeof part === 'string') texts.push(part);
    return part;
  });
  return { rest: [json, ...texts].join('\n'), assistant: assistant.join('\n') };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

export function scan({ controller, made }: Evidence): Scan {
  const calls = controller.calls.flatMap((call) => (call.kind === 'mcp' ? [call] : []));
  const texts = calls.flatMap(({ results }) => results);
  const parts = texts.map((text) => partsOf(parse(text) ?? text));
  const hasPath = (text: string) => LOCAL_PATH.test(text) || made.paths.some((path) => text.includes(path));
  const hasToken = (text: string) => text.includes(made.token);
  const hasCredential = (text: string) => CREDENTIAL.test(text) || made.credentials.some((key) => text.includes(key));
  const count = (test: (text: string) => boolean) => parts.filter(({ rest }) => test(rest)).length;
  const mentions = parts.filter(({ assistant }) => [hasPath, hasToken, hasCredential].some((test) => test(assistant)));
  const foreign = calls.filter(
    ({ results }) => results.length === 0 || results.some((text) => !parse(text) || text !== results[0]),
  );
  return {
    results: texts.length,
    foreign: foreign.length,
    paths: count(hasPath),
    tokens: count(hasToken),
    credentials: count(hasCredential),
    inAssistantText: mentions.length,
  };
}
