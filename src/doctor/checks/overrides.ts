/** Has a shipped skill changed since the operator copied it? (docs/skills.md) */
import { join } from 'node:path';
import { readBases, shippedSkill } from '../../adapters/fs/skill-bases.ts';
import type { Configuration } from '../../config/configuration.ts';
import type { DoctorInput } from '../input.ts';
import type { DoctorCheck } from '../model.ts';
import { finding, judge } from '../remedies.ts';

const ID = 'skill_override_outdated';
const CORRUPT = 'Repair or remove .pi-session-mcp-bases.json in the "skills" directory beside the configuration file.';

type Place = Pick<DoctorInput, 'packageRoot' | 'files'>;

export function checkOverrides({ packageRoot, files }: Place, { directory }: Configuration): readonly DoctorCheck[] {
  const overrides = join(directory, 'skills');
  const recorded = readBases(overrides);
  if (recorded.kind === 'corrupt') return [finding(ID, 'skill:bases', CORRUPT)];
  const bases = recorded.kind === 'bases' ? [...recorded.bases] : [];
  return bases.flatMap(([name, fingerprint]) => {
    // A base can outlive its override, and a skill its place in the package.
    if (!files.exists(join(overrides, name))) return [];
    const shipped = shippedSkill(packageRoot, name);
    return shipped.ok ? [judge(ID, `skill:${name}`, shipped.fingerprint === fingerprint)] : [];
  });
}
