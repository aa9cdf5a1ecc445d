/** The fake that the charts' tests run on keeps the rules that the Pi adapter keeps. */
import { agentPortContract } from '../contracts/agent-port.ts';
import { AutoSettler } from '../kit/auto-settler.ts';
import { ScriptedAgent } from '../kit/scripted-agent.ts';

agentPortContract('scripted', () => Promise.resolve(new AutoSettler(new ScriptedAgent())));
