/** What must hold for every scenario: name of the check → does it? */
import type { Evidence } from '../evidence.ts';
import { answersOf, sessionsOf, turnsOf } from './results.ts';
import { scan } from './scan.ts';

export type Checks = Readonly<Record<string, boolean>>;

/** File times come from a coarser clock than the server's, and lag behind it. */
const CLOCK_SLACK_MS = 20;

function preparation({ setup, controller }: Evidence): Checks {
  return {
    'setup reports applied and skill_installed':
      setup.statuses.join(' ') === 'pi-session-mcp:applied pi-session-orchestration:skill_installed',
    'controller skill is a regular copy of the shipped one': setup.skillCopied,
    'client offers the controller skill to its model': controller.firstRequest.includes('pi-session-orchestration'),
    'client ends with 0': controller.code === 0,
    'controller goes through to its end':
      controller.finished && controller.failure === undefined && controller.answer.includes('ALL DONE'),
    'client asks its model for nothing else': controller.others.length === 0,
  };
}

function capabilities(evidence: Evidence): Checks {
  const [first] = answersOf(evidence);
  const { server, configuration, executionProfiles } = first?.result ?? {};
  const skills = executionProfiles?.find(({ alias }) => alias === 'accept-code')?.skills;
  return {
    'capabilities come first': first?.tool === 'pi_capabilities_get',
    'capabilities show the version under test': server?.version === evidence.made.version,
    'capabilities show the fingerprint of the configuration': configuration?.fingerprint === evidence.made.fingerprint,
    'capabilities show the skills of the coding profile': String(skills) === 'implementation,handshake',
  };
}

function secrecy(evidence: Evidence): Checks {
  const { made, controller, worker } = evidence;
  const found = scan(evidence);
  const own = controller.calls.flatMap((call) => (call.kind === 'own' ? [call.text] : []));
  const sent = answersOf(evidence, 'pi_session_prompt').map(({ args }) => String(args['prompt']));
  const prompts = [...sent, ...worker.prompts];
  return {
    'every result is one JSON object, alike in each form': found.results > 0 && found.foreign === 0,
    'no result holds a local path': found.paths === 0,
    'no result holds the token': found.tokens === 0,
    'no result holds a credential': found.credentials === 0,
    'the token is nowhere in the controller transcript': !controller.said.includes(made.token),
    'no worker prompt holds the token': prompts.length > 0 && !prompts.some((text) => text.includes(made.token)),
    'no worker prompt names a private path or a skill file': !prompts.some(
      (text) => text.includes(made.privateDirectory) || text.includes('SKILL.md'),
    ),
    'the controller never names the private directory': !own.some((text) => text.includes(made.privateDirectory)),
  };
}

function processes({ processes: { seen, left } }: Evidence): Checks {
  return {
    'the watch saw the controller and the server':
      seen.some(({ controller }) => controller) && seen.some(({ server }) => server),
    'no process is left after the shutdown bound': left.length === 0,
  };
}

function files(evidence: Evidence): Checks {
  const turns = turnsOf(evidence);
  const late = Object.values(evidence.fixtures).flatMap(({ alias, written }) => {
    const own = turns.filter(({ workspace }) => workspace === alias);
    return Object.entries(written).filter(
      ([, at]) => !own.some(({ from, to }) => at >= from - CLOCK_SLACK_MS && at <= to),
    );
  });
  return { 'changed files were written within turns of their session': late.length === 0 };
}

function closing(evidence: Evidence): Checks {
  const opened = [...sessionsOf(evidence).values()];
  const closed = answersOf(evidence, 'pi_session_close').filter(({ result }) => result.session?.state === 'closed');
  const profiles = answersOf(evidence, 'pi_session_start').map(({ result }) => result.session?.executionProfile);
  return {
    'two sessions of the coding profile': String(profiles) === 'accept-code,accept-code' && opened.length === 2,
    'every session is closed': opened.every((id) => closed.some(({ result }) => result.session?.id === id)),
  };
}

export function commonChecks(evidence: Evidence): Checks {
  return {
    ...preparation(evidence),
    ...capabilities(evidence),
    ...closing(evidence),
    ...secrecy(evidence),
    ...processes(evidence),
    ...files(evidence),
  };
}

/** Do the oracles agree with what the fixture must look like now? */
export function fixtureHolds(
  { fixtures }: Evidence,
  name: keyof Evidence['fixtures'],
  expected: { readonly status: readonly string[]; readonly tests: number },
): Checks {
  const { status, tests } = fixtures[name] ?? {};
  return {
    [`${name}: exactly the allowed files changed`]: status !== undefined && String(status) === String(expected.status),
    [`${name}: its tests pass`]: tests?.failed === 0 && tests.passed === expected.tests,
  };
}
