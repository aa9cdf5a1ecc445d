/**
 * The environment variable that says to which server, session and call a process
 * belongs; a granted server counts as one call. The environment survives `setsid`,
 * `nohup` and re-parenting, which process groups and parent ids do not. A server
 * that finds it in its own environment refuses to start, so scopes never nest.
 */
export const SCOPE_VARIABLE = 'PI_SESSION_MCP_SCOPE';

/** The same for a command of a client that setup runs (docs/setup.md); a server may be started below it. */
export const COMMAND_VARIABLE = 'PI_SESSION_MCP_COMMAND';

/** `<server>`, `<server>/<session>` or `<server>/<session>/<call>`. */
export function scopeName(serverId: string, sessionId?: string, call?: number): string {
  return [serverId, sessionId, call].filter((part) => part !== undefined).join('/');
}

/** Does the variable's value name this scope or one inside it? */
export function isInScope(value: string, scope: string): boolean {
  return value === scope || value.startsWith(`${scope}/`);
}

/** Finds a variable's value in the bytes of a `/proc/<pid>/environ`. */
export function scopeInEnvironment(environment: Buffer, variable = SCOPE_VARIABLE): string | undefined {
  const first = Buffer.from(`${variable}=`);
  const startsWith = environment.subarray(0, first.length).equals(first);
  const found = startsWith ? 0 : environment.indexOf(`\0${variable}=`) + 1;
  if (!startsWith && found === 0) return undefined;
  const from = found + first.length;
  const end = environment.indexOf(0, from);
  return environment.toString('utf8', from, end === -1 ? environment.length : end);
}
