/** What Podman keeps for boxes goes with the last writer, and nobody else's goes with it. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { removeInstances } from '../../../src/adapters/podman/instance-end.ts';
import { until } from '../../e2e/kit/until.ts';
import { NO_PODMAN, useLab } from './lab.ts';

const lab = useLab();

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** A state directory whose instance says that this process holds its namespace. */
function stateThatNames(pid: number) {
  const state = mkdtempSync(join(tmpdir(), 'pi-writers-end-'));
  const runtime = join(state, 'pi-writers-run');
  mkdirSync(join(runtime, 'xdg/libpod/tmp'), { recursive: true });
  writeFileSync(join(runtime, 'xdg/libpod/tmp/pause.pid'), String(pid));
  mkdirSync(join(state, '.podman-boot'));
  symlinkSync(runtime, join(state, '.podman-boot/runtime'));
  return { state, runtime };
}

describe.skipIf(NO_PODMAN !== undefined)('what Podman keeps', () => {
  test('is left to whoever else has it, and goes with its own state', async () => {
    const writer = await lab().writer('last');
    expect(await lab().sh(writer, 'true')).toMatchObject({ code: 0 });
    const holder = lab().namespaceHolder();
    expect(isAlive(holder)).toBe(true);
    for (const pid of [holder, process.pid]) {
      const { state, runtime } = stateThatNames(pid);
      removeInstances(state);
      // A killed one is not gone at once; a box would have made another.
      expect(await lab().sh(writer, 'true')).toMatchObject({ code: 0 });
      expect([isAlive(pid), lab().namespaceHolder()]).toEqual([true, holder]);
      expect([readdirSync(state), existsSync(runtime)]).toEqual([[], false]);
      rmSync(state, { recursive: true });
    }
    const runtime = readlinkSync(join(lab().instance(), 'runtime'));
    removeInstances(lab().state);
    await until('the end of the holder', () => !isAlive(holder));
    expect(existsSync(runtime)).toBe(false);
    expect(readdirSync(lab().state)).toEqual(['last']);
    expect(await lab().sh(writer, 'true')).toMatchObject({ code: 0 });
  });

  test('behind a link that is not of ours is not looked for', () => {
    const { state } = stateThatNames(process.pid);
    const other = mkdtempSync(join(tmpdir(), 'of-somebody-'));
    rmSync(join(state, '.podman-boot/runtime'));
    symlinkSync(other, join(state, '.podman-boot/runtime'));
    removeInstances(state);
    expect(existsSync(other)).toBe(true);
    for (const path of [state, other]) rmSync(path, { recursive: true });
  });
});
