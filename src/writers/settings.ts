/** Is a writer still what the operator's files ask for? Its configuration is made once, and never changed under it. */

import { join } from 'node:path';
import { readRegularFile } from '../adapters/fs/regular-file.ts';
import { type ContainedRequest, containedConfiguration } from './contained-configuration.ts';
import type { WriterPlaces } from './places.ts';
import { readRecord } from './record.ts';

const MAX_BYTES = 1_048_576;

/** Never throws. Of a writer that is completely made. */
export function isAsConfigured({ directory, server }: WriterPlaces, request: ContainedRequest): boolean {
  const wanted = containedConfiguration(request);
  const network = readRecord(directory)?.writer.network;
  if (wanted === undefined || network === undefined) return false;
  const isNetwork = (network === 'none') === (request.workspace.container?.network === 'none');
  return (
    isNetwork &&
    holds(join(server, 'config.json'), wanted.configuration) &&
    holds(join(server, 'execution-modes.json'), wanted.modes)
  );
}

function holds(path: string, text: string): boolean {
  const read = readRegularFile(path, MAX_BYTES);
  return read.ok && read.bytes.toString('utf8') === text;
}
