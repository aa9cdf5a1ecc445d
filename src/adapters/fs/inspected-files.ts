import { accessSync, constants, realpathSync, type Stats, statSync } from 'node:fs';
import type { FileKind, FileLook, FileRight, InspectedFiles } from '../../config/inspected-files.ts';
import { configurationFiles } from './configuration-files.ts';

/** The real disk behind the doctor. */
export const inspectedFiles: InspectedFiles = { ...configurationFiles, look, allows, canonical };

const MODES: Readonly<Record<FileRight, number>> = {
  read: constants.R_OK,
  write: constants.W_OK,
  run: constants.X_OK,
};

function look(path: string): FileLook {
  try {
    const stat = statSync(path);
    return { kind: kindOf(stat), size: stat.isFile() ? stat.size : 0 };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return { kind: code === 'ENOENT' || code === 'ENOTDIR' ? 'missing' : 'unreachable', size: 0 };
  }
}

function kindOf(stat: Stats): FileKind {
  if (stat.isFile()) return 'file';
  return stat.isDirectory() ? 'directory' : 'other';
}

function allows(path: string, rights: readonly FileRight[]): boolean {
  try {
    accessSync(
      path,
      rights.reduce((mode, right) => mode | MODES[right], constants.F_OK),
    );
    return true;
  } catch {
    return false;
  }
}

function canonical(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}
