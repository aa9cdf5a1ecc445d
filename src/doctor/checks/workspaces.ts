import { join } from 'node:path';
import type { Configuration, Workspace } from '../../config/configuration.ts';
import type { DoctorInput } from '../input.ts';
import type { CheckId, DoctorCheck } from '../model.ts';
import { finding, judge, passed } from '../remedies.ts';

export function hasCodingProfile({ executionProfiles }: Configuration): boolean {
  return Object.values(executionProfiles).some(({ permissionProfile }) => permissionProfile === 'coding');
}

/** Can sessions work in these directories, and write where they may? */
export function checkWorkspaces(
  { files }: Pick<DoctorInput, 'files'>,
  configuration: Configuration,
): readonly DoctorCheck[] {
  const coding = hasCodingProfile(configuration);
  return Object.values(configuration.workspaces).flatMap((workspace) => {
    const { alias, directory, mode } = workspace;
    const unusable = firstProblem(files, workspace);
    const checks = accessChecks(alias, unusable);
    if (unusable !== undefined) return checks;
    // Elsewhere the server refuses to start a coding session.
    const writes = coding && (mode === 'unset' || mode === 'host');
    if (writes) checks.push(judge('workspace_not_writable', alias, files.allows(directory, ['write'])));
    if (coding && mode !== 'read-only') {
      checks.push(judge('workspace_gitfile', alias, files.look(join(directory, '.git')).kind !== 'file'));
    }
    return checks;
  });
}

const ACCESS = ['workspace_missing', 'workspace_not_directory', 'workspace_unreadable'] as const satisfies CheckId[];
type AccessProblem = (typeof ACCESS)[number];

function firstProblem(files: DoctorInput['files'], { directory }: Workspace): AccessProblem | undefined {
  const { kind } = files.look(directory);
  if (kind === 'missing') return 'workspace_missing';
  if (kind === 'unreachable') return 'workspace_unreadable';
  if (kind !== 'directory') return 'workspace_not_directory';
  return files.allows(directory, ['read', 'run']) ? undefined : 'workspace_unreadable';
}

/** What comes before the problem has passed, and what comes after it cannot be told. */
function accessChecks(alias: string, problem: AccessProblem | undefined): DoctorCheck[] {
  const before = problem === undefined ? ACCESS : ACCESS.slice(0, ACCESS.indexOf(problem));
  const checks: DoctorCheck[] = before.map((id) => passed(id, alias));
  return problem === undefined ? checks : [...checks, finding(problem, alias)];
}
