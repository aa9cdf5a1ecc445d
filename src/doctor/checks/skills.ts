/** Are the selected skill files there? What is in them is for the session's start to judge (docs/skills.md). */
import type { Configuration, ExecutionProfile } from '../../config/configuration.ts';
import { MAX_SKILL_BYTES } from '../../config/limits.ts';
import type { DoctorInput } from '../input.ts';
import type { DoctorCheck } from '../model.ts';
import { finding, judge, passed } from '../remedies.ts';

type Files = DoctorInput['files'];

export function checkSkills(
  { files }: Pick<DoctorInput, 'files'>,
  { executionProfiles }: Configuration,
): readonly DoctorCheck[] {
  return Object.values(executionProfiles).flatMap((profile) => checkProfile(files, profile));
}

function checkProfile(files: Files, profile: ExecutionProfile): readonly DoctorCheck[] {
  const seen = new Set<string>();
  return profile.skills.flatMap(({ alias, path }) => {
    const subject = `${profile.alias}:${alias}`;
    const { kind } = files.look(path);
    if (kind === 'missing') return [finding('skill_missing', subject)];
    const found = passed('skill_missing', subject);
    const file = isReadable(files, path) ? files.canonical(path) : undefined;
    if (file === undefined) return [found, finding('skill_unreadable', subject)];
    const isNew = !seen.has(file);
    seen.add(file);
    return [found, passed('skill_unreadable', subject), judge('skill_duplicate', subject, isNew)];
  });
}

/** Only a regular file has a size; an empty one is refused by a session, too. */
function isReadable(files: Files, path: string): boolean {
  const { size } = files.look(path);
  return size > 0 && size <= MAX_SKILL_BYTES && files.allows(path, ['read']);
}
