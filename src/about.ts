/** What the server says of itself to somebody who starts it by hand. */
import { writeSync } from 'node:fs';
import { SERVER_VERSION } from './version.ts';

const HELP = `pi-session-mcp ${SERVER_VERSION}: an MCP server on stdin and stdout. A client starts it.

  pi-session-mcp-setup --init     write a first configuration
  pi-session-mcp-setup --help     register it with Claude Code or Codex
  pi-session-mcp-doctor           find what keeps it from working

It takes no options. PI_SESSION_MCP_CONFIG names its configuration, as an
absolute path.
`;

/** To stdout, which belongs to the protocol otherwise. A reader that has gone away is no error. */
export function printAbout(option: '--help' | '-h' | '--version'): void {
  try {
    writeSync(process.stdout.fd, option === '--version' ? `${SERVER_VERSION}\n` : HELP);
  } catch {
    // Nobody reads it.
  }
}
