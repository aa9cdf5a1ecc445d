/** Digests of what must not change, without following links. */
import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

/** Names, kinds, modes, bytes and link targets of everything below; `absent` when there is nothing. */
export function digestOf(path: string): string {
  const hash = createHash('sha256');
  return add(hash, path, '') ? hash.digest('hex') : 'absent';
}

function add(hash: ReturnType<typeof createHash>, path: string, name: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return false;
  hash.update(`\0${name}\0${stat.mode}\0`);
  if (stat.isSymbolicLink()) hash.update(readlinkSync(path));
  else if (stat.isFile()) hash.update(readFileSync(path));
  else if (stat.isDirectory()) for (const entry of readdirSync(path).sort()) add(hash, join(path, entry), entry);
  return true;
}

/**
 * What a client's own file says about MCP servers and nothing else of it: the
 * clients count their starts in there. Read only to prove that nothing changed.
 */
export function registrationsIn(path: string): string {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'absent' : 'unreadable';
  }
  if (path.endsWith('.toml')) return hashOf(text.split(/^(?=\[)/m).filter((table) => table.startsWith('[mcp_servers')));
  const { mcpServers, projects } = JSON.parse(text) as {
    mcpServers?: object;
    projects?: Record<string, { mcpServers?: object }>;
  };
  const local = Object.entries(projects ?? {}).map(([place, project]) => [place, project.mcpServers ?? {}]);
  return hashOf([mcpServers ?? {}, local.filter(([, servers]) => Object.keys(servers as object).length > 0)]);
}

const hashOf = (value: unknown) => createHash('sha256').update(JSON.stringify(value)).digest('hex');
