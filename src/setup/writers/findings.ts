/** What becomes of a writer, as lines of a report. */
import type { Finding, Status, WriterFindingCode } from '../../ports/setup/target.ts';
import type { Collection } from '../../ports/writers/git.ts';

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

/** Is there something in what came out that common tools would obey by themselves, or that hides? */
export function needsCare({ refs }: Collection): boolean {
  return refs.some(({ flags, isTruncated }) => isTruncated || Object.values(flags).some((count) => count > 0));
}
