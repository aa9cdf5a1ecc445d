/** Absolute paths in the box (docs/boundary.md). */
export const BOX = {
  work: '/work',
  events: '/pi/events',
  agent: '/pi/agent',
  server: '/pi/server',
  product: '/opt/pi',
  node: '/opt/node/bin/node',
  home: '/home/writer',
  cache: '/pi/cache',
} as const;
