/** Is a writer still what the operator's files ask for? Its configuration is made once, and never changed under it. */

import { join } from 'node:path';
import { readRegularFile } from '../adapters/fs/regular-file.ts';
import { DEFAULT_IMAGE } from '../config/configuration.ts';
import type { NetworkKind } from '../ports/writers/boundary.ts';
import { type ContainedRequest, containedConfiguration } from './contained-configuration.ts';
import type { WriterPlaces } from './places.ts';
import { readRecord } from './record.ts';

const MAX_BYTES = 1_048_576;

/** What a box may get where this is asked for; the first is best. */
export function suitableNetworks(wanted: NetworkKind): readonly NetworkKind[] {
  return wanted === 'pasta' ? ['pasta', 'slirp4netns'] : [wanted];
}

/** Never throws. Of a writer that is completely made. */
export function isAsConfigured({ directory, server }: WriterPlaces, request: ContainedRequest): boolean {
  const wanted = containedConfiguration(request);
  const recorded = readRecord(directory);
  const { container } = request.workspace;
  if (wanted === undefined || recorded === undefined || container === undefined) return false;
  const { network, root, cache = 'none' } = recorded.writer;
  return (
    suitableNetworks(container.network).includes(network) &&
    (root.kind === 'tree' ? root.image : DEFAULT_IMAGE) === container.image &&
    cache === container.cache &&
    holds(join(server, 'config.json'), wanted.configuration) &&
    holds(join(server, 'execution-modes.json'), wanted.modes)
  );
}

function holds(path: string, text: string): boolean {
  const read = readRegularFile(path, MAX_BYTES);
  return read.ok && read.bytes.toString('utf8') === text;
}
