/**
 * Start: what has to succeed, step by step, before a session may exist. Each
 * step has its own deadline, and the first refusal decides the error code.
 * Leaving the chart early (shutdown) aborts the live step; a handle that
 * arrives after that is disposed behind the port.
 */
import { assign, setup } from 'xstate';
import type { CreateOutcome, StartFailure, StartRequest, StepOutcome, VerifiedSelection } from '../../ports/agent.ts';
import { DEADLINES_MS } from '../shared/deadlines.ts';
import { unprovidedPromise } from '../shared/unprovided.ts';

export type StartOutput = { readonly ok: true; readonly selection: VerifiedSelection } | StartFailure;

interface StartContext {
  readonly request: StartRequest;
  readonly output: StartOutput;
}

const REFUSALS = {
  runtime: { ok: false, stage: 'runtime', code: 'pi_session_creation_failed' },
  checkAuth: { ok: false, stage: 'check_auth', code: 'local_authentication_unavailable' },
  getAuth: { ok: false, stage: 'get_auth', code: 'local_authentication_unavailable' },
  availability: { ok: false, stage: 'availability', code: 'model_unavailable' },
  connect: { ok: false, stage: 'mcp_tools', code: 'external_mcp_unavailable' },
  create: { ok: false, stage: 'create_session', code: 'pi_session_creation_failed' },
} as const satisfies Record<string, StartFailure>;

const requestOf = ({ context }: { context: StartContext }) => context.request;

export const startMachine = setup({
  types: {
    context: {} as StartContext,
    input: {} as StartRequest,
    output: {} as StartOutput,
  },
  actors: {
    selectModel: unprovidedPromise<StepOutcome, StartRequest>('selectModel'),
    checkAuthentication: unprovidedPromise<StepOutcome, StartRequest>('checkAuthentication'),
    readAuthentication: unprovidedPromise<StepOutcome, StartRequest>('readAuthentication'),
    checkAvailability: unprovidedPromise<StepOutcome, StartRequest>('checkAvailability'),
    connectTools: unprovidedPromise<StepOutcome, StartRequest>('connectTools'),
    createSession: unprovidedPromise<CreateOutcome, StartRequest>('createSession'),
  },
  delays: {
    authenticationTimeout: DEADLINES_MS.authenticationTimeout,
    connectionTimeout: DEADLINES_MS.connectionTimeout,
    loadingTimeout: DEADLINES_MS.loadingTimeout,
    creationTimeout: DEADLINES_MS.creationTimeout,
  },
  guards: {
    passed: (_, params: { readonly ok: boolean }) => params.ok,
  },
  actions: {
    settle: assign({ output: (_, params: StartOutput) => params }),
  },
}).createMachine({
  id: 'start',
  description: 'Builds one verified Pi session, or says why not.',
  meta: {
    guarantees: [
      'Only the success of every step opens a session; the steps come one by one in a fixed order.',
      'Each step has a deadline, and with silent adapters these alone end the start.',
      'A refusal has the code and the stage of what failed, and starts nothing more.',
    ],
  },
  options: { maxIterations: 100 },
  context: ({ input }) => ({ request: input, output: REFUSALS.create }),
  initial: 'selecting',
  states: {
    selecting: {
      description: 'The SDK and its model runtime load; provider and model are looked up exactly.',
      invoke: {
        id: 'selectModel',
        src: 'selectModel',
        input: requestOf,
        onDone: [
          { guard: { type: 'passed', params: ({ event }) => event.output }, target: 'checkingAuthentication' },
          { target: 'refused', actions: { type: 'settle', params: ({ event }) => refusal(event.output, 'runtime') } },
        ],
        onError: { target: 'refused', actions: { type: 'settle', params: REFUSALS.runtime } },
      },
      after: { loadingTimeout: { target: 'refused', actions: { type: 'settle', params: REFUSALS.runtime } } },
    },
    checkingAuthentication: {
      description: 'Is there local authentication for the provider?',
      invoke: {
        id: 'checkAuthentication',
        src: 'checkAuthentication',
        input: requestOf,
        onDone: [
          { guard: { type: 'passed', params: ({ event }) => event.output }, target: 'readingAuthentication' },
          { target: 'refused', actions: { type: 'settle', params: ({ event }) => refusal(event.output, 'checkAuth') } },
        ],
        onError: { target: 'refused', actions: { type: 'settle', params: REFUSALS.checkAuth } },
      },
      after: { authenticationTimeout: { target: 'refused', actions: { type: 'settle', params: REFUSALS.checkAuth } } },
    },
    readingAuthentication: {
      description: 'Can the authentication be read right now?',
      invoke: {
        id: 'readAuthentication',
        src: 'readAuthentication',
        input: requestOf,
        onDone: [
          { guard: { type: 'passed', params: ({ event }) => event.output }, target: 'checkingAvailability' },
          { target: 'refused', actions: { type: 'settle', params: ({ event }) => refusal(event.output, 'getAuth') } },
        ],
        onError: { target: 'refused', actions: { type: 'settle', params: REFUSALS.getAuth } },
      },
      after: { authenticationTimeout: { target: 'refused', actions: { type: 'settle', params: REFUSALS.getAuth } } },
    },
    checkingAvailability: {
      description: 'Is the model in the local catalogue of available models?',
      invoke: {
        id: 'checkAvailability',
        src: 'checkAvailability',
        input: requestOf,
        onDone: [
          { guard: { type: 'passed', params: ({ event }) => event.output }, target: 'connecting' },
          {
            target: 'refused',
            actions: { type: 'settle', params: ({ event }) => refusal(event.output, 'availability') },
          },
        ],
        onError: { target: 'refused', actions: { type: 'settle', params: REFUSALS.availability } },
      },
      after: {
        authenticationTimeout: { target: 'refused', actions: { type: 'settle', params: REFUSALS.availability } },
      },
    },
    connecting: {
      description: 'The external MCP servers that the profile grants are connected.',
      invoke: {
        id: 'connectTools',
        src: 'connectTools',
        input: requestOf,
        onDone: [
          { guard: { type: 'passed', params: ({ event }) => event.output }, target: 'creating' },
          { target: 'refused', actions: { type: 'settle', params: ({ event }) => refusal(event.output, 'connect') } },
        ],
        onError: { target: 'refused', actions: { type: 'settle', params: REFUSALS.connect } },
      },
      after: { connectionTimeout: { target: 'refused', actions: { type: 'settle', params: REFUSALS.connect } } },
    },
    creating: {
      description: 'The SDK session is built and everything promised about it is read back.',
      invoke: {
        id: 'createSession',
        src: 'createSession',
        input: requestOf,
        onDone: [
          {
            guard: { type: 'passed', params: ({ event }) => event.output },
            target: 'opened',
            actions: { type: 'settle', params: ({ event }) => event.output },
          },
          { target: 'refused', actions: { type: 'settle', params: ({ event }) => event.output } },
        ],
        onError: { target: 'refused', actions: { type: 'settle', params: REFUSALS.create } },
      },
      after: { creationTimeout: { target: 'refused', actions: { type: 'settle', params: REFUSALS.create } } },
    },
    opened: { type: 'final', description: 'The handle is verified and kept.' },
    refused: { type: 'final', description: 'No handle is kept; the output carries code and stage.' },
  },
  output: ({ context }) => context.output,
});

/** A step that passed never gets here; the fallback only satisfies the types. */
function refusal(outcome: StepOutcome, step: keyof typeof REFUSALS): StartOutput {
  return outcome.ok ? REFUSALS[step] : outcome;
}
