/**
 * The launcher's steps on the real world. What one of them makes for a later one
 * (the opened instance, the plan, the box) stays here: the chart that orders
 * them holds plain data alone.
 */
import type { Readable, Writable } from 'node:stream';
import { releaseFingerprint } from '../adapters/fs/release-binding.ts';
import { createWriterJournal } from '../adapters/git/writer-journal.ts';
import { type Plan, planBox } from '../adapters/podman/boundary.ts';
import { type Instance, openInstance } from '../adapters/podman/instance.ts';
import { thisProcess } from '../adapters/podman/owner.ts';
import { abandonedRuns, reap } from '../adapters/podman/reap.ts';
import { type Relay, relay } from '../adapters/podman/relay.ts';
import { createKernelLock } from '../adapters/process/kernel-lock.ts';
import type { BoxCommand } from '../ports/writers/boundary.ts';
import type { LauncherPort } from '../ports/writers/launcher.ts';
import { isAccepted } from './acceptance.ts';
import { clearStale } from './hold.ts';
import { placesOf } from './places.ts';
import { packageRootOf } from './product.ts';
import type { RecordedWriter } from './record.ts';
import { createRenewal } from './renewal.ts';
import { serverCommand } from './server-command.ts';
import { warmUpProcess } from './warm-up-process.ts';

/** For the lock's own program to start and to end; it does not wait for anybody. */
const CLAIM_MS = 5_000;

/** The launcher's own process, or a part of one. */
export interface LauncherWorld {
  readonly stdin: Readable;
  readonly stderr: Writable;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly execPath: string;
}

interface Planned {
  readonly spec: Extract<Plan, { kind: 'ready' }>['spec'];
  readonly command: BoxCommand;
}

/** @param builtFile The launcher's own file in `dist/`, absolute. */
export function createLauncherPort(recorded: RecordedWriter, builtFile: string, world: LauncherWorld): LauncherPort {
  const { host, writer, stateDirectory } = recorded;
  const places = placesOf(stateDirectory, writer.name);
  const renew = createRenewal(places, warmUpProcess, world.env);
  let instance: Instance | undefined;
  let planned: Planned | undefined;
  let box: Relay | undefined;
  return {
    async claim(signal) {
      const lock = createKernelLock({ directory: places.lock, waitSeconds: 0 });
      const { kind } = await lock.acquire(AbortSignal.any([signal, AbortSignal.timeout(CLAIM_MS)]));
      return kind === 'locked' ? 'held' : kind;
    },
    async check() {
      const read = await createWriterJournal(places.directory, places.name).read();
      if (!read.ok || read.phase !== 'ready') return { ok: false, code: 'writer_not_ready' };
      const isSame = isAccepted(places, releaseFingerprint(packageRootOf(builtFile)));
      return isSame ? { ok: true } : { ok: false, code: 'acceptance_outdated' };
    },
    async clear() {
      try {
        clearStale(places);
        return { ok: true };
      } catch {
        return { ok: false };
      }
    },
    async open() {
      const opened = openInstance(stateDirectory, host.podman, host.seccompProfile);
      if (opened.kind === 'unusable') return { ok: false, code: opened.code };
      instance = opened.instance;
      return { ok: true };
    },
    async reap() {
      if (instance === undefined) return { ok: false };
      return { ok: abandonedRuns(instance).length === 0 || (await reap(host, instance)).left === 0 };
    },
    renew: async () => ({ ok: await renew() }),
    async plan() {
      const command = serverCommand(builtFile, world.execPath);
      if (instance === undefined || command === undefined) return { ok: false, code: 'product_incomplete' };
      const plan = planBox(writer, command, instance, thisProcess());
      if (plan.kind === 'refused') return { ok: false, code: plan.code };
      planned = { spec: plan.spec, command };
      return { ok: true };
    },
    async start() {
      if (instance && planned) box = relay(host, instance, planned.spec, planned.command, world);
      return { ok: box !== undefined };
    },
    watchInput: (onEnd) => box?.watchInput(onEnd) ?? (() => {}),
    end: () => box?.end(),
    remove: () => box?.remove(),
    ended: () => box?.ended ?? Promise.resolve({ kind: 'not_started' }),
  };
}
