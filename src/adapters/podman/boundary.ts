/** The writers' boundary on rootless Podman: what docs/boundary.md describes, behind its port. */
import { dirname } from 'node:path';
import type {
  BoundaryHost,
  BoxCommand,
  CaptureCommand,
  CaptureOutcome,
  LayoutCode,
  LayoutOutcome,
  UnusableCode,
  WriterBoundary,
  WriterBox,
} from '../../ports/writers/boundary.ts';
import { capture } from './capture.ts';
import { type Instance, openInstance } from './instance.ts';
import { cacheOf, checkCache, checkLayout, createLayout } from './layout.ts';
import { type Owner, thisProcess } from './owner.ts';
import { isUsablePath } from './paths.ts';
import { reap } from './reap.ts';
import { planRoot } from './root.ts';
import type { BoxSpec } from './start.ts';

/** A workspace's alias and a number. */
const NAME = /^[a-z][a-z0-9_-]{0,66}$/;
const ENVIRONMENT_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

export type BoundaryOutcome =
  | { readonly kind: 'ready'; readonly boundary: WriterBoundary }
  | { readonly kind: 'unusable'; readonly code: UnusableCode };

export type Plan =
  | { readonly kind: 'ready'; readonly spec: Omit<BoxSpec, 'command' | 'graceSeconds'> }
  | { readonly kind: 'refused'; readonly code: LayoutCode };

function isUsableCommand({ argv, env = {}, mounts = [] }: BoxCommand): boolean {
  const texts = [...argv, ...Object.values(env)];
  const paths = mounts.flatMap(({ source, destination }) => [source, destination]);
  return (
    argv.length > 0 &&
    texts.every((text) => !text.includes('\0')) &&
    Object.keys(env).every((key) => ENVIRONMENT_NAME.test(key)) &&
    paths.every(isUsablePath)
  );
}

/** Looks at the writer's directories, as before every start, and says how its box is to be run. */
export function planBox(writer: WriterBox, command: BoxCommand, instance: Instance, owner: Owner): Plan {
  const usable = NAME.test(writer.name) && (writer.root.kind === 'host' || isUsablePath(writer.root.path));
  if (!usable || !isUsableCommand(command)) return { kind: 'refused', code: 'path_unusable' };
  const checked = checkLayout(writer.directory);
  if (checked.kind === 'refused') return checked;
  const { network, limits, directory } = writer;
  if (writer.cache && !checkCache(directory)) return { kind: 'refused', code: 'layout_tampered' };
  const root = planRoot(writer.root, instance);
  const more = { ...(limits && { limits }), ...(writer.cache && { cache: cacheOf(directory) }) };
  const spec = { writer: writer.name, owner, ...root, layout: checked.layout, network, ...more };
  return { kind: 'ready', spec };
}

/** `host` is what a probe has found on this boot or an earlier one. */
export function openBoundary(host: BoundaryHost, stateDirectory: string): BoundaryOutcome {
  const opened = openInstance(stateDirectory, host.podman, host.seccompProfile);
  if (opened.kind === 'unusable') return opened;
  const { instance } = opened;
  const owner = thisProcess();
  const run = async (
    writer: WriterBox,
    command: CaptureCommand,
    signal: AbortSignal | undefined,
  ): Promise<CaptureOutcome> => {
    if (dirname(writer.directory) !== stateDirectory) return { kind: 'refused', code: 'path_unusable' };
    const plan = planBox(writer, command, instance, owner);
    return plan.kind === 'refused' ? plan : capture(host, instance, plan.spec, command, signal);
  };
  return {
    kind: 'ready',
    boundary: {
      create: ({ directory }): LayoutOutcome => createLayout(directory),
      check: ({ directory }): LayoutOutcome => checkLayout(directory),
      capture: run,
      reap: () => reap(host, instance),
    },
  };
}
