/** What belongs into the package, and what must not stand in any of its files. */

/** Missing one of these makes the package useless or unlawful. */
export const REQUIRED = [
  'CHANGELOG.md',
  'LICENSE',
  'README.md',
  'SECURITY.md',
  'dist/THIRD-PARTY-LICENSES.txt',
  'dist/build.json',
  'dist/doctor.js',
  'dist/guardian.cjs',
  'dist/main.js',
  'dist/package.json',
  'dist/reaper.js',
  'dist/setup.js',
  'dist/wake.js',
  'dist/writer.js',
  'docs/configuration.md',
  'docs/doctor.md',
  'docs/installation.md',
  'docs/setup.md',
  'docs/threat-model.md',
  'docs/tools.md',
  'docs/troubleshooting.md',
  'docs/turn-events.md',
  'package.json',
  'pi-session-mcp.example.json',
  'skills/pi-session-implementation/SKILL.md',
  'skills/pi-session-orchestration/SKILL.md',
  'skills/pi-session-review/SKILL.md',
];

const BELONGS = [
  /^(README|CHANGELOG|SECURITY)\.md$/,
  /^(LICENSE|package\.json|pi-session-mcp\.example\.json)$/,
  /^dist\/[\w-]+\.c?js$/,
  /^dist\/(build|package)\.json$/,
  /^dist\/THIRD-PARTY-LICENSES\.txt$/,
  /^docs\/(?!acceptance|benchmarks|releasing)[\w-]+\.md$/,
  /^docs\/(adr|statecharts)\/[\w-]+\.md$/,
  /^skills\/[a-z-]+\/([\w-]+\/)*[\w-][\w.-]*$/,
];

/** Packed paths that no rule lets in. */
export function outsiders(paths: readonly string[]): string[] {
  return paths.filter((path) => !BELONGS.some((rule) => rule.test(path)));
}

// Spelt so that no rule about the repository's own files is broken here. `writer` is at home in a container.
const FORBIDDEN: readonly [what: string, pattern: RegExp, inDocuments: boolean][] = [
  ['a folder of a machine', /(?<![\w.~$}/-])[/](?:home(?!\/writer\b)|Users|root)[/][\w.]/, false],
  ['a file URL', /\bfile:\/\/\/\w/, true],
  ['a registry', /\/\/registry\.[a-z0-9-]+\.[a-z]/, true],
  ['a source map', /sourceMappingURL=/, true],
];

/** What a packed file must not say, as `path: reason`. The operator's documents may show example paths. */
export function packageFindings(path: string, text: string, repository: string): string[] {
  const isDocument = /\.(md|example\.json)$/.test(path);
  const named = FORBIDDEN.filter(([, pattern, inDocuments]) => (inDocuments || !isDocument) && pattern.test(text));
  const here = text.includes(repository) ? ['the repository'] : named.map(([what]) => what);
  return here.map((what) => `${path}: ${what}`);
}
