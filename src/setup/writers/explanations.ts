/** What the codes of writers mean, and what to do next. Fixed texts. */
import type { WriterFindingCode } from '../../ports/setup/target.ts';
import { APPLY, type Explanation } from '../explanation.ts';

const AGAIN = 'Run the same command again; it goes on where this one stopped.';
const BUSY = 'Close the session in that writer, or end its client; then run the same command again.';
const MAKE = '--repo ALIAS --mode container --profiles A,B --apply, where A,B are profiles for coding.';
const ANEW =
  'Run the same command again. If the clone is gone or broken, --recreate --discard --apply makes it anew; what was only in it is lost.';
const FINISH = 'Get it out with --collect or --finish, or give it up with --discard.';

export const WRITER: Readonly<Record<WriterFindingCode, Explanation>> = {
  writer_planned: { meaning: 'This would be done.', next: APPLY },
  writer_provisioned: {
    meaning: 'The writer is made and registered. It does not start before its isolation was tried.',
    next: 'Run --isolation-control --repo ALIAS --apply; it plants canaries in your home and removes them.',
  },
  writer_registered: {
    meaning: 'Its client did not have the writer any more, and has it again. It is as accepted as it was.',
  },
  writer_ready: { meaning: 'Accepted, and nothing is in it that is not in your checkout.' },
  writer_has_work: {
    meaning: 'There is work in it that is not in your checkout.',
    next: 'Get it out with --finish --apply.',
  },
  writer_collected: { meaning: 'Its work is in your checkout, under refs/remotes/writer-NAME/. Nothing was merged.' },
  branches_need_care: {
    meaning: 'Among what came out are files that tools run by themselves, links, new executables or odd names.',
    next: 'Look at these branches with git diff before you check one out or merge it.',
  },
  earlier_work_kept: {
    meaning: 'Earlier work that was not merged yet is kept under refs/remotes/writer-NAME-kept/.',
    next: 'git branch -r lists it; merge it, or delete it with git branch -rd.',
  },
  writer_finished: { meaning: 'Its work is out, and it starts anew at the commit that you have checked out.' },
  writer_reset: { meaning: 'It starts anew at the commit that you have checked out.' },
  writer_recreated: { meaning: 'Its clone was made anew from the commit that you have checked out.' },
  writer_removed: { meaning: 'The writer and its registration are gone. What was collected stays in your checkout.' },
  writer_unchanged: { meaning: 'Nothing had to be done.' },
  writer_absent: {
    meaning: 'There is no such writer yet.',
    next: `Make it: ${MAKE}`,
  },
  writer_busy: { meaning: 'The writer is at work, or its server runs and this cannot be done beside it.', next: BUSY },
  writer_not_provisioned: {
    meaning: 'The writer is not completely made yet.',
    next: `Run what made it again, with the same settings: ${MAKE}`,
  },
  writer_not_ready: {
    meaning: 'The writer has not been accepted.',
    next: 'Run --isolation-control, then --accept, with --apply.',
  },
  writer_unknown: {
    meaning: 'The workspace has no such writer.',
    next: '--repo ALIAS --status lists those that there are.',
  },
  writers_none: {
    meaning: 'This workspace has no writers.',
    next: 'Make some with --repo ALIAS --mode container --profiles A,B --apply.',
  },
  writer_gone: {
    meaning: 'There is no such writer any more, and no record of what a client was told of it.',
    next: 'Does a client still have its entry: claude mcp remove NAME -s SCOPE, or codex mcp remove NAME.',
  },
  registration_absent: {
    meaning: 'Its client does not have the writer any more.',
    next: '--repo ALIAS --mode container … --apply registers it again; it stays accepted.',
  },
  registration_foreign: {
    meaning: 'Its client has another entry of this name; setup leaves it alone.',
    next: 'Remove it with the client (claude mcp remove NAME -s SCOPE, or codex mcp remove NAME); then --repo ALIAS --mode container … --apply.',
  },
  writer_server_failed: {
    meaning: 'It is accepted and registered, but its server did not start or did not answer as it should.',
    next: '--repo ALIAS --status says where it stands; docs/writers.md says what else keeps it from starting.',
  },
  writer_client_required: {
    meaning: 'It is not clear which client shall know the writers.',
    next: 'With --mode container add --client codex:user, --client claude-code:user or --client claude-code:local.',
  },
  image_missing: {
    meaning: 'Your own Podman does not have this image. It is never pulled.',
    next: 'Build or pull it with podman, as yourself; podman images lists what there is.',
  },
  image_unusable: {
    meaning: "The image could not be unpacked, or this machine's Node, Git or a shell's tools do not run in it.",
    next: 'docs/writers.md says what an image needs: glibc, a shell, coreutils and Git.',
  },
  image_kept: {
    meaning:
      'Your own Podman does not have the image any more, or not a usable one; the writer keeps the copy that it has.',
    next: 'Nothing has to be done. A new build under the same name is taken up by --accept --apply.',
  },
  image_renewed: { meaning: 'The image was built anew since; the writer has that one now.' },
  limits_not_enforced: {
    meaning: 'This machine limits neither memory nor processes of what runs in the box, so it is not limited.',
    next: 'docs/boundary.md says what it takes: cgroups v2, delegated to you by systemd.',
  },
  writer_settings_changed: {
    meaning:
      'The settings, or the client, are others than when this writer was made; it stays as it is, whatever the mode says.',
    next: 'Give the settings that it was made with again; or run --repo ALIAS --remove --apply, then this command again. An option that is left out means its default.',
  },
  writer_outlives_mode: {
    meaning: 'The mode does not ask for this writer. It stays registered and takes sessions until it is removed.',
    next: 'If you do not need it any more: --repo ALIAS --remove --writer NAME --apply.',
  },
  checkout_has_changes: {
    meaning: 'Your checkout has changes or new files that are not committed; they are not in the clone.',
    next: 'If a writer shall have them, commit them first; a writer that is there gets them with --finish or --reset.',
  },
  submodules_empty: {
    meaning: 'Your checkout has submodules; in the clone their directories are empty.',
  },
  workspace_not_container: {
    meaning: 'The mode of this workspace is not container.',
    next: `Record it: ${MAKE}`,
  },
  control_required: {
    meaning: 'Its isolation has not been tried on this machine.',
    next: 'Run --isolation-control --repo ALIAS --apply; it plants canaries in your home and removes them.',
  },
  acceptance_required: {
    meaning: 'Its isolation was tried; its acceptance is not complete.',
    next: 'Run --accept --repo ALIAS --apply.',
  },
  acceptance_outdated: {
    meaning:
      'Package, Node, Podman or settings have changed since it was accepted, or its image is gone; it does not start like that.',
    next: 'Run --accept --repo ALIAS --apply.',
  },
  collection_incomplete: {
    meaning:
      'Not all of its work could come out as it is; the clone stays. Branches with refused names are out as refused-N, stashes as stash-N. Files of nested repositories cannot come out.',
    next: 'git branch -r shows what is out, docs/writers-git.md what each reason means. Then --reset --discard --apply gives up the rest.',
  },
  work_left: {
    meaning: 'There is work in it that is not in your checkout, or not under its own name; nothing was changed.',
    next: FINISH,
  },
  restart_unfinished: {
    meaning: 'An interrupted run has begun to start it anew.',
    next: 'Run --finish or --reset with --apply again.',
  },
  removal_unfinished: { meaning: 'An interrupted run has begun to remove it.', next: 'Run --remove --apply again.' },
  journal_unreadable: {
    meaning: "The writer's own record cannot be read, so nothing is done with it.",
    next: 'docs/writers.md says what lies where, and what may be removed by hand.',
  },
  fence_unavailable: {
    meaning: 'The writer cannot be locked, or Podman cannot be used.',
    next: 'docs/boundary.md lists what it needs.',
  },
  interrupted: { meaning: 'The run was interrupted; nothing of it is left running.', next: AGAIN },
  defect: { meaning: 'The run failed unexpectedly.', next: AGAIN },
  record_failed: { meaning: 'Its record could not be written.', next: AGAIN },
  forget_failed: { meaning: 'Something of it is left, so its record stays.', next: AGAIN },
  clone_failed: {
    meaning: 'Your checkout cannot be cloned.',
    next: 'It has to be the root of a git working tree with a commit, complete (not shallow or partial), with SHA-1.',
  },
  prepare_failed: {
    meaning: "Its directories could not be made, or Pi's own files not be copied.",
    next: 'Run pi once and see what it says.',
  },
  configure_failed: {
    meaning: 'Its configuration cannot be made: a profile needs extensions, external servers or skills of your own.',
    next: 'Select profiles with built-in skills only.',
  },
  wrap_failed: {
    meaning: 'Rootless Podman cannot be used, or not with the recorded network.',
    next: 'docs/boundary.md lists what it needs; --network none needs the least.',
  },
  register_failed: {
    meaning: 'The client did not end up with the entry, or has another one of this name.',
    next: 'Check that the client runs; remove the other entry with it. Then run the same command again.',
  },
  control_failed: {
    meaning: 'The isolation did not hold, or could not be tried. The writer does not start.',
    next: 'docs/writers.md names what is tried.',
  },
  accept_failed: {
    meaning: 'The contained server did not answer as it should, or its box let something through.',
    next: 'docs/writers.md names what is tried.',
  },
  clone_unreadable: { meaning: 'What is in the clone could not be found out.', next: ANEW },
  collect_failed: { meaning: 'Nothing could be collected; your checkout is as it was.', next: ANEW },
  reset_failed: { meaning: 'The clone could not be reset.', next: '--recreate --apply makes it anew.' },
  recreate_failed: { meaning: 'The clone could not be made anew.', next: AGAIN },
  unregister_failed: {
    meaning: 'The client could not be asked, or holds an entry of this name that setup did not make.',
    next: 'Remove the entry with the client, then run --remove --apply again.',
  },
  dispose_failed: { meaning: 'Its files could not all be deleted.', next: AGAIN },
};
