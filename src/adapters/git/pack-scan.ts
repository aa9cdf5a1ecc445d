/**
 * A look at a pack before git unpacks it: how many objects, how large. A pack of a
 * few kilobytes can unfold to gigabytes, directly or through deltas, and git
 * has no limit for either.
 */
import { inflateSync } from 'node:zlib';

export interface PackCaps {
  readonly objects: number;
  /** Of one object, unfolded. */
  readonly objectBytes: number;
  /** Of all of them. */
  readonly totalBytes: number;
}

export type PackVerdict = 'ok' | 'malformed' | 'too_large';

const HEADER_BYTES = 12;
const TRAILER_BYTES = 20;
const [OFFSET_DELTA, REFERENCE_DELTA] = [6, 7];
const PLAIN = [1, 2, 3, 4];

/** Reads every object of the pack once, within the caps; git checks hashes and links afterwards. */
export function scanPack(pack: Buffer, caps: PackCaps): PackVerdict {
  try {
    return scan(pack, caps);
  } catch {
    return 'malformed';
  }
}

function scan(pack: Buffer, caps: PackCaps): PackVerdict {
  const isPack = pack.length >= HEADER_BYTES + TRAILER_BYTES && pack.toString('latin1', 0, 4) === 'PACK';
  if (!isPack || pack.readUInt32BE(4) !== 2) return 'malformed';
  const count = pack.readUInt32BE(8);
  if (count > caps.objects) return 'too_large';
  const body = pack.subarray(0, pack.length - TRAILER_BYTES);
  let at = HEADER_BYTES;
  let total = 0;
  for (let index = 0; index < count; index += 1) {
    const head = readHead(body, at);
    if (head.size > caps.objectBytes) return 'too_large';
    const { bytes, used } = inflate(body.subarray(head.end), head.size);
    if (bytes.length !== head.size) return 'malformed';
    const size = head.isDelta ? Math.max(head.size, deltaResult(bytes)) : head.size;
    total += size;
    if (size > caps.objectBytes || total > caps.totalBytes) return 'too_large';
    at = head.end + used;
  }
  return at === body.length ? 'ok' : 'malformed';
}

function byte(bytes: Buffer, at: number): number {
  const value = bytes[at];
  if (value === undefined) throw new RangeError('the pack ends inside an object');
  return value;
}

/** Type and size of the object at an offset, and where its data begin. */
function readHead(
  pack: Buffer,
  start: number,
): { readonly size: number; readonly isDelta: boolean; readonly end: number } {
  let at = start;
  const first = byte(pack, at);
  const type = (first >> 4) & 7;
  const rest = first & 0x80 ? readNumber(pack, at + 1) : { value: 0, end: at + 1 };
  at = rest.end;
  const size = (first & 15) + rest.value * 16;
  if (type === REFERENCE_DELTA) at += 20;
  else if (type === OFFSET_DELTA) {
    while (byte(pack, at) & 0x80) at += 1;
    at += 1;
  } else if (!PLAIN.includes(type)) throw new RangeError('no such type of object');
  return { size, isDelta: type === REFERENCE_DELTA || type === OFFSET_DELTA, end: at };
}

/** Seven bits a byte, the lowest first. Larger than any cap is as good as exact. */
function readNumber(bytes: Buffer, start: number): { readonly value: number; readonly end: number } {
  let [value, at, scale] = [0, start, 1];
  for (;;) {
    const next = byte(bytes, at);
    value += (next & 0x7f) * scale;
    scale *= 128;
    at += 1;
    if (!(next & 0x80)) return { value, end: at };
  }
}

/** A delta begins with the sizes of its base and of what comes of it. */
function deltaResult(delta: Buffer): number {
  return readNumber(delta, readNumber(delta, 0).end).value;
}

function inflate(data: Buffer, size: number): { readonly bytes: Buffer; readonly used: number } {
  const { buffer, engine } = inflateSync(data, { info: true, maxOutputLength: size + 1 }) as unknown as {
    readonly buffer: Buffer;
    readonly engine: { readonly bytesWritten: number };
  };
  return { bytes: buffer, used: engine.bytesWritten };
}
