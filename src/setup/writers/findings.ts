/** What becomes of a writer, as lines of a report. */
import type { Finding, FindingDetails, Status, WriterFindingCode } from '../../ports/setup/target.ts';
import type { ChangeFlags, Collection } from '../../ports/writers/git.ts';

const STATUSES: Readonly<Partial<Record<WriterFindingCode, Status>>> = {
  writer_planned: 'planned',
  writer_provisioned: 'ok',
  writer_registered: 'ok',
  writer_ready: 'ok',
  writer_collected: 'ok',
  writer_finished: 'ok',
  writer_reset: 'ok',
  writer_recreated: 'ok',
  writer_removed: 'ok',
  writer_has_work: 'ok',
  branches_need_care: 'ok',
  earlier_work_kept: 'ok',
  limits_not_enforced: 'ok',
  writer_outlives_mode: 'ok',
  checkout_has_changes: 'ok',
  submodules_empty: 'ok',
  image_kept: 'ok',
  image_renewed: 'ok',
  writer_unchanged: 'unchanged',
  writer_gone: 'unchanged',
  writer_settings_changed: 'divergent',
  writer_absent: 'absent',
};

/** In the report of a state this is what there is: nothing. */
const NOTHING: readonly WriterFindingCode[] = ['writers_none'];
/** In the report of a state these are what there is, and no failure. */
const PENDING: readonly WriterFindingCode[] = [
  'control_required',
  'acceptance_required',
  'acceptance_outdated',
  'writer_not_provisioned',
  'restart_unfinished',
  'removal_unfinished',
  'registration_absent',
];

export function writerFinding(workspace: string, name: string, code: WriterFindingCode, isState = false): Finding {
  return { target: { client: 'writer', scope: workspace, alias: name }, status: statusOf(code, isState), code };
}

function statusOf(code: WriterFindingCode, isState: boolean): Status {
  if (isState && NOTHING.includes(code)) return 'absent';
  return isState && PENDING.includes(code) ? 'planned' : (STATUSES[code] ?? 'failed');
}

/** What is said beside the outcome of an operation that has collected, and what it is about. */
export function collectedRemarks(collection: Collection): readonly Remark[] {
  const flags = flagsOf(collection);
  const { kept } = collection;
  return [
    ...(Object.keys(flags).length > 0 ? [{ code: 'branches_need_care' as const, details: { flags } }] : []),
    ...(kept > 0 ? [{ code: 'earlier_work_kept' as const, details: { kept } }] : []),
  ];
}

interface Remark {
  readonly code: WriterFindingCode;
  readonly details: FindingDetails;
}

/** Of the outcome itself. */
export function collectedDetails({ refs, incomplete, refused }: Collection): FindingDetails {
  const { refused_refs: _, ...rest } = incomplete;
  const names = Object.entries(refused).map(([reason, count]) => [`refused_${reason}`, count] as const);
  const reasons: Readonly<Record<string, number>> = { ...Object.fromEntries(names), ...rest };
  return { branches: refs.length, ...(Object.keys(reasons).length > 0 && { reasons }) };
}

const FLAGS: Readonly<Record<keyof ChangeFlags, string>> = {
  symlink: 'links',
  gitlink: 'submodules',
  executable: 'executables',
  toolFile: 'runs_by_itself',
  oddName: 'odd_names',
};

/** What common tools would obey by themselves, or what hides, in all that came out: files, or branches too large to look at. */
function flagsOf({ refs }: Collection): Readonly<Record<string, number>> {
  const flags: Record<string, number> = {};
  const count = (word: string, more: number) => {
    if (more > 0) flags[word] = (flags[word] ?? 0) + more;
  };
  for (const { flags: found, isTruncated } of refs) {
    for (const [flag, word] of Object.entries(FLAGS)) count(word, found[flag as keyof ChangeFlags]);
    count('not_looked_at', Number(isTruncated));
  }
  return flags;
}
