/** What is promised on the slot of a skill: whose copies may be touched, and in which order. */
import { skillSlotMachine } from '../../../src/machines/setup/skill-slot.machine.ts';
import type { OwnershipRecord } from '../../../src/ports/setup/ownership.ts';
import { effectsOf } from '../../kit/effects.ts';
import { drop, invocation } from '../../kit/mutate.ts';
import { breaches, edit, type Requirement, requirementSuite, unheard, unique } from '../../kit/requirement-suite.ts';
import { describeState, isSettlement, Reachable, statusOf } from '../../kit/requirements.ts';
import { remembered } from '../setup-run/paths.ts';
import { SKILL } from '../setup-run/world.ts';
import { allModels, type SkillSlotChart, SLOTS, STEPS, type State } from './domain.ts';

type Chart = Reachable<SkillSlotChart>;
type Triple = Chart['triples'][number];

const explore = remembered((machine: SkillSlotChart) => new Reachable(allModels(machine)));
const over = (state: unknown) => statusOf(state) === 'done';
const children = (state: unknown) => Object.keys((state as State).children);
const spawned = ({ state, event }: Triple) => effectsOf(state, event).spawned;
const spawns = (chart: Chart, name: string) =>
  chart.triples.filter((triple) => spawned(triple).some(({ src }) => src === name));
const inputOf = (triple: Triple) => spawned(triple)[0]?.input as OwnershipRecord;
const isDone = ({ event }: Triple, ...actors: string[]) =>
  actors.some((actor) => event.type === `xstate.done.actor.${actor}`) && (event['output'] as { ok: boolean }).ok;
const sees = ({ event }: Triple, ...slots: string[]) =>
  event.type === 'xstate.done.actor.look' &&
  slots.some((slot) => JSON.stringify(event['output']) === JSON.stringify(SLOTS[slot]));

interface Branch {
  guard?: unknown;
  target?: string;
}
const branches = (invoke: { onDone?: unknown }) => invoke.onDone as Branch[];

const requirements: Requirement<SkillSlotChart>[] = [
  {
    says: 'an interruption is heard everywhere: a look is given up, a step is awaited',
    findings: (chart) =>
      unique(
        chart.active().flatMap((state) => {
          const next = effectsOf(state, { type: 'INTERRUPT' }).state as unknown as State;
          const [child = ''] = children(state);
          const isAwaited = STEPS.some((step) => step === child);
          const isRight = isAwaited ? children(next).includes(child) : over(next);
          const isEnded =
            next.context.verdict?.code === (state.context.verdict ?? { code: 'operation_interrupted' }).code;
          return isRight && isEnded ? [] : [describeState(state)];
        }),
      ),
    brokenBy: {
      'a swap is left alone': edit((at) => drop(at('applying.exchanging'), 'on')),
      'a removal is not interrupted': edit((at) => {
        at('removing.discarding').on = { INTERRUPT: {} };
      }),
      'nobody listens while looking': edit((at) => drop(at(), 'on')),
    },
  },
  {
    says: 'once there is a verdict nothing more is begun but putting back, and it stands',
    findings: (chart) =>
      breaches(
        chart.triples.filter(({ state }) => state.context.verdict !== null),
        (triple) =>
          spawned(triple).length > 0 || triple.nextState.context.verdict?.code !== triple.state.context.verdict?.code,
      ),
    brokenBy: {
      'an interrupted swap goes on': edit((at) => {
        const stage = branches(invocation(at('applying.exchanging.staging'), 'stage'));
        delete stage[1]?.guard;
      }),
      'an interrupted removal goes on': edit((at) => {
        const [first] = branches(invocation(at('removing.displacing'), 'displace'));
        delete first?.guard;
      }),
    },
  },
  {
    says: 'nothing is staged, moved or placed before a pending record of it is durable',
    findings: (chart) =>
      breaches(
        ['stage', 'place', 'displace']
          .flatMap((step) => spawns(chart, step))
          .filter(({ state }) => state.context.operation === 'apply'),
        (triple) => !isDone(triple, 'put', 'stage', 'displace'),
      ),
    brokenBy: {
      'it is staged first': edit((at) => {
        const look = branches(invocation(at('applying.lookingFirst'), 'look'));
        if (look[1]) look[1].target = 'exchanging';
      }),
      'a failed write does not matter': edit((at) => {
        const put = branches(invocation(at('applying.recordingPending'), 'put'));
        delete put[0]?.guard;
      }),
    },
  },
  {
    says: 'during an update the record knows both copies',
    findings: (chart) =>
      breaches(
        spawns(chart, 'put').filter((triple) => inputOf(triple).phase === 'pending' && triple.nextState.context.old),
        (triple) => inputOf(triple).fingerprint !== SKILL || inputOf(triple).replaces !== triple.nextState.context.old,
      ),
    brokenBy: {
      'the old one is forgotten': edit((at) => {
        const put = invocation(at('applying.recordingPending'), 'put') as { input?: unknown };
        put.input = ({ context }: { context: State['context'] }) => ({
          ...context.key,
          phase: 'pending',
          fingerprint: context.source,
        });
      }),
    },
  },
  {
    says: 'nothing is owned that was not seen in the slot, with the old copy gone',
    findings: (chart) =>
      breaches(
        spawns(chart, 'put').filter((triple) => inputOf(triple).phase === 'owned'),
        (triple) => !(triple.state.context.old === null ? sees(triple, 'current') : isDone(triple, 'discard')),
      ),
    brokenBy: {
      'what is placed is owned': edit((at) => {
        const [first] = branches(invocation(at('applying.exchanging.placing'), 'place'));
        if (first) first.target = '#skillSlot.applying.recordingOwned';
      }),
      'the old one stays': edit((at) => {
        const [first] = branches(invocation(at('applying.exchanging.lookingAgain'), 'look'));
        if (first) first.target = '#skillSlot.applying.recordingOwned';
      }),
    },
  },
  {
    says: 'only our own, unchanged copies are moved out of the slot',
    findings: (chart) =>
      breaches(
        chart.triples.filter((triple) => sees(triple, 'foreign', 'hidden', 'not a tree', 'unresolved')),
        (triple) => spawned(triple).some(({ src }) => src !== 'recover'),
      ),
    brokenBy: {
      'every copy is replaced': edit((at) => {
        const look = branches(invocation(at('applying.lookingFirst'), 'look'));
        look[5] = { target: 'recordingPending' };
      }),
      'every copy is removed': edit((at) => {
        const look = branches(invocation(at('removing.lookingFirst'), 'look'));
        delete look[1]?.guard;
      }),
    },
  },
  {
    says: 'the record of a removed copy goes last',
    findings: (chart) =>
      breaches(spawns(chart, 'drop'), (triple) => !(isDone(triple, 'discard') || sees(triple, 'absent', 'linked'))),
    brokenBy: {
      'it goes before the copy': edit((at) => {
        const [first] = branches(invocation(at('removing.displacing'), 'displace'));
        if (first) first.target = 'dropping';
      }),
    },
  },
  {
    says: 'while another registration is owned that uses the slot, nothing is removed',
    findings: (chart) =>
      breaches(
        chart.triples.filter(
          ({ state, event }) =>
            ['remove', 'rollback'].includes(state.context.operation) &&
            JSON.stringify(event['output'] ?? '').includes(
              '"scope":"local","alias":"pi-session-mcp@0123456789abcdef","phase":"owned"',
            ),
        ),
        ({ nextState }) => nextState.output?.code !== 'skill_kept_shared',
      ),
    brokenBy: {
      'nobody asks': edit((at) => {
        const [first] = branches(invocation(at('readingRecords'), 'readRecords'));
        delete first?.guard;
      }),
    },
  },
  {
    says: 'a dry-run and a verification change nothing',
    findings: (chart) =>
      breaches(
        chart.triples.filter(({ state }) => ['dry-run', 'verify'].includes(state.context.operation)),
        (triple) => spawned(triple).some(({ src }) => STEPS.some((step) => step === src)),
      ),
    brokenBy: {
      'a dry-run applies': edit((at) => {
        (at('looking').always as Branch[])[0] = { guard: 'isDryRun', target: 'applying' };
      }),
    },
  },
  {
    says: 'a swap that fails half-way is put back',
    findings: (chart) =>
      breaches(
        chart.triples.filter(
          ({ state, event }) =>
            state.context.verdict === null &&
            state.matches({ applying: 'exchanging' }) &&
            /(done|error)\.actor\.(stage|displace|place)$/.test(event.type) &&
            !(event['output'] as { ok?: boolean } | undefined)?.ok,
        ),
        (triple) => spawned(triple)[0]?.src !== 'recover',
      ),
    brokenBy: {
      'the slot stays empty': edit((at) => {
        const place = branches(invocation(at('applying.exchanging.placing'), 'place'));
        place[1] = { target: '#skillSlot.done' };
      }),
    },
  },
  {
    says: 'every run ends when what it asked for ends',
    findings: (chart) => chart.avoiding(over, isSettlement).map(describeState),
    brokenBy: {
      'it recovers again and again': edit((at) => {
        const [first] = branches(invocation(at('removing.recovering'), 'recover'));
        delete (first as { actions?: unknown }).actions;
      }),
    },
  },
  {
    says: 'whatever a port comes to is heard',
    findings: (chart) =>
      unheard(chart, {
        readRecords: [{ ok: true, records: [] }, { ok: false }],
        readSource: [{ ok: true, fingerprint: SKILL }, { ok: false }],
        look: Object.values(SLOTS),
        ...Object.fromEntries(STEPS.map((step) => [step, [{ ok: true }, { ok: false }]])),
      }),
    brokenBy: {
      'a rejection breaks the chart': edit((at) => drop(invocation(at('applying.promoting'), 'put'), 'onError')),
      'a refusal is waited for': edit((at) => {
        const place = invocation(at('applying.exchanging.placing'), 'place') as { onDone: Branch[] };
        place.onDone = place.onDone.slice(0, 1);
      }),
    },
  },
];

requirementSuite(skillSlotMachine, explore, requirements);
