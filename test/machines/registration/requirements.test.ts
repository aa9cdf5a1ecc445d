/** What is promised on a registration: what may be changed when, and what an interruption does. */
import { registrationMachine } from '../../../src/machines/setup/registration.machine.ts';
import type { OwnershipRecord } from '../../../src/ports/setup/ownership.ts';
import { effectsOf } from '../../kit/effects.ts';
import { drop, invocation } from '../../kit/mutate.ts';
import { breaches, edit, type Requirement, requirementSuite, unheard, unique } from '../../kit/requirement-suite.ts';
import { describeState, isSettlement, isTimer, Reachable, statusOf } from '../../kit/requirements.ts';
import { remembered } from '../setup-run/paths.ts';
import { allModels, INSPECTIONS, type Registration, type State } from './domain.ts';

type Chart = Reachable<Registration>;
type Triple = Chart['triples'][number];

const explore = remembered((machine: Registration) => new Reachable(allModels(machine)));
const over = (state: unknown) => statusOf(state) === 'done';
const children = (state: unknown) => Object.keys((state as State).children);
const spawned = ({ state, event }: Triple) => effectsOf(state, event).spawned;
const spawns = (chart: Chart, name: string) =>
  chart.triples.filter((triple) => spawned(triple).some(({ src }) => src === name));
const inputOf = (triple: Triple) => spawned(triple)[0]?.input as OwnershipRecord;
const CHANGES = ['put', 'add', 'remove', 'drop'];
const changes = (triple: Triple) => spawned(triple).some(({ src }) => CHANGES.includes(src));
const isDone = ({ event }: Triple, actor: string, outcome: unknown) =>
  event.type === `xstate.done.actor.${actor}` &&
  (event['output'] === outcome || (event['output'] as { ok?: boolean }).ok === outcome);
const codeOf = (state: unknown) => (state as State).context.verdict?.code;

const keyed = allModels(registrationMachine);
const isSame = (one: State, other: State) => keyed.key(one) === keyed.key(other);

interface Branch {
  guard?: unknown;
  target?: string;
}
const branches = (invoke: { onDone?: unknown }) => invoke.onDone as Branch[];

const requirements: Requirement<Registration>[] = [
  {
    says: 'an interruption is heard everywhere: a look is given up, a change is told and awaited',
    findings: (chart) =>
      unique(
        chart.active().flatMap((state) => {
          const { state: next, actions } = effectsOf(state, { type: 'INTERRUPT' });
          const [child = ''] = children(state);
          const isAwaited = [...CHANGES, 'handshake'].includes(child);
          const isEnded =
            state.context.verdict !== null ||
            (next as unknown as State).context.verdict?.code === 'operation_interrupted';
          const isTold = state.context.verdict !== null || actions.includes('abortStep');
          const isRight = isAwaited ? children(next).includes(child) && isTold : over(next);
          return isRight && isEnded ? [] : [describeState(state)];
        }),
      ),
    brokenBy: {
      'a mutation is left alone': edit((at) => drop(at('applying.adding'), 'on')),
      'a removal is not told': edit((at) => {
        at('unregistering.removing').on = { INTERRUPT: {} };
      }),
      'a server is left running': edit((at) => drop(at('handshaking.talking'), 'on')),
      'nobody listens while looking': edit((at) => drop(at(), 'on')),
    },
  },
  {
    says: 'once there is a verdict nothing more is begun, and it stands',
    findings: (chart) =>
      breaches(
        chart.triples.filter(({ state }) => state.context.verdict !== null),
        (triple) => spawned(triple).length > 0 || codeOf(triple.nextState) !== codeOf(triple.state),
      ),
    brokenBy: {
      'an interrupted add is inspected': edit((at) => {
        const [first] = branches(invocation(at('applying.adding'), 'add'));
        delete first?.guard;
      }),
      'an interrupted pending record is acted upon': edit((at) => {
        const [first] = branches(invocation(at('applying.recordingPending'), 'put'));
        delete first?.guard;
      }),
    },
  },
  {
    says: 'a client is asked to add only right after a pending record of what is meant became durable',
    findings: (chart) =>
      breaches(spawns(chart, 'add'), (triple) => {
        const { key, fingerprint, release } = triple.state.context;
        const written = { ...key, phase: 'pending', fingerprint, release };
        const before = chart.triples.filter((each) => isSame(each.nextState, triple.state) && spawned(each).length > 0);
        const isMeant = before.every((each) => JSON.stringify(inputOf(each)) === JSON.stringify(written));
        return !isDone(triple, 'put', true) || !isMeant || before.length === 0;
      }),
    brokenBy: {
      'it is asked first': edit((at) => {
        const [first] = branches(invocation(at('inspecting.toApply'), 'inspect'));
        if (first) first.target = '#registration.applying.adding';
      }),
      'the write may fail': edit((at) => {
        const put = branches(invocation(at('applying.recordingPending'), 'put'));
        put[1] = { target: 'adding' };
      }),
    },
  },
  {
    says: 'nothing is owned that was not seen to be there',
    findings: (chart) =>
      breaches(
        spawns(chart, 'put').filter((triple) => inputOf(triple).phase === 'owned'),
        (triple) => !isDone(triple, 'inspect', 'equivalent'),
      ),
    brokenBy: {
      'the word of the client is enough': edit((at) => {
        const [first] = branches(invocation(at('applying.adding'), 'add'));
        if (first) first.target = 'recordingOwned';
      }),
      'whatever is there is owned': edit((at) => {
        const [first] = branches(invocation(at('applying.inspectingAgain'), 'inspect'));
        delete first?.guard;
      }),
    },
  },
  {
    says: 'nothing is forgotten that was not seen to be gone',
    findings: (chart) => breaches(spawns(chart, 'drop'), (triple) => !isDone(triple, 'inspect', 'absent')),
    brokenBy: {
      'the word of the client is enough': edit((at) => {
        const [first] = branches(invocation(at('unregistering.removing'), 'remove'));
        if (first) first.target = 'dropping';
      }),
      'it is forgotten all the same': edit((at) => {
        const gone = branches(invocation(at('unregistering.inspectingGone'), 'inspect'));
        delete gone[0]?.guard;
      }),
    },
  },
  {
    says: 'only what is recorded, unchanged and exactly there is removed',
    findings: (chart) =>
      breaches(spawns(chart, 'remove'), (triple) => {
        const { record, fingerprint, release } = triple.state.context;
        const isMatch = record?.fingerprint === fingerprint && record.release === release;
        return !isMatch || !isDone(triple, 'inspect', 'equivalent');
      }),
    brokenBy: {
      'everything is removed': edit((at) => {
        const [first] = branches(invocation(at('inspecting.toRemove'), 'inspect'));
        delete first?.guard;
      }),
    },
  },
  {
    says: 'a divergent, unreadable or unknown entry is never touched',
    findings: (chart) =>
      breaches(
        chart.triples.filter((triple) =>
          ['divergent', 'unsupported', 'failed'].some((each) => isDone(triple, 'inspect', each)),
        ),
        (triple) => !over(triple.nextState),
      ),
    brokenBy: {
      'it is replaced': edit((at) => {
        const inspect = branches(invocation(at('inspecting.toApply'), 'inspect'));
        inspect[2] = { target: '#registration.applying.recordingPending' };
      }),
    },
  },
  {
    says: 'a dry-run and a verification change nothing',
    findings: (chart) =>
      breaches(
        chart.triples.filter(({ state }) => ['dry-run', 'verify'].includes(state.context.operation)),
        changes,
      ),
    brokenBy: {
      'a dry-run applies': edit((at) => {
        (at('inspecting.routing').always as Branch[])[0] = { guard: 'isDryRun', target: 'toApply' };
      }),
    },
  },
  {
    says: 'what may still run ends the run at once, and is said so',
    findings: (chart) =>
      breaches(
        chart.triples.filter((triple) => ['add', 'remove'].some((each) => isDone(triple, each, 'retained'))),
        ({ nextState }) => !over(nextState) || nextState.output?.isHalted !== true,
      ),
    brokenBy: {
      'it is inspected all the same': edit((at) => {
        const [first] = branches(invocation(at('unregistering.removing'), 'remove'));
        delete first?.guard;
      }),
      'nobody is told': edit((at) => {
        const add = branches(invocation(at('applying.adding'), 'add'));
        delete (add[1] as { actions?: unknown }).actions;
      }),
    },
  },
  {
    says: 'with a silent server, deadlines alone end the handshake',
    findings: (chart) =>
      unique(
        chart
          .avoiding(over, isTimer)
          .filter((state) => children(state).includes('handshake'))
          .map(describeState),
      ),
    brokenBy: {
      'it may talk for ever': edit((at) => drop(at('handshaking.talking'), 'after')),
      'its end is waited for': edit((at) => drop(at('handshaking.ending'), 'after')),
    },
  },
  {
    says: 'every run ends when what it asked for ends',
    findings: (chart) => chart.avoiding(over, isSettlement).map(describeState),
    brokenBy: {
      'it looks again and again': edit((at) => {
        const [first] = branches(invocation(at('unregistering.inspectingGone'), 'inspect'));
        if (first) first.target = 'removing';
      }),
    },
  },
  {
    says: 'whatever a port comes to is heard',
    findings: (chart) =>
      unheard(chart, {
        readRecords: [{ ok: true, records: [] }, { ok: false }],
        inspect: INSPECTIONS,
        put: [{ ok: true }, { ok: false }],
        drop: [{ ok: true }, { ok: false }],
        add: ['ended', 'failed', 'retained'],
        remove: ['ended', 'failed', 'retained'],
        handshake: ['verified', 'unsupported', 'timeout', 'failed'],
      }),
    brokenBy: {
      'a rejection breaks the chart': edit((at) => drop(invocation(at('applying.adding'), 'add'), 'onError')),
      'a refusal is waited for': edit((at) => {
        const put = invocation(at('applying.promoting'), 'put') as { onDone: Branch[] };
        put.onDone = put.onDone.slice(0, 1);
      }),
    },
  },
];

requirementSuite(registrationMachine, explore, requirements);
