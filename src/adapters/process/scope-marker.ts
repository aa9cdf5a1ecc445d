/**
 * The environment variable that says to which server, session and call a process
 * belongs; a granted server counts as one call. The environment survives `setsid`,
 * `nohup` and re-parenting, which process groups and parent ids do not. A server
 * that finds it in its own environment refuses to start, so scopes never nest.
 */
export const SCOPE_VARIABLE = 'PI_SESSION_MCP_SCOPE';

/** `<server>`, `<server>/<session>` or `<server>/<session>/<call>`. */
export function scopeName(serverId: string, sessionId?: string, call?: number): string {
  return [serverId, sessionId, call].filter((part) => part !== undefined).join('/');
}

/** Does the variable's value name this scope or one inside it? */
export function isInScope(value: string, scope: string): boolean {
  return value === scope || value.startsWith(`${scope}/`);
}

const NEEDLE = Buffer.from(`\0${SCOPE_VARIABLE}=`);
const FIRST = NEEDLE.subarray(1);

/** Finds the variable's value in the bytes of a `/proc/<pid>/environ`. */
export function scopeInEnvironment(environment: Buffer): string | undefined {
  const startsWith = environment.subarray(0, FIRST.length).equals(FIRST);
  const found = startsWith ? 0 : environment.indexOf(NEEDLE) + 1;
  if (!startsWith && found === 0) return undefined;
  const from = found + FIRST.length;
  const end = environment.indexOf(0, from);
  return environment.toString('utf8', from, end === -1 ? environment.length : end);
}
