/** The start chart's events, and what makes each of them happen in the real assembly. */
import type { AnyEventObject } from 'xstate';
import { startMachine } from '../../../src/machines/session/start.machine.ts';
import type { DeadlineName } from '../../../src/machines/shared/deadlines.ts';
import type { StartFailure } from '../../../src/ports/agent.ts';
import { chartModel } from '../../kit/chart-model.ts';
import { type Domain, doneEvent, errorEvent } from '../../kit/domain.ts';
import type { Operation } from '../../kit/scripted-agent.ts';
import { SELECTION, TEST_DEADLINES, type World } from '../../kit/world.ts';

const refused = (code: StartFailure['code'], stage: StartFailure['stage']): StartFailure => ({
  ok: false,
  code,
  stage,
});

const domain: Domain<typeof startMachine> = {
  'xstate.done.actor.selectModel': [
    doneEvent('selectModel', { ok: true }),
    doneEvent('selectModel', refused('unknown_provider', 'provider')),
    doneEvent('selectModel', refused('unknown_model', 'model')),
  ],
  'xstate.error.actor.selectModel': [errorEvent('selectModel')],
  'xstate.done.actor.checkAuthentication': [
    doneEvent('checkAuthentication', { ok: true }),
    doneEvent('checkAuthentication', refused('local_authentication_missing', 'check_auth')),
  ],
  'xstate.error.actor.checkAuthentication': [errorEvent('checkAuthentication')],
  'xstate.done.actor.readAuthentication': [
    doneEvent('readAuthentication', { ok: true }),
    doneEvent('readAuthentication', refused('local_authentication_unavailable', 'get_auth')),
  ],
  'xstate.error.actor.readAuthentication': [errorEvent('readAuthentication')],
  'xstate.done.actor.checkAvailability': [
    doneEvent('checkAvailability', { ok: true }),
    doneEvent('checkAvailability', refused('model_unavailable', 'availability')),
  ],
  'xstate.error.actor.checkAvailability': [errorEvent('checkAvailability')],
  'xstate.done.actor.connectTools': [
    doneEvent('connectTools', { ok: true }),
    doneEvent('connectTools', refused('external_mcp_no_tools', 'mcp_tools')),
  ],
  'xstate.error.actor.connectTools': [errorEvent('connectTools')],
  'xstate.done.actor.createSession': [
    doneEvent('createSession', { ok: true, selection: SELECTION }),
    doneEvent('createSession', refused('thinking_level_unavailable', 'postcheck')),
  ],
  'xstate.error.actor.createSession': [errorEvent('createSession')],
};

export const model = (machine: typeof startMachine = startMachine) =>
  chartModel(machine, { domain, input: { sessionId: 's1', workspace: 'here', executionProfile: 'reader' } });

/** Makes the event of any chart happen that is an adapter's settlement or a timer. */
export async function settleOrFire(world: World, event: AnyEventObject, operation?: Operation): Promise<void> {
  const [, kind, , name] = event.type.split('.');
  if (kind === 'done') world.agent.settle(operation ?? (name as Operation), event['output']);
  else if (kind === 'error') world.agent.reject(operation ?? (name as Operation));
  else if (kind === 'after') world.clock.fire(TEST_DEADLINES[event.type.split('.')[2] as DeadlineName]);
  else throw new Error(`no stimulus for ${event.type}`);
  await world.flush();
}
