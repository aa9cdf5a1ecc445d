/** Is a writer still what the operator's files ask for? Its configuration is made once, and never changed under it. */

import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { readRegularFile } from '../adapters/fs/regular-file.ts';
import { DEFAULT_IMAGE } from '../config/configuration.ts';
import type { SettingName } from '../ports/setup/target.ts';
import type { NetworkKind } from '../ports/writers/boundary.ts';
import {
  type ContainedConfiguration,
  type ContainedRequest,
  containedConfiguration,
  DEFAULT_PROFILE,
} from './contained-configuration.ts';
import type { WriterPlaces } from './places.ts';
import { readRecord } from './record.ts';

const MAX_BYTES = 1_048_576;

/** What a box may get where this is asked for; the first is best. */
export function suitableNetworks(wanted: NetworkKind): readonly NetworkKind[] {
  return wanted === 'pasta' ? ['pasta', 'slirp4netns'] : [wanted];
}

/** Never throws. Of a writer that is completely made. */
export function isAsConfigured(places: WriterPlaces, request: ContainedRequest): boolean {
  return changedSettings(places, request).length === 0;
}

/** What is asked for now and is not what the writer was made with. Never throws. Of a writer that is completely made. */
export function changedSettings({ directory, server }: WriterPlaces, request: ContainedRequest): SettingName[] {
  const wanted = containedConfiguration(request);
  const recorded = readRecord(directory);
  const { container } = request.workspace;
  if (recorded === undefined || container === undefined) return ['configuration'];
  const { network, root, cache = 'none' } = recorded.writer;
  const image = root.kind === 'tree' ? root.image : DEFAULT_IMAGE;
  const changed: [SettingName, boolean][] = [
    // Those that no box can have are none that it was made with.
    ...(wanted ? changesOf(server, wanted) : [['profiles', true] as [SettingName, boolean]]),
    ['image', image !== container.image],
    ['network', !suitableNetworks(container.network).includes(network)],
    ['cache', cache !== container.cache],
  ];
  return changed.flatMap(([name, isChanged]) => (isChanged ? [name] : []));
}

function changesOf(server: string, { configuration, modes }: ContainedConfiguration): [SettingName, boolean][] {
  const text = textOf(join(server, 'config.json'));
  const [had, wanted] = [profilesOf(text), profilesOf(configuration)];
  const areOthers = text !== undefined && !isDeepStrictEqual(Object.keys(had), Object.keys(wanted));
  const common = Object.keys(wanted).filter((alias) => Object.hasOwn(had, alias));
  const isChanged = common.some((alias) => !isDeepStrictEqual(had[alias], wanted[alias]));
  return [
    ['profiles', areOthers],
    // With other profiles the rest of the text is another one, too.
    [
      'configuration',
      isChanged || (!areOthers && text !== configuration) || textOf(join(server, 'execution-modes.json')) !== modes,
    ],
  ];
}

/** Without the default one, which follows from the others. */
function profilesOf(text: string | undefined): Readonly<Record<string, unknown>> {
  try {
    const { executionProfiles = {} } = JSON.parse(text ?? '') as { executionProfiles?: Record<string, unknown> };
    const { [DEFAULT_PROFILE]: _, ...profiles } = executionProfiles;
    return profiles;
  } catch {
    return {};
  }
}

function textOf(path: string): string | undefined {
  const read = readRegularFile(path, MAX_BYTES);
  return read.ok ? read.bytes.toString('utf8') : undefined;
}
