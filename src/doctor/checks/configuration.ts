import type { LoadResult } from '../../config/load-configuration.ts';
import type { DoctorCheck } from '../model.ts';
import { finding, passed } from '../remedies.ts';

const SUBJECT = 'configuration';

/** Would the server load this file? One finding for each thing that it would refuse. */
export function checkConfiguration(loaded: LoadResult): readonly DoctorCheck[] {
  if (loaded.ok) {
    return [passed('config_missing', SUBJECT), passed('config_unreadable', SUBJECT), passed('config_invalid', SUBJECT)];
  }
  if (loaded.code === 'config_path_required' || loaded.reason === 'missing')
    return [finding('config_missing', SUBJECT)];
  const found = passed('config_missing', SUBJECT);
  if (loaded.code === 'config_unreadable') return [found, finding('config_unreadable', SUBJECT)];
  const issues = loaded.issues.map(({ subject, field, problem }) =>
    // The loader names declared fields and rules, never a value or a name that is not an alias.
    finding('config_invalid', subject, `Correct this: ${field} ${problem}.`),
  );
  return [found, passed('config_unreadable', SUBJECT), ...issues];
}
