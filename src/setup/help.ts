/** What `--help` prints. Kept within 80 columns. */

export const HELP = `pi-session-mcp-setup: register the server with Codex and Claude Code, check
it, take it back. Without an operation it only shows what it would do.

First time, in three commands:

  pi-session-mcp-setup --init
  pi-session-mcp-setup --apply  --config FILE \\
      --target claude-code:user:pi-session-mcp
  pi-session-mcp-setup --verify --config FILE \\
      --target claude-code:user:pi-session-mcp

Operations
  --dry-run        show what is there and what would change (the default)
  --apply          register the server and install the controller skill
  --verify         check the registration, start the server once, list its tools
  --rollback       undo an --apply
  --remove         take the registration and the skill away again; acts at once
                   (writers: --repo ALIAS --remove, which is only shown without
                   --apply, and comes first)

On what
  --target T       codex:user:pi-session-mcp
                   claude-code:user:pi-session-mcp     all your projects
                   claude-code:project:pi-session-mcp  .mcp.json, this directory
                   claude-code:local:pi-session-mcp    you, in this repository
                   may be given several times
  --wake           with --target: also the hook that wakes the agent when a turn
                   has ended. Claude Code: a plugin of yours, for all projects;
                   --remove takes it with the last registration, asked or not.
                   Codex: nothing is changed, see --print-codex-hook
  --print-codex-hook
                   print the hook to add to Codex's config.toml, with its paths;
                   at its next start Codex asks you to review and trust it
  --customize-skill NAME
                   copy a shipped skill to your own skills/ directory to edit;
                   again after an update to acknowledge a changed original

First configuration
  --init           ask for the rest and write a configuration; never overwrites
  --workspace ALIAS=DIRECTORY   --provider P   --model M   --thinking LEVEL
  --coding         add a profile that may change files, for which you must
  --accept-host-writes          accept that it does so in that directory itself

Where coding may happen, and writers in containers (docs/writers.md)
  --repo ALIAS --mode read-only
  --repo ALIAS --mode host --accept-host-writes
  --repo ALIAS --mode container --profiles A,B [--image I] [--cache C]
               [--network N] [--writers N] [--lifecycle L] [--client C]
                   record it; with container also make the missing writers
                   ALIAS-1 …, registered with C: codex:user, claude-code:user
                   or claude-code:local. Without --mode a container, where one
                   works. I: an image of your own Podman. C: go. N: pasta or
                   none. L: persistent or ephemeral
  --repo ALIAS --isolation-control   try the walls with canaries in your home
  --repo ALIAS --accept              check from inside; then a writer may start
  --repo ALIAS --status | --verify   where each stands | ask client and server
  --repo ALIAS --collect             its work to refs/remotes/writer-NAME/
  --repo ALIAS --finish              collect, then start anew
  --repo ALIAS --reset | --recreate | --remove [--discard]
                   refused while work is only there, unless it may be lost
  --writer NAME    one of them only;  --apply does it, else it is only shown

Also
  --config FILE    the configuration, absolute; else $PI_SESSION_MCP_CONFIG
  --json           one line of JSON for scripts
  --help, --version

Setup changes only what it made itself. An entry or a skill that it did not
make, or that was edited since, is reported as divergent and left alone.
Reports hold no path, argument, environment value or client output.

Exit status: 0 success, 1 something failed, 64 misuse, 130 or 143 interrupted.
`;
