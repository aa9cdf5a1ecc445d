/** On which file systems a kernel lock can be believed (docs/setup.md): local ones, known to keep it. */
import { statfsSync } from 'node:fs';

/** `f_type` of statfs(2) on Linux. */
const TRUSTED = new Map([
  [0xef53, 'ext2/3/4'],
  [0x58465342, 'XFS'],
  [0x9123683e, 'Btrfs'],
  [0x01021994, 'tmpfs'],
  [0x794c7630, 'overlayfs'],
  [0x2fc12fc1, 'ZFS'],
  [0xf2f52010, 'F2FS'],
  [0x24051905, 'UBIFS'],
  [0xca451a4e, 'bcachefs'],
]);

/** @param type May be negative where the kernel's word has 32 bits. */
export function isTrustedType(type: number): boolean {
  return TRUSTED.has(type >>> 0);
}

/** Does this open file lie on such a file system? macOS: on one of the type of `/`. Throws like `statfs`. */
export function keepsLocks(path: string, fd: number): boolean {
  if (process.platform !== 'linux') return statfsSync(path).type === statfsSync('/').type;
  // Through the descriptor: the path may be somebody else's by now.
  return isTrustedType(statfsSync(`/proc/self/fd/${fd}`).type);
}
