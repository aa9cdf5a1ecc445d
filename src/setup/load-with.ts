import type { Configuration } from '../config/configuration.ts';
import type { ConfigurationFiles } from '../config/files.ts';
import { loadConfiguration } from '../config/load-configuration.ts';

/** These files, with texts in the place of some. @param texts Absolute path → what would be there. */
export function filesWith(texts: ReadonlyMap<string, string>, files: ConfigurationFiles): ConfigurationFiles {
  return {
    read(path, limit) {
      const text = texts.get(path);
      return text === undefined ? files.read(path, limit) : { ok: true, bytes: Buffer.from(text) };
    },
    exists: (path) => files.exists(path),
  };
}

/**
 * The configuration as the server would load it with these texts in the place of
 * files: the same reader decides that reads them later. Undefined when it would refuse.
 *
 * @param texts Absolute path → what would be there.
 * @param files Everything else.
 */
export function loadWith(
  texts: ReadonlyMap<string, string>,
  configuration: string,
  packageRoot: string,
  files: ConfigurationFiles,
): Configuration | undefined {
  const loaded = loadConfiguration({
    env: { PI_SESSION_MCP_CONFIG: configuration },
    packageRoot,
    files: filesWith(texts, files),
  });
  return loaded.ok ? loaded.configuration : undefined;
}
