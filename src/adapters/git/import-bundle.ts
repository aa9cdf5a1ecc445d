/** A writer's bundle into the operator's checkout, through the quarantine (docs/writers-git.md). */
import type { Baseline, ChangeFlags, CollectedRef, ImportRefusal, RefusedReason } from '../../ports/writers/git.ts';
import { type BundleRef, readHeader } from './bundle-header.ts';
import { reportChanges } from './change-report.ts';
import type { HostGit, HostRepository } from './host-git.ts';
import { changeOf, type Landed, type Landing, land, readLanded } from './landing.ts';
import { type PackCaps, scanPack } from './pack-scan.ts';
import { examine, type JudgedRef, openQuarantine, type Quarantine } from './quarantine.ts';
import { collisions } from './ref-names.ts';

export interface ImportCaps extends PackCaps {
  readonly bundleBytes: number;
}

export const CAPS: ImportCaps = {
  bundleBytes: 128 * 1024 * 1024,
  objects: 200_000,
  objectBytes: 64 * 1024 * 1024,
  totalBytes: 1024 * 1024 * 1024,
};

export interface ImportRequest {
  readonly bundle: Buffer;
  readonly checkout: HostRepository;
  /** Private to this user, outside of every clone. */
  readonly folder: string;
  /** `<alias>-<n>`. */
  readonly writer: string;
  readonly base: Baseline;
  readonly caps?: ImportCaps;
}

export type Refused = Readonly<Partial<Record<RefusedReason, number>>>;

export type ImportOutcome =
  | {
      readonly ok: true;
      readonly refs: readonly CollectedRef[];
      readonly refused: Refused;
      /** Refs of earlier work that were added beside them. */
      readonly kept: number;
    }
  | { readonly ok: false; readonly code: ImportRefusal };

/** Refused as a whole, nothing of it reaches the checkout. Never rejects. */
export async function importBundle(git: HostGit, request: ImportRequest, signal: AbortSignal): Promise<ImportOutcome> {
  const { bundle, checkout, folder, writer, caps = CAPS } = request;
  if (bundle.length > caps.bundleBytes) return { ok: false, code: 'bundle_too_large' };
  const header = readHeader(bundle);
  if (!header.ok) return header;
  const pack = bundle.subarray(header.packOffset);
  const scan = scanPack(pack, caps);
  if (scan !== 'ok') return { ok: false, code: scan === 'malformed' ? 'bundle_malformed' : 'objects_too_large' };
  try {
    const landed = await readLanded(git, checkout, writer, signal);
    if (!landed) return { ok: false, code: 'checkout_unavailable' };
    const { refs, refused } = separate(header.refs, landed);
    const quarantine = await openQuarantine(git, checkout, folder, signal);
    if (!quarantine) return { ok: false, code: 'checkout_unavailable' };
    try {
      const parts = { refs, prerequisites: header.prerequisites, pack };
      const outcome = await throughQuarantine(git, quarantine, request, parts, landed, signal);
      if (!outcome.ok) return outcome;
      return { ...outcome, refused: add(add(header.refused, refused), outcome.refused) };
    } finally {
      await quarantine.dispose();
    }
  } catch {
    return { ok: false, code: 'checkout_unavailable' };
  }
}

async function throughQuarantine(
  git: HostGit,
  quarantine: Quarantine,
  { checkout, writer, base }: ImportRequest,
  parts: Parameters<typeof examine>[2],
  landed: Landed,
  signal: AbortSignal,
): Promise<ImportOutcome> {
  const examined = await examine(git, quarantine, parts, base, signal);
  if (!examined.ok) return examined;
  const landing: Landing = {
    quarantine: quarantine.repository,
    checkout,
    writer,
    base: base.commit,
    refs: examined.refs,
    landed,
  };
  const refs: CollectedRef[] = [];
  for (const ref of examined.refs) refs.push(await describe(git, landing, ref, signal));
  const outcome = await land(git, landing, signal);
  if (!outcome.ok) return outcome;
  const { kept } = outcome;
  return { ok: true, refs, kept, refused: examined.unrelated > 0 ? { unrelated: examined.unrelated } : {} };
}

/** Names that cannot stand beside each other, or beside what was collected before. */
function separate(
  all: readonly BundleRef[],
  landed: Landed,
): { readonly refs: BundleRef[]; readonly refused: Refused } {
  const found = collisions(
    all.map(({ branch }) => branch),
    [...landed.keys()],
  );
  let refused: Refused = {};
  for (const reason of found.values()) refused = add(refused, { [reason]: 1 });
  return { refs: all.filter(({ branch }) => !found.has(branch)), refused };
}

export function add(a: Refused, b: Refused): Refused {
  const sum: Partial<Record<RefusedReason, number>> = { ...a };
  for (const [reason, count] of Object.entries(b) as [RefusedReason, number][])
    sum[reason] = (sum[reason] ?? 0) + count;
  return sum;
}

const NO_FLAGS: ChangeFlags = { symlink: 0, gitlink: 0, executable: 0, toolFile: 0, oddName: 0 };

async function describe(git: HostGit, landing: Landing, ref: JudgedRef, signal: AbortSignal): Promise<CollectedRef> {
  const { branch, commit, fork } = ref;
  const args = ['diff-tree', '-r', '-z', '--raw', '--no-renames', '--no-abbrev', '--no-ext-diff', '--no-textconv'];
  const { code, stdout } = await git.run({ repository: landing.quarantine, args: [...args, fork, commit] }, signal);
  const report = code === 0 ? reportChanges(stdout) : undefined;
  const change = await changeOf(git, landing, ref, signal);
  return { branch, commit, change, ...(report ?? { files: 0, flags: NO_FLAGS }), isTruncated: report === undefined };
}
