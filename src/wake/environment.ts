/** What a child of a hook gets of the client's environment, which holds its keys. */

const KEPT = new Set(['HOME', 'PATH', 'CODEX_HOME', 'XDG_RUNTIME_DIR', 'TMPDIR', 'LANG', 'USER', 'LOGNAME']);

export function childEnvironment(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) if (KEPT.has(name) && value !== undefined) kept[name] = value;
  return kept;
}
