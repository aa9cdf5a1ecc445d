/** What a bash call sees of the server's environment. */

/** Names that usually hold a secret. */
const SECRET =
  /(API_?KEY|_KEY(_ID)?$|TOKEN|SECRET|PASS$|PASSW(OR)?D|_PWD$|PASSPHRASE|CREDENTIAL|_PAT$|_AUTH$|JWT|COOKIE|WEBHOOK|_DSN$|CONNECTION_STRING|(DATABASE|REDIS|MONGO(DB)?|MYSQL|POSTGRES(QL)?|AMQP)_UR[IL]$)/i;

/** The MCP client's internals, and this server's own. */
const INTERNAL = /^(CLAUDE|CODEX|GEMINI_CLI|ANTHROPIC_|OPENAI_|MCP_|NODE_CHANNEL|PI_SESSION_MCP_CONFIG$)/i;

export function isKeptFromTools(name: string): boolean {
  return SECRET.test(name) || INTERNAL.test(name);
}

/** A copy without secrets and internals, with `added` on top. */
export function toolEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  added: Readonly<Record<string, string>>,
): Record<string, string | undefined> {
  const kept = Object.entries(environment).filter(([name]) => !isKeptFromTools(name));
  return { ...Object.fromEntries(kept), ...added };
}
