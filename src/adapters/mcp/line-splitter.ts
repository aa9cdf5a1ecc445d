/**
 * Cuts the incoming bytes into lines. Own instead of the SDK's buffer, which
 * copies everything again with each chunk and ends the connection on a long line.
 */
const NEWLINE = 0x0a;
const EDGE_BYTES = 512;
const KEEP_CAPACITY = 256 * 1024;

export interface LineHandler {
  line(text: string): void;
  /** A line over the limit was dropped; its edges may tell which request it was. */
  oversize(head: string, tail: string): void;
}

export class LineSplitter {
  readonly #maxBytes: number;
  readonly #handler: LineHandler;
  /** Bytes of a line whose end has not come yet. */
  #pending = Buffer.alloc(0);
  #length = 0;
  /** Set while a line that is too long runs on. */
  #dropping: { readonly head: Buffer; tail: Buffer } | undefined;

  constructor(maxBytes: number, handler: LineHandler) {
    this.#maxBytes = maxBytes;
    this.#handler = handler;
  }

  /** Calls back for each line that ends in this chunk. */
  push(chunk: Buffer): void {
    let start = 0;
    for (;;) {
      const newline = chunk.indexOf(NEWLINE, start);
      if (newline === -1) break;
      this.#finish(chunk.subarray(start, newline));
      start = newline + 1;
    }
    if (start < chunk.length) this.#keep(chunk.subarray(start));
  }

  /** Forgets an unfinished line. */
  clear(): void {
    this.#pending = Buffer.alloc(0);
    this.#length = 0;
    this.#dropping = undefined;
  }

  #finish(rest: Buffer): void {
    if (this.#length === 0 && !this.#dropping && rest.length <= this.#maxBytes) {
      this.#handler.line(rest.toString('utf8'));
      return;
    }
    this.#keep(rest);
    const dropped = this.#dropping;
    const text = dropped ? '' : this.#pending.toString('utf8', 0, this.#length);
    this.#length = 0;
    this.#dropping = undefined;
    if (this.#pending.length > KEEP_CAPACITY) this.#pending = Buffer.alloc(0);
    if (dropped) this.#handler.oversize(dropped.head.toString('latin1'), dropped.tail.toString('latin1'));
    else this.#handler.line(text);
  }

  #keep(part: Buffer): void {
    if (this.#dropping) {
      this.#dropping.tail = lastBytes(this.#dropping.tail, part);
      return;
    }
    if (this.#length + part.length <= this.#maxBytes) {
      this.#append(part);
      return;
    }
    const seen = this.#pending.subarray(0, this.#length);
    const head = Buffer.concat([seen.subarray(0, EDGE_BYTES), part.subarray(0, EDGE_BYTES)]).subarray(0, EDGE_BYTES);
    this.#dropping = { head, tail: lastBytes(seen, part) };
    this.#pending = Buffer.alloc(0);
    this.#length = 0;
  }

  #append(part: Buffer): void {
    const needed = this.#length + part.length;
    if (needed > this.#pending.length) {
      // Doubling, so that a line that drips in byte by byte is copied a fixed number of times.
      const grown = Buffer.allocUnsafe(Math.max(needed, this.#pending.length * 2));
      this.#pending.copy(grown, 0, 0, this.#length);
      this.#pending = grown;
    }
    part.copy(this.#pending, this.#length);
    this.#length = needed;
  }
}

/** A copy, so that a dropped chunk is not kept alive by its edge. */
function lastBytes(before: Buffer, part: Buffer): Buffer {
  const joined = part.length >= EDGE_BYTES ? part : Buffer.concat([before.subarray(-EDGE_BYTES), part]);
  return Buffer.from(joined.subarray(-EDGE_BYTES));
}
