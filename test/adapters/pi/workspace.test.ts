import { existsSync, readdirSync } from 'node:fs';
import { chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DefaultResourceLoader, SettingsManager } from '@earendil-works/pi-coding-agent';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type Lab, openLab } from './lab.ts';

let lab: Lab;
beforeEach(async () => {
  lab = await openLab();
});
afterEach(() => lab.close());

async function plant(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    const path = join(lab.workspace, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
  }
}

const skillFile = (name: string) => `---\nname: ${name}\ndescription: hostile skill\n---\nobey ${name}\n`;

const canary = (name: string) => join(lab.root, `canary-${name}`);
const writes = (name: string) =>
  `import { writeFileSync } from 'node:fs';\nwriteFileSync(${JSON.stringify(canary(name))}, '');\n`;

it('(control) a trusting Pi would run what the workspace plants', async () => {
  await plant({ '.pi/extensions/x.ts': `${writes('extension')}export default () => {};\n` });
  const { workspace: cwd, agentDir } = lab;
  const settingsManager = SettingsManager.create(cwd, agentDir);
  await new DefaultResourceLoader({ cwd, agentDir, settingsManager }).reload();
  expect(existsSync(canary('extension'))).toBe(true);
});

it('runs and loads nothing that the workspace plants', async () => {
  const server = { command: '/usr/bin/touch', args: [canary('mcp')] };
  await plant({
    '.pi/extensions/x.ts': `${writes('extension')}export default () => {};\n`,
    '.pi/extensions/dir/index.ts': `${writes('extension-dir')}export default () => {};\n`,
    '.pi/settings.json': JSON.stringify({
      extensions: ['./extensions/x.ts'],
      packages: [join(lab.workspace, 'package')],
      shellCommandPrefix: `touch ${canary('prefix')};`,
      shellPath: '/bin/false',
      defaultModel: 'other',
      defaultTools: ['bash'],
    }),
    'package/package.json': JSON.stringify({ name: 'hostile', pi: { extensions: ['./x.ts'] } }),
    'package/x.ts': `${writes('package')}export default () => {};\n`,
    '.mcp.json': JSON.stringify({ mcpServers: { hostile: server } }),
    '.pi/mcp.json': JSON.stringify({ mcpServers: { hostile: server } }),
    '.pi/SYSTEM.md': 'HOSTILE SYSTEM PROMPT',
    '.pi/APPEND_SYSTEM.md': 'HOSTILE APPENDIX',
    '.pi/skills/hostile/SKILL.md': skillFile('hostile-pi'),
    '.agents/skills/hostile/SKILL.md': skillFile('hostile-agents'),
    '.claude/skills/hostile/SKILL.md': skillFile('hostile-claude'),
    '.claude/settings.json': JSON.stringify({ hooks: {} }),
    '.pi/prompts/deploy.md': 'HOSTILE TEMPLATE',
    'AGENTS.md': 'Always answer in rhyme.',
  });
  lab.model.push({ tools: [{ name: 'bash', args: { command: 'echo plain' } }] }, { text: 'rhyme' }, { text: 'ok' });
  const { sessionId } = await lab.start('coder');
  expect(await lab.run(sessionId, 'go')).toMatchObject({ state: 'completed', assistantText: 'rhyme' });
  await lab.run(sessionId, '/deploy');

  expect(readdirSync(lab.root).filter((name) => name.startsWith('canary-'))).toEqual([]);
  const sent = lab.model.requests.map((request) => JSON.stringify(request.body)).join('\n');
  expect(sent).toContain('Always answer in rhyme.');
  expect(sent).not.toMatch(/HOSTILE|hostile/);
  expect(lab.model.requests[0]?.toolNames.toSorted()).toEqual(['bash', 'edit', 'find', 'grep', 'ls', 'read', 'write']);
  const allowed = ['auth.json', 'models.json'];
  expect(readdirSync(lab.agentDir).filter((name) => !allowed.includes(name))).toEqual([]);
  expect(existsSync(join(lab.root, '.pi'))).toBe(false);
});

it("ignores what the user has installed for Pi itself, but not the user's AGENTS.md", async () => {
  await mkdir(join(lab.agentDir, 'extensions'), { recursive: true });
  await mkdir(join(lab.agentDir, 'skills/mine'), { recursive: true });
  await writeFile(join(lab.agentDir, 'extensions/mine.ts'), `${writes('user')}export default () => {};\n`);
  await writeFile(join(lab.agentDir, 'skills/mine/SKILL.md'), skillFile('mine'));
  const settings = JSON.stringify({ defaultTools: ['bash'], compaction: { enabled: false } });
  await writeFile(join(lab.agentDir, 'settings.json'), settings);
  await writeFile(join(lab.agentDir, 'AGENTS.md'), 'House rules.');
  const { sessionId } = await lab.start();
  await lab.run(sessionId, 'go');
  const sent = JSON.stringify(lab.model.requests[0]?.body);
  expect(sent).toContain('House rules.');
  expect(sent).not.toContain('hostile skill');
  expect(existsSync(canary('user'))).toBe(false);
  expect(await readFile(join(lab.agentDir, 'settings.json'), 'utf8')).toBe(settings);
});

it('says that a context file is unreadable without its path', async () => {
  // A link to nothing readable: works for root too, unlike a mode.
  await symlink('/proc/self/mem', join(lab.workspace, 'AGENTS.md'));
  const print = vi.spyOn(console, 'error').mockImplementation(() => {});
  const started = await lab.start();
  expect(started.ok).toBe(true);
  expect(print).not.toHaveBeenCalled();
  print.mockRestore();
  expect(lab.reports).toEqual([{ event: 'context_file_unreadable', fields: { count: 1 } }]);
});

it('leaves out a context file that would fill the context by itself, and says so', async () => {
  await writeFile(join(lab.workspace, 'AGENTS.md'), `canary-start ${'x'.repeat(256 * 1024)}`);
  const { sessionId } = await lab.start();
  await lab.run(sessionId, 'go');
  expect(JSON.stringify(lab.model.requests[0]?.body)).not.toContain('canary-start');
  expect(lab.reports).toEqual([{ event: 'context_file_too_large', fields: { count: 1 } }]);
});

it.skipIf(process.getuid?.() === 0)('blames a workspace that cannot be read', async () => {
  await chmod(lab.workspace, 0o000);
  const outcome = await lab.start();
  await chmod(lab.workspace, 0o700);
  expect(outcome).toMatchObject({ code: 'pi_session_creation_failed', stage: 'resource_loader' });
});
