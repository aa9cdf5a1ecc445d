import type { Configuration } from '../../config/configuration.ts';
import type { DoctorCheck } from '../model.ts';
import { judge, passed } from '../remedies.ts';
import { hasCodingProfile } from './workspaces.ts';

/** Has the operator chosen, for each workspace, whether coding may write there? */
export function checkModes(configuration: Configuration): readonly DoctorCheck[] {
  const coding = hasCodingProfile(configuration);
  return Object.values(configuration.workspaces).flatMap(({ alias, mode }) => [
    ...(coding ? [judge('workspace_mode_unset', alias, mode !== 'unset')] : []),
    ...(mode === 'host' ? [passed('workspace_host_writes_accepted', alias)] : []),
  ]);
}
