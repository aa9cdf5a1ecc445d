/** What to type after `--init`. The operator's own path is not repeated: a report holds none. */

const DEFAULT = '"$HOME/.config/pi-session-mcp/pi-session-mcp.json"';

/** @param named The operator chose the place of the configuration. */
export function nextCommands(named: boolean): string {
  const config = named ? 'FILE' : DEFAULT;
  const command = (operation: string) =>
    `  pi-session-mcp-setup ${operation} --target claude-code:user:pi-session-mcp \\\n      --config ${config}\n`;
  const where = named ? 'FILE is the place that you chose. ' : '';
  return `
Next, register the server and check it:
${command('--apply')}${command('--verify')}
${where}For Codex the target is codex:user:pi-session-mcp; --help lists them all.
`;
}
