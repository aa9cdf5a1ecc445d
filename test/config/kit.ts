/** A configuration that is right in every field, and ways to make it wrong. */
import type { ConfigurationFiles, ReadFailure } from '../../src/config/files.ts';
import { type LoadFailure, type LoadResult, loadConfiguration } from '../../src/config/load-configuration.ts';

export const DIRECTORY = '/etc/pi';
export const CONFIG_PATH = `${DIRECTORY}/pi-session-mcp.json`;
export const MODES_PATH = `${DIRECTORY}/execution-modes.json`;
export const PACKAGE_ROOT = '/opt/package';

// biome-ignore lint/suspicious/noExplicitAny: tests reach into any place of a document to break it
export type Json = any;

export function validDocument(): Json {
  return {
    workspaces: { project: '/srv/project', other: 'nested/other' },
    skillCatalog: { review: 'builtin:pi-session-review', notes: 'skills-local/notes/SKILL.md' },
    executionProfiles: {
      safe: {
        default: true,
        permissionProfile: 'read-only',
        provider: 'acme',
        model: 'acme-large',
        thinkingLevel: 'medium',
        extensions: ['npm:pi-lens@1.2.3'],
        grantedExtensionTools: ['lens_symbols'],
        skills: ['review', 'notes'],
        mcpServers: {
          search: {
            command: '/usr/bin/search',
            args: ['--fast'],
            envFrom: { SEARCH_KEY: 'HOST_SEARCH_KEY' },
            tools: { find: { name: 'find.all', readOnly: true } },
          },
        },
      },
      worker: {
        default: false,
        permissionProfile: 'coding',
        provider: 'acme',
        model: 'acme-large',
        thinkingLevel: 'high',
      },
    },
  };
}

export type Content = string | Uint8Array | ReadFailure | object;

/** A disk of exactly these files; objects become JSON, a failure's name becomes that failure. */
export function diskOf(contents: Readonly<Record<string, Content>>): ConfigurationFiles & { readonly reads: string[] } {
  const reads: string[] = [];
  return {
    reads,
    read: (path) => {
      reads.push(path);
      const content = contents[path] ?? 'missing';
      if (content === 'missing' || content === 'not_a_file' || content === 'too_large' || content === 'unreadable') {
        return { ok: false, reason: content };
      }
      if (content instanceof Uint8Array) return { ok: true, bytes: content };
      return { ok: true, bytes: Buffer.from(typeof content === 'string' ? content : JSON.stringify(content)) };
    },
    exists: (path) => Object.hasOwn(contents, path),
  };
}

export function load(document: Content, others: Readonly<Record<string, Content>> = {}): LoadResult {
  return loadConfiguration({
    env: { PI_SESSION_MCP_CONFIG: CONFIG_PATH },
    packageRoot: PACKAGE_ROOT,
    files: diskOf({ [CONFIG_PATH]: document, ...others }),
  });
}

/** The valid document after one change. */
export function changed(change: (document: Json) => void): Json {
  const document = validDocument();
  change(document);
  return document;
}

export function configurationOf(result: LoadResult) {
  if (!result.ok) throw new Error(`not loaded: ${JSON.stringify(result)}`);
  return result.configuration;
}

export function failureOf(result: LoadResult): LoadFailure {
  if (result.ok) throw new Error('loaded');
  return result;
}

export function repeat<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

/** `{ a0: …, a1: …, }` with `count` entries. */
export function entries(count: number, make: (index: number) => unknown, prefix = 'a'): Json {
  return Object.fromEntries(repeat(count, (index) => [`${prefix}${index}`, make(index)]));
}
