/**
 * A small server-like process around the real adapter, to be killed outright.
 * Arguments: agent directory, workspace, reaper. Prompts once and then says nothing.
 */
import { createPiAgent } from '../../../src/adapters/pi/pi-agent.ts';
import { createChildScope } from '../../../src/adapters/process/child-scope.ts';
import type { ExecutionProfile } from '../../../src/config/configuration.ts';

const [agentDir = '', workspace = '', reaperPath = ''] = process.argv.slice(2);
const coder: ExecutionProfile = {
  alias: 'coder',
  default: true,
  permissionProfile: 'coding',
  provider: 'scripted',
  model: 'scripted-1',
  thinkingLevel: 'off',
  extensions: [],
  grantedExtensionTools: [],
  skills: [],
  mcpServers: [],
};
const diagnostics = { report: () => {} };
const agent = createPiAgent({
  configuration: {
    fingerprint: '',
    directory: workspace,
    workspaces: { main: { alias: 'main', directory: workspace, mode: 'host' } },
    executionProfiles: { coder },
    defaultExecutionProfile: 'coder',
  },
  diagnostics,
  agentDir,
  childScope: createChildScope({ reaperPath, diagnostics }),
});
const { signal } = new AbortController();
const request = { sessionId: 'host', workspace: 'main', executionProfile: 'coder' };
const created = await agent.createSession(request, signal);
if (!created.ok) process.exit(1);
await agent.admitPrompt({ sessionId: 'host', turnId: 't', prompt: 'go' }, signal);
await agent.runTurn({ sessionId: 'host', turnId: 't' });
// Only the parent ends this process.
setInterval(() => {}, 60_000);
