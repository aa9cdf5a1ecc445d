/** What runs in a writer's box: the server, on a copy of the agent directory that it can lock. */
import type { BoxCommand } from '../ports/writers/boundary.ts';
import { INSIDE } from './places.ts';
import { packageRootOf, productMounts } from './product.ts';

/**
 * Pi locks its credential file by making a directory beside it, so it works on a copy in memory. The copy
 * follows the mounted directory, whose files the launcher renews, also while they are being copied: the copy keeps
 * their times, so that it never looks newer than what has replaced what was read.
 */
const SCRIPT = `umask 077
cp -R --preserve=timestamps ${INSIDE.agent} "$PI_CODING_AGENT_DIR"
follow() {
  for name in auth.json models.json models-store.json; do
    [ ${INSIDE.agent}/$name -nt "$PI_CODING_AGENT_DIR/$name" ] || continue
    cp --preserve=timestamps ${INSIDE.agent}/$name "$PI_CODING_AGENT_DIR/.next" && mv "$PI_CODING_AGENT_DIR/.next" "$PI_CODING_AGENT_DIR/$name"
  done
}
{ while sleep 10; do follow; done; } </dev/null >/dev/null 2>&1 &
exec node ${INSIDE.program}
`;

/** @returns `undefined` when the product is not installed as a whole. */
export function serverCommand(builtFile: string, nodePath: string): BoxCommand | undefined {
  const mounts = productMounts(packageRootOf(builtFile), nodePath);
  return (
    mounts && {
      argv: ['/bin/sh', '-c', SCRIPT],
      env: {
        PI_SESSION_MCP_CONFIG: INSIDE.configuration,
        PI_SESSION_MCP_EVENTS: INSIDE.events,
        PI_SESSION_MCP_BASELINE: INSIDE.baseline,
        PI_CODING_AGENT_DIR: `${INSIDE.home}/agent`,
      },
      mounts,
    }
  );
}
