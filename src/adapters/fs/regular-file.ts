/** Reading through descriptors: what was checked is what is read, and no link or device is ever opened by accident. */
import { type BigIntStats, closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

/** Never through a link in the last place; non-blocking, because a FIFO without a writer would hang. */
const READ_NO_LINK = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

export type RegularRead =
  | { readonly ok: true; readonly bytes: Buffer; readonly stat: BigIntStats }
  /** `refused`: a link, not a regular file, too large, not allowed by `accept`, or unreadable. */
  | { readonly ok: false; readonly reason: 'missing' | 'refused' };

/** The bytes of a regular file of at most `limit` bytes that `accept` agrees to. Never throws. */
export function readRegularFile(
  path: string,
  limit: number,
  accept: (stat: BigIntStats) => boolean = () => true,
): RegularRead {
  let descriptor: number;
  try {
    descriptor = openSync(path, READ_NO_LINK);
  } catch (error) {
    return { ok: false, reason: codeOf(error) === 'ENOENT' ? 'missing' : 'refused' };
  }
  try {
    const stat = fstatSync(descriptor, { bigint: true });
    if (!stat.isFile() || stat.size > BigInt(limit) || !accept(stat)) return { ok: false, reason: 'refused' };
    const bytes = readBounded(descriptor, limit, Number(stat.size));
    return bytes.length > limit ? { ok: false, reason: 'refused' } : { ok: true, bytes, stat };
  } catch {
    return { ok: false, reason: 'refused' };
  } finally {
    closeSync(descriptor);
  }
}

/** Device and inode: two paths with the same one are the same thing. */
export function identityOf({ dev, ino }: Pick<BigIntStats, 'dev' | 'ino'>): string {
  return `${dev}:${ino}`;
}

/** The `code` of a file system error, if it is one. */
export function codeOf(error: unknown): string | undefined {
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  return typeof code === 'string' ? code : undefined;
}

/**
 * One byte more than `limit` at most: a file may grow while it is read. Its size is where to begin: a buffer of a
 * fixed size for each of hundreds of small files is memory that has to be collected again.
 */
function readBounded(descriptor: number, limit: number, size: number): Buffer {
  let buffer = Buffer.allocUnsafe(Math.min(size, limit) + 1);
  let length = 0;
  while (length <= limit) {
    if (length === buffer.length) buffer = Buffer.concat([buffer], Math.min(2 * length, limit + 1));
    const count = readSync(descriptor, buffer, length, buffer.length - length, null);
    if (count === 0) break;
    length += count;
  }
  return buffer.subarray(0, length);
}
