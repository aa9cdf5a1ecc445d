const NAME = /^(?:@[a-z0-9][a-z0-9._-]*\/)?[a-z0-9][a-z0-9._-]*$/;
/** Semantic Versioning 2.0.0 without build metadata, which npm ignores and so cannot pin. */
const VERSION =
  /^(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)(?:-(?:0|[1-9]\d*|\d*[A-Za-z-][\dA-Za-z-]*)(?:\.(?:0|[1-9]\d*|\d*[A-Za-z-][\dA-Za-z-]*))*)?$/;
const PREFIX = 'npm:';

export interface ExtensionSpec {
  readonly name: string;
  readonly version: string;
}

/**
 * Reads `npm:<name>@<exact version>`. Anything else (a range, a tag, another
 * source, a path, build metadata) answers `undefined`.
 */
export function parseExtensionSpec(spec: string): ExtensionSpec | undefined {
  const at = spec.lastIndexOf('@');
  if (!spec.startsWith(PREFIX) || at <= PREFIX.length) return undefined;
  const name = spec.slice(PREFIX.length, at);
  const version = spec.slice(at + 1);
  // npm's own limits; checked first, so that the patterns only see short text.
  if (name.length > 214 || version.length > 256) return undefined;
  return NAME.test(name) && VERSION.test(version) ? { name, version } : undefined;
}
