/** The files that make Claude Code run the hook: a marketplace with one plugin in it. Pure. */
import { WAKE_DEADLINES_MS } from '../machines/events/deadlines.ts';

export const MARKETPLACE = 'pi-session-mcp';
export const PLUGIN = 'pi-session-mcp-wake';

export interface PluginSource {
  /** Absolute path of the Node that the server is registered with. */
  readonly node: string;
  /** Absolute path of `dist/wake.js`. */
  readonly wake: string;
  /** Of the package. */
  readonly version: string;
}

export interface PluginFile {
  /** Relative to the marketplace's directory, with `/`. */
  readonly path: string;
  readonly text: string;
}

/** Our name is one way to be called; writers have servers of their own names. */
const MATCHER = 'mcp__.+__pi_session_prompt';
/** The hook ends by itself first; Claude Code's own limit is ten minutes. */
const TIMEOUT_S = WAKE_DEADLINES_MS.wakeBudget / 1_000 + 60;

/** No server among them: whoever registers the server registers it apart, and a second one would start here. */
export function pluginFiles({ node, wake, version }: PluginSource): readonly PluginFile[] {
  const description = 'Wakes an idle session when a delegated Pi turn has ended';
  const author = { name: 'pi-session-mcp' };
  const hook = {
    type: 'command',
    command: `exec ${quoted(node)} ${quoted(wake)} claude`,
    asyncRewake: true,
    timeout: TIMEOUT_S,
  };
  return [
    file('.claude-plugin/marketplace.json', {
      name: MARKETPLACE,
      description,
      owner: author,
      plugins: [{ name: PLUGIN, source: `./plugins/${PLUGIN}`, version, description }],
    }),
    file(`plugins/${PLUGIN}/.claude-plugin/plugin.json`, { name: PLUGIN, version, description, author }),
    file(`plugins/${PLUGIN}/hooks/hooks.json`, {
      description,
      hooks: { PostToolUse: [{ matcher: MATCHER, hooks: [hook] }] },
    }),
  ];
}

/** What an operator of Codex adds to its configuration by hand (docs/turn-events.md); it has no command for it. */
export function codexSnippet({ node, wake }: Omit<PluginSource, 'version'>): string {
  return [
    '[[hooks.PostToolUse]]',
    `matcher = ${JSON.stringify(MATCHER)}`,
    '[[hooks.PostToolUse.hooks]]',
    'type = "command"',
    `command = ${JSON.stringify(`exec ${quoted(node)} ${quoted(wake)} codex`)}`,
    'timeout = 10',
    '',
  ].join('\n');
}

function file(path: string, content: object): PluginFile {
  return { path, text: `${JSON.stringify(content, null, 2)}\n` };
}

/** One word of a POSIX shell. The client expands `${…}` first, in its own names only. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
