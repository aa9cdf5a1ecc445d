import { truncateSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readRegularFile } from '../../../src/adapters/fs/regular-file.ts';
import { scratch, write } from './lab.ts';

it('reads a file of exactly the limit, and none that grows beyond it while it is read', () => {
  const path = join(write(scratch(), { file: '12345' }), 'file');
  const read = readRegularFile(path, 5);
  expect(read.ok && read.bytes.toString()).toBe('12345');
  const grown = readRegularFile(path, 5, () => {
    truncateSync(path, 200_000);
    return true;
  });
  expect(grown).toEqual({ ok: false, reason: 'refused' });
});
