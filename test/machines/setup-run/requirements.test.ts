/** What is promised on a run: lock, order, what follows what, what is said in the end. */
import { describe, expect, test } from 'vitest';
import type { RegistrationOutput } from '../../../src/machines/setup/registration.judgement.ts';
import { overall } from '../../../src/machines/setup/run.context.ts';
import { setupRunMachine } from '../../../src/machines/setup/run.machine.ts';
import type { SetupTarget } from '../../../src/ports/setup/run.ts';
import { effectsOf } from '../../kit/effects.ts';
import { drop, invocation } from '../../kit/mutate.ts';
import { breaches, edit, type Requirement, requirementSuite, unheard, unique } from '../../kit/requirement-suite.ts';
import { describeState, describeTriple, isSettlement, Reachable, statusOf } from '../../kit/requirements.ts';
import { allModels, type Run, type State, TARGETS } from './domain.ts';
import { remembered } from './paths.ts';

type Chart = Reachable<Run>;
type Triple = Chart['triples'][number];

const explore = remembered((machine: Run) => new Reachable(allModels(machine)));
const over = (state: unknown) => statusOf(state) === 'done';
const children = (state: unknown) => Object.keys((state as State).children);
const spawned = ({ state, event }: Triple) => effectsOf(state, event).spawned.map(({ src }) => src);
const spawns = (chart: Chart, name: string) => chart.triples.filter((triple) => spawned(triple).includes(name));
const isFrom = ({ event }: Triple, actor: string) => event.type === `xstate.done.actor.${actor}`;
const CHARTS = ['registration', 'skillSlot', 'wakeHook', 'customization'];

interface Branch {
  guard?: unknown;
  target?: string;
  actions?: unknown;
}
const branches = (invoke: { onDone?: unknown }) => invoke.onDone as Branch[];

/** Does the skill follow a registration that ended like this? */
const FOLLOWS: Readonly<Record<string, (status: string) => boolean>> = {
  'dry-run': () => true,
  verify: () => true,
  apply: (status) => status === 'ok' || status === 'unchanged',
  rollback: (status) => status === 'ok',
  remove: (status) => status === 'ok',
};

const requirements: Requirement<Run>[] = [
  {
    says: 'what changes something begins only with the lock, after doctor and release; looking needs no lock',
    findings: (chart) =>
      unique([
        ...breaches(spawns(chart, 'registration'), (triple) => {
          const { operation } = triple.state.context;
          const isFirst = triple.nextState.context.waiting.length === TARGETS.length;
          return (
            isFirst &&
            !(isFrom(triple, 'bindRelease') && (triple.event['output'] as { ok: boolean }).ok && operation !== null)
          );
        }),
        ...breaches(spawns(chart, 'bindRelease'), (triple) => {
          const { operation } = triple.state.context;
          const before = operation === 'apply' || operation === 'verify' ? 'checkDoctor' : 'acquire';
          const outcome = triple.event['output'];
          const isGood = outcome === 'locked' || (outcome as { errors?: number } | undefined)?.errors === 0;
          return !isFrom(triple, before) || !isGood;
        }),
        ...breaches(
          spawns(chart, 'checkDoctor').filter(({ state }) => state.context.operation === 'apply'),
          (triple) => triple.event['output'] !== 'locked',
        ),
        ...chart.triples
          .filter(({ state }) => ['dry-run', 'verify'].includes(state.context.operation))
          .filter((triple) => spawned(triple).includes('acquire'))
          .map(describeTriple),
      ]),
    brokenBy: {
      'a busy lock does not matter': edit((at) => {
        const acquire = branches(invocation(at('locking'), 'acquire'));
        delete acquire[1]?.guard;
      }),
      'the doctor may find something wrong': edit((at) => {
        const doctor = branches(invocation(at('checking'), 'checkDoctor'));
        delete doctor[0]?.guard;
      }),
      'nobody asks the doctor': edit((at) => {
        const acquire = branches(invocation(at('locking'), 'acquire'));
        if (acquire[0]) acquire[0].target = 'binding';
      }),
      'the release need not be known': edit((at) => {
        const bind = branches(invocation(at('binding'), 'bindRelease'));
        delete bind[0]?.guard;
      }),
    },
  },
  {
    says: 'the skill follows where the registration allows it, and nowhere else',
    findings: (chart) =>
      breaches(
        chart.triples.filter((triple) => isFrom(triple, 'registration')),
        (triple) => {
          const { verdict, isHalted } = triple.event['output'] as RegistrationOutput;
          const { operation, signal } = triple.state.context;
          const mayFollow = FOLLOWS[operation]?.(verdict.status) && !isHalted && signal === null;
          return spawned(triple).includes('skillSlot') !== mayFollow;
        },
      ),
    brokenBy: {
      'it always follows': edit((at) => {
        const [first] = branches(invocation(at('working.registering'), 'registration'));
        delete first?.guard;
      }),
    },
  },
  {
    says: 'the hook follows the skill where it was asked for or a removal would leave it behind, and nowhere else',
    findings: (chart) =>
      unique([
        ...breaches(
          chart.triples.filter((triple) => isFrom(triple, 'skillSlot')),
          (triple) => {
            const { operation, signal, waiting, ownsHook } = triple.state.context;
            const [{ client, wake } = TARGETS[1] as SetupTarget] = waiting;
            const isLeft = ownsHook && (operation === 'remove' || operation === 'rollback');
            const mayFollow = client === 'claude-code' && (wake.isAsked || isLeft) && signal === null;
            return spawned(triple).includes('wakeHook') !== mayFollow;
          },
        ),
        ...breaches(
          spawns(chart, 'skillSlot'),
          ({ nextState, event }) => nextState.context.ownsHook !== (event['output'] as RegistrationOutput).ownsHook,
        ),
        ...breaches(spawns(chart, 'wakeHook'), (triple) => !isFrom(triple, 'skillSlot')),
        // What was asked for is answered, whatever the client: once its registration allows it.
        ...chart.states.filter(over).flatMap(({ context: { findings, targets } }) =>
          findings
            .filter(({ target, status }) => target.alias === 'pi-session-mcp' && /^(ok|unchanged)$/.test(status))
            .filter(({ target }) => targets.some(({ client, wake }) => client === target.client && wake.isAsked))
            .filter(
              ({ target: { client } }) =>
                !findings.some(({ target }) => target.client === client && target.alias === 'pi-session-mcp-wake'),
            )
            .map(({ target }) => `nothing is said about the hook of ${target.client}`),
        ),
      ]),
    brokenBy: {
      'it always follows': edit((at) => {
        delete branches(invocation(at('working.placingSkill'), 'skillSlot'))[0]?.guard;
      }),
      'what a removal leaves is forgotten': edit((at) => {
        const [first] = branches(invocation(at('working.registering'), 'registration'));
        (first?.actions as unknown[] | undefined)?.pop();
      }),
      'nobody answers for it': edit((at) => {
        const [, second] = branches(invocation(at('working.placingSkill'), 'skillSlot'));
        (second?.actions as unknown[] | undefined)?.shift();
      }),
    },
  },
  {
    says: 'after an interruption, or beside what may still run, no other target is begun',
    findings: (chart) =>
      breaches(
        chart.triples.filter(
          (triple) =>
            triple.state.context.signal !== null ||
            (['registration', 'wakeHook'].some((each) => isFrom(triple, each)) &&
              (triple.event['output'] as RegistrationOutput).isHalted),
        ),
        (triple) =>
          spawned(triple).some((src) => CHARTS.includes(src) || src === 'checkDoctor' || src === 'bindRelease'),
      ),
    brokenBy: {
      'the next one is begun': edit((at) => {
        at('working.choosing').always = (at('working.choosing').always as Branch[]).slice(1);
      }),
      'a lock that comes late is used': edit((at) => {
        const acquire = branches(invocation(at('locking'), 'acquire'));
        delete acquire[0]?.guard;
      }),
    },
  },
  {
    says: 'an interruption is heard everywhere; what has begun below is told and awaited',
    findings: (chart) =>
      unique(
        chart.active().flatMap((state) => {
          const { state: next, sent, actions } = effectsOf(state, { type: 'INTERRUPT', signal: 'SIGTERM' });
          const [child = ''] = children(state);
          const wanted = state.context.signal ?? 'SIGTERM';
          const isNoted = (next as unknown as State).context.signal === wanted;
          const isTold = CHARTS.includes(child) ? sent.some(({ to }) => to === child) : true;
          const isAwaited = CHARTS.includes(child) || child === 'acquire' ? children(next).includes(child) : true;
          const isAborted = child === 'acquire' ? actions.includes('abortStep') : true;
          return isNoted && isTold && isAwaited && isAborted ? [] : [describeState(state)];
        }),
      ),
    brokenBy: {
      'a registration is not told': edit((at) => {
        const on = at('working.registering').on as Record<string, { actions: unknown[] }>;
        on['INTERRUPT']?.actions.pop();
      }),
      'a hook is left alone': edit((at) => drop(at('working.placingHook'), 'on')),
      'a skill is left alone': edit((at) => drop(at('working.placingSkill'), 'on')),
      'the lock is waited for to the end': edit((at) => {
        const on = at('locking').on as Record<string, { actions: unknown[] }>;
        on['INTERRUPT']?.actions.pop();
      }),
    },
  },
  {
    says: 'every run on targets ends by letting the lock go, when nothing below runs any more',
    findings: (chart) => [
      ...breaches(
        chart.triples.filter(({ state, nextState }) => over(nextState) && state.context.customize === null),
        ({ state }) => !children(state).includes('release'),
      ),
      ...breaches(
        spawns(chart, 'release'),
        ({ state, nextState, event }) =>
          children(nextState).join() !== 'release' ||
          (children(state).some((each) => [...CHARTS, 'acquire'].includes(each)) && event.type === 'INTERRUPT'),
      ),
      ...chart.avoiding(over, isSettlement).map(describeState),
    ],
    brokenBy: {
      'a busy run just ends': edit((at) => {
        const acquire = branches(invocation(at('locking'), 'acquire'));
        if (acquire[3]) acquire[3].target = 'done';
      }),
      'it is let go beside a registration': edit((at) => {
        at('working.registering').on = { INTERRUPT: { target: '#setupRun.releasing' } };
      }),
    },
  },
  {
    says: 'every target has its findings, in order, and each only once',
    findings: (chart) =>
      unique(
        chart.states.filter(over).flatMap((state) => {
          const { findings, customize } = state.context;
          const said = findings.map(({ target, code }) => `${target.client} ${target.alias}${customize ? code : ''}`);
          const isOnce = new Set(said).size === said.length;
          const registrations = findings.filter(({ target }) => target.alias === 'pi-session-mcp');
          const isWhole =
            customize !== null || registrations.map(({ target }) => target.client).join() === 'claude-code,codex';
          return isOnce && isWhole ? [] : [said.join()];
        }),
      ),
    brokenBy: {
      'those that are left are not mentioned': edit((at) => {
        const [first] = at('working.choosing').always as Branch[];
        delete first?.actions;
      }),
      'a target is reported twice': edit((at) => {
        const registered = branches(invocation(at('working.registering'), 'registration'))[1];
        const actions = registered?.actions as unknown[] | undefined;
        actions?.unshift(actions[0]);
      }),
    },
  },
  {
    says: 'the exit status says whether it failed, or which signal ended it',
    findings: (chart) =>
      unique(
        chart.states.filter(over).flatMap((state) => {
          const { signal, findings } = state.context;
          const isBad = findings.some(({ status }) => ['failed', 'divergent', 'unsupported'].includes(status));
          const wanted = signal === 'SIGINT' ? 130 : signal === 'SIGTERM' ? 143 : isBad ? 1 : 0;
          const isRight = state.output?.exit === wanted && (state.output.status === 'failed') === isBad;
          return isRight ? [] : [`${wanted}, but ${JSON.stringify(state.output)}`];
        }),
      ),
    brokenBy: {
      'the signal is forgotten': edit((at) => {
        at('releasing').on = {};
        at('checking').on = {
          INTERRUPT: {
            target: 'releasing',
            actions: { type: 'reportRest', params: { status: 'unchanged', code: 'operation_interrupted' } },
          },
        };
        Object.assign(at(), { output: () => ({ exit: 0, status: 'ok', findings: [], operation: 'apply' }) });
      }),
    },
  },
  {
    says: 'whatever comes of a step is heard',
    findings: (chart) =>
      unheard(chart, {
        acquire: ['locked', 'busy', 'unavailable'],
        checkDoctor: [{ errors: 0 }, { errors: 1 }],
        bindRelease: [{ ok: true, fingerprint: 'x' }, { ok: false }],
        release: ['released', 'retained'],
      }),
    brokenBy: {
      'a rejection breaks the run': edit((at) => drop(invocation(at('locking'), 'acquire'), 'onError')),
    },
  },
  {
    says: 'doctor and release have a deadline',
    findings: (chart) =>
      unique(
        chart
          .active()
          .filter((state) => children(state).some((each) => ['checkDoctor', 'bindRelease'].includes(each)))
          .filter(
            (state) =>
              !chart.canReach(
                state,
                (each) => each.matches('releasing'),
                ({ event }) => event.type.startsWith('xstate.after.'),
              ),
          )
          .map(describeState),
      ),
    brokenBy: {
      'the doctor takes its time': edit((at) => drop(at('checking'), 'after')),
      'so does the release': edit((at) => drop(at('binding'), 'after')),
    },
  },
];

requirementSuite(setupRunMachine, explore, requirements);

describe('the status of the whole', () => {
  test.each([
    [['absent', 'absent'], 'planned'],
    [['unchanged', 'planned'], 'planned'],
    [['unchanged', 'unchanged'], 'unchanged'],
    [['ok', 'unchanged'], 'ok'],
    [['absent', 'divergent'], 'failed'],
    [['ok', 'failed'], 'failed'],
    [['unchanged', 'unsupported'], 'failed'],
  ] as const)('%s is %s', (statuses, expected) => {
    expect(overall(statuses)).toBe(expected);
  });
});
