export const USAGE = 'usage: pi-session-mcp-doctor [--json] [--config PATH] [--help]';

export const HELP = `${USAGE}

Looks for what would keep the MCP server pi-session-mcp, or a session that it
starts, from working. Everything happens offline and nothing is changed.

  the package        this Node, the files of the build, their version
  the configuration  is it there, readable, and accepted by the server?
  its workspaces     directories, permissions, linked worktrees, modes, Podman
  its profiles       Pi extensions, skills, external MCP servers
  the surroundings   rg and fd, what Codex does not pass on to a server,
                     a Node or a package that will not stay where it is

  --config PATH  the configuration, as an absolute path; without it, the
                 variable PI_SESSION_MCP_CONFIG names the file
  --json         the whole result, with what was found to be good
  -h, --help     this text

A report names aliases of your configuration, never a path or a value of it.

exit status
  0   nothing was found
  1   warnings only: the server works, something deserves a look
  2   errors: the server, or sessions of some profile or workspace, cannot work
  64  the arguments were not understood

examples
  pi-session-mcp-doctor --config "$HOME/.config/pi-session-mcp/pi-session-mcp.json"
  pi-session-mcp-doctor --json | jq -r '.checks[] | select(.severity != "ok") | .id'
  env -i HOME="$HOME" PATH="$PATH" "$(command -v node)" \\
    "$(command -v pi-session-mcp-doctor)" --config /etc/pi-session-mcp.json
      (with hardly any variables set, as Codex starts a server)

Every check is explained in docs/doctor.md of the package.
`;
