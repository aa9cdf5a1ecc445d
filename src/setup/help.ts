/** What `--help` prints. Kept within 80 columns. */

export const HELP = `pi-session-mcp-setup: register the server with Codex and Claude Code, check it,
take it back. Without an operation it only shows what it would do.

First time, in three commands:

  pi-session-mcp-setup --init
  pi-session-mcp-setup --apply  --config FILE --target claude-code:user:pi-session-mcp
  pi-session-mcp-setup --verify --config FILE --target claude-code:user:pi-session-mcp

Operations
  --dry-run        show what is there and what would change (the default)
  --apply          register the server and install the controller skill
  --verify         check the registration, start the server once, list its tools
  --rollback       undo an --apply
  --remove         take the registration and the skill away again

On what
  --target T       codex:user:pi-session-mcp
                   claude-code:user:pi-session-mcp      all your projects
                   claude-code:project:pi-session-mcp   .mcp.json of this directory
                   claude-code:local:pi-session-mcp     you, in this directory
                   may be given several times
  --wake           with --target: also the hook that wakes the agent when a turn
                   has ended. Claude Code: a plugin of yours, for all projects;
                   --remove takes it with the last registration, asked or not.
                   Codex: nothing is changed, see --print-codex-hook
  --print-codex-hook
                   print the hook to add to Codex's config.toml, with its paths;
                   at its next start Codex asks you to review and trust it
  --customize-skill NAME
                   copy a shipped skill to your own skills/ directory to edit it;
                   again after an update to acknowledge a changed original

First configuration
  --init           ask for the rest and write a configuration; never overwrites
  --workspace ALIAS=DIRECTORY   --provider P   --model M   --thinking LEVEL
  --coding         add a profile that may change files, for which you must
  --accept-host-writes          accept that it does so in that directory itself

Also
  --config FILE    the configuration, absolute; else $PI_SESSION_MCP_CONFIG
  --json           one line of JSON for scripts
  --help, --version

Setup changes only what it made itself. An entry or a skill that it did not make,
or that was edited since, is reported as divergent and left alone. Reports hold no
path, argument, environment value or client output.

Exit status: 0 success, 1 something failed, 64 misuse, 130 or 143 interrupted.
`;
