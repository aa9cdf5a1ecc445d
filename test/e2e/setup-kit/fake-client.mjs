#!/usr/bin/env node
/**
 * Stands for Codex or Claude Code, by its own name: keeps registrations in one
 * file and prints what the real ones print; as Claude Code it has plugins, too.
 * FAKE_MISCHIEF makes it misbehave: `<verb>:<how>`, where the verb is get, add or
 * remove, and with plugins plugin-list, marketplace-list, install, uninstall or marketplace-remove.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

const client = basename(process.argv[1]);
const file = join(process.env.HOME, '.fake', `${client}.json`);
const words = process.argv.slice(2);
// Codex takes settings before its command.
while (words[0] === '-c') words.splice(0, 2);
const [group, ...after] = words;
const [verb, ...rest] = group === 'plugin' ? pluginVerb(after) : after;
if (group !== 'mcp' && !(group === 'plugin' && client === 'claude')) process.exit(2);

const entries = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
const save = () => {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(entries));
};
const hang = () => setInterval(() => {}, 1_000);

const pluginFile = join(process.env.HOME, '.fake', 'claude-plugins.json');
const plugins = existsSync(pluginFile) ? JSON.parse(readFileSync(pluginFile, 'utf8')) : { markets: {}, installed: {} };
const savePlugins = () => {
  mkdirSync(dirname(pluginFile), { recursive: true });
  writeFileSync(pluginFile, JSON.stringify(plugins));
};

function pluginVerb([first, second, ...others]) {
  if (first === 'marketplace') return [`marketplace-${second}`, ...others];
  return [first === 'list' ? 'plugin-list' : first, ...(second === undefined ? [] : [second]), ...others];
}

/** Options that take a value, then positionals; `--` ends both. */
function parse(args) {
  const options = {};
  const words = [];
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index];
    if (arg === '--') return { options, words: [...words, ...args.slice(index + 1)] };
    if (arg === '--json') options.json = true;
    else if (arg.startsWith('-')) {
      const name = arg.replace(/^-+/, '').replace(/^s$/, 'scope').replace(/^e$/, 'env');
      index += 1;
      if (name === 'env') options.env = { ...options.env, ...pair(args[index]) };
      else options[name] = args[index];
    } else words.push(arg);
  }
  return { options, words };
}

function pair(text) {
  const at = text.indexOf('=');
  return { [text.slice(0, at)]: text.slice(at + 1) };
}

const SCOPES = {
  user: 'User config (available in all your projects)',
  local: 'Local config (private to you in this project)',
  project: 'Project config (shared via .mcp.json)',
};

function get({ words: [name] }) {
  const found = entries[name];
  if (!found) {
    process.stderr.write(
      client === 'codex'
        ? `Error: No MCP server named '${name}' found.\n`
        : `No MCP server named "${name}". Run \`claude mcp add\` to add one.\n`,
    );
    return 1;
  }
  const { command, args, env, scope } = found;
  if (client === 'codex') {
    const transport = { type: 'stdio', command, args, env, env_vars: [], cwd: null };
    const shown = { name, enabled: true, disabled_reason: null, transport, enabled_tools: null };
    process.stdout.write(
      `${JSON.stringify({ ...shown, disabled_tools: null, startup_timeout_sec: null, tool_timeout_sec: null }, null, 2)}\n`,
    );
    return 0;
  }
  const lines = Object.entries(env).map(([key, value]) => `    ${key}=${value}\n`);
  process.stdout.write(
    `${name}:\n  Scope: ${SCOPES[scope]}\n  Status: ✔ Connected\n  Type: stdio\n  Command: ${command}\n` +
      `  Args: ${args.join(' ')}\n  Environment:\n${lines.join('')}\n` +
      `To remove this server, run: claude mcp remove ${name} -s ${scope}\n`,
  );
  return 0;
}

function add({ options, words: [name, command, ...args] }) {
  entries[name] = { command, args, env: options.env ?? {}, scope: options.scope ?? 'local' };
  save();
  process.stdout.write(
    client === 'codex' ? `Added global MCP server '${name}'.\n` : `Added stdio MCP server ${name}\n`,
  );
  return 0;
}

function remove({ words: [name] }) {
  delete entries[name];
  save();
  process.stdout.write(`Removed MCP server ${name}\n`);
  return 0;
}

const list = () => {
  process.stdout.write('No MCP servers configured. Use `claude mcp add` to add a server.\n');
  return 0;
};
const show = (value) => {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
  return 0;
};

function marketplaceList() {
  return show(
    Object.entries(plugins.markets).map(([name, path]) => ({ name, source: 'directory', path, installLocation: path })),
  );
}

function pluginList() {
  const ours = Object.entries(plugins.installed).map(([id, { version, enabled, folder }]) => {
    const installPath = join(process.env.HOME, '.claude/plugins/cache', id.split('@').reverse().join('/'), version);
    return { id, version, scope: 'user', enabled, installPath, readFromFolder: folder, folderVersion: version };
  });
  const builtin = { id: 'cc-plugin-privacy@builtin', version: 'unknown', scope: 'user', enabled: true };
  return show([...ours, builtin]);
}

function install({ options: { marketplace, scope }, words: [name] }) {
  const { name: market, plugins: offered } = JSON.parse(
    readFileSync(join(marketplace, '.claude-plugin/marketplace.json'), 'utf8'),
  );
  const { source, version } = offered.find((each) => each.name === name);
  const id = `${name}@${market}`;
  plugins.markets[market] = marketplace;
  plugins.installed[id] = { version, enabled: true, folder: join(marketplace, source) };
  savePlugins();
  process.stdout.write(`${JSON.stringify({ command: 'install', outcome: 'ok', plugin: id, pluginId: id, scope })}\n`);
  return 0;
}

function uninstall({ options: { scope }, words: [id] }) {
  const isThere = id in plugins.installed;
  delete plugins.installed[id];
  savePlugins();
  const outcome = isThere ? { outcome: 'ok' } : { outcome: 'failed', failureCode: 'not_installed' };
  process.stdout.write(`${JSON.stringify({ command: 'uninstall', plugin: id, scope, ...outcome })}\n`);
  return isThere ? 0 : 1;
}

function marketplaceRemove({ words: [name] }) {
  const isThere = name in plugins.markets;
  delete plugins.markets[name];
  savePlugins();
  if (isThere) process.stdout.write(`✔ Successfully removed marketplace: ${name}\n`);
  else process.stderr.write(`✘ Failed to remove marketplace: Marketplace '${name}' not found\n`);
  return isThere ? 0 : 1;
}

const verbs = {
  get,
  add,
  remove,
  list,
  install,
  uninstall,
  'plugin-list': pluginList,
  'marketplace-list': marketplaceList,
  'marketplace-remove': marketplaceRemove,
};
const act = () => verbs[verb](parse(rest));

/** Ends setup as nobody expects it, from within a command that it runs. */
const killSetup = () => process.kill(Number(readFileSync(process.env.CRASH_PID, 'utf8')), 'SIGKILL');

const MISCHIEF = {
  'killed-before': () => {
    killSetup();
    hang();
  },
  'killed-during': () => {
    act();
    killSetup();
    hang();
  },
  'killed-after': () => {
    const code = act();
    killSetup();
    process.exit(code);
  },
  hang,
  'hang-deaf': () => {
    process.on('SIGTERM', () => {});
    process.on('SIGINT', () => {});
    hang();
  },
  fork: () => {
    spawn('sleep', ['300'], { stdio: 'ignore' }).unref();
    process.exit(act());
  },
  escape: () => {
    spawn('setsid', ['sleep', '300'], { stdio: 'ignore' }).unref();
    process.exit(act());
  },
  flood: () => {
    process.stdout.write('x'.repeat(10 * 1024 * 1024), () => process.exit(0));
  },
  silent: () => process.exit(0),
  garbage: () => {
    process.stdout.write('\u0000\ufffd SENTINEL-OF-A-CLIENT {"name":\n');
    process.exit(0);
  },
  idle: () => {
    process.stdout.write(`Added global MCP server.\n`);
    process.exit(0);
  },
  undone: () => {
    act();
    delete entries['pi-session-mcp'];
    save();
    plugins.installed = {};
    savePlugins();
    process.exit(0);
  },
};

const [mischievous, how] = (process.env.FAKE_MISCHIEF ?? '').split(':');
const misbehave = mischievous === verb ? MISCHIEF[how] : undefined;
if (misbehave) misbehave();
else process.exitCode = act();
