/** One JSON value a line, over a pipe between two processes of this package. */
import { StringDecoder } from 'node:string_decoder';

/** Splits a stream of bytes; what comes after the last line end is no line. */
export function createLineSplitter(onLine: (line: string) => void): (bytes: Buffer) => void {
  const decoder = new StringDecoder('utf8');
  let parts: string[] = [];
  return (bytes) => {
    const [first = '', ...more] = decoder.write(bytes).split('\n');
    parts.push(first);
    for (const next of more) {
      onLine(parts.join(''));
      parts = [next];
    }
  };
}

/** Undefined for what is no JSON. */
export function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
