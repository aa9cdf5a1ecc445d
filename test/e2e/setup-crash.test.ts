/**
 * A run of the built setup is killed right after each call that changes the disk,
 * and inside each command of a client; the run after it must reach what a run
 * without a crash reaches, byte for byte, with nothing of others touched.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { processesOf } from './kit/processes.ts';
import { until } from './kit/until.ts';
import { codes, makeOperator, type Operator, plantForeignSkill, runSetup, treeOf } from './setup-kit/operator.ts';

const root = mkdtempSync(join(tmpdir(), 'setup-crash-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const override = (operator: Operator, text: string) => {
  const directory = join(operator.home, '.config/pi-session-mcp/skills/pi-session-orchestration');
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'SKILL.md'), text);
};

interface Scenario {
  readonly name: string;
  readonly target: string | null;
  readonly args: readonly string[];
  /** What has happened before. */
  readonly before: (operator: Operator, args: readonly string[]) => Promise<void>;
  /** Commands of the client that it needs. */
  readonly verbs?: readonly string[];
  /** Acceptable findings of the run after the crash, per line; the end state decides. */
  readonly after: readonly RegExp[];
}

const apply = async (operator: Operator, args: readonly string[]) => {
  const rest = args.filter((arg) => !/^--(apply|remove|rollback)$/.test(arg));
  expect((await runSetup(operator, ['--apply', ...rest])).code).toBe(0);
};
const nothing = async () => {};

const GONE =
  /^ok \((removed|rolled_back|skill_removed|skill_absent|wake_removed)\)$|ownership_unavailable|skill_not_owned/;
const THERE = /^(ok|unchanged) \((applied|pending_recovered|already_equivalent|(skill|wake)_\w+)\)$/;

const targeted = (target: string): Scenario[] => [
  { name: 'apply', target, args: ['--apply'], verbs: ['get', 'add'], before: nothing, after: [THERE, THERE] },
  { name: 'remove', target, args: ['--remove'], verbs: ['get', 'remove'], before: apply, after: [GONE, GONE] },
  { name: 'rollback', target, args: ['--rollback'], verbs: ['get', 'remove'], before: apply, after: [GONE, GONE] },
  {
    name: 'update of the skill',
    target,
    args: ['--apply'],
    verbs: ['get'],
    before: async (operator, args) => {
      await apply(operator, args);
      override(operator, 'my own version');
    },
    after: [THERE, THERE],
  },
];

const SCENARIOS: readonly Scenario[] = [
  ...targeted('codex:user'),
  ...targeted('claude-code:project'),
  {
    name: 'apply with the hook',
    target: 'claude-code:user',
    args: ['--apply', '--wake'],
    verbs: ['marketplace-list', 'plugin-list', 'install'],
    before: nothing,
    after: [THERE, THERE, THERE, THERE],
  },
  {
    name: 'update of the hook',
    target: 'claude-code:user',
    args: ['--apply', '--wake'],
    before: async (operator, args) => {
      await apply(operator, args);
      const plugin = join(operator.state, 'claude-plugin/plugins/pi-session-mcp-wake');
      writeFileSync(join(plugin, '.claude-plugin/plugin.json'), '{"of":"another release"}');
    },
    after: [THERE, THERE, THERE, THERE],
  },
  {
    name: 'remove of what has a hook',
    target: 'claude-code:user',
    args: ['--remove'],
    verbs: ['marketplace-list', 'plugin-list', 'uninstall', 'marketplace-remove'],
    before: (operator, args) => apply(operator, [...args, '--wake']),
    after: [GONE, GONE, GONE],
  },
  {
    name: 'customization',
    target: null,
    args: ['--apply', '--customize-skill', 'pi-session-review'],
    before: nothing,
    after: [/^(ok|unchanged) \(skill_(customized|override_current|base_updated)\)$/],
  },
  {
    name: 'acknowledgement of a changed original',
    target: null,
    args: ['--apply', '--customize-skill', 'pi-session-review'],
    before: async (operator) => {
      const skills = join(operator.home, '.config/pi-session-mcp/skills');
      mkdirSync(join(skills, 'pi-session-review'), { recursive: true });
      writeFileSync(join(skills, 'pi-session-review/SKILL.md'), 'mine');
    },
    after: [/^(ok|unchanged) \(skill_(override_current|base_updated)\)$/],
  },
];

/** What the operator owns: everything but the stand-ins' own start counters, of which there are none. */
const belongings = ({ home, project }: Operator) => ({ ...treeOf(home, '~/'), ...treeOf(project, 'project/') });

async function prepare(scenario: Scenario, name: string) {
  const operator = makeOperator(join(root, name));
  for (const skills of [join(operator.home, '.agents/skills'), join(operator.project, '.claude/skills')]) {
    plantForeignSkill(skills);
  }
  const target = scenario.target === null ? [] : ['--target', `${scenario.target}:pi-session-mcp`];
  const args = [...scenario.args, '--json', ...target];
  await scenario.before(operator, args);
  return { operator, args };
}

const settled = ({ root: place }: Operator) => until('no process left', () => processesOf(place).length === 0);

/** The end state of a run that nobody disturbs, and how often it changes the disk. */
async function reference(scenario: Scenario, name: string) {
  const { operator, args } = await prepare(scenario, name);
  const count = join(operator.root, 'count');
  const run = await runSetup(operator, args, { CRASH_COUNT: count });
  expect(run, run.stdout).toMatchObject({ code: 0 });
  return { steps: Number(readFileSync(count, 'utf8')), end: belongings(operator) };
}

async function recovers(scenario: Scenario, name: string, crash: Readonly<Record<string, string>>, end: unknown) {
  const { operator, args } = await prepare(scenario, name);
  const killed = await runSetup(operator, args, crash);
  expect(killed.signal).toBe('SIGKILL');
  await settled(operator);
  const again = await runSetup(operator, args);
  expect(again.stderr).toBe('');
  for (const [index, code] of codes(again).entries()) expect(code).toMatch(scenario.after[index] as RegExp);
  const now = belongings(operator);
  expect(now).toEqual(end);
}

let points = 0;
afterAll(() => console.log(`setup: ${points} crash points`));

describe.each(SCENARIOS.map((scenario) => ({ ...scenario, where: scenario.target ?? 'of a skill' })))(
  '$name, $where',
  (scenario) => {
    const name = `${scenario.name} ${scenario.target ?? ''}`.replaceAll(/[^a-z]/g, '-');

    test('killed after each change of the disk', { timeout: 600_000 }, async () => {
      const { steps, end } = await reference(scenario, name);
      expect(steps).toBeGreaterThan(3);
      for (let at = 1; at <= steps; at += 1) {
        await recovers(scenario, name, { CRASH_AT: String(at) }, end).catch((error: Error) => {
          throw new Error(`killed after change ${at} of ${steps}: ${error.message}`);
        });
        points += 1;
      }
    });

    const { verbs = [] } = scenario;
    test.each(
      verbs.flatMap((verb) => ['killed-before', 'killed-during', 'killed-after'].map((how) => `${verb}:${how}`)),
    )('in a command of the client, %s', { timeout: 60_000 }, async (mischief) => {
      const { end } = await reference(scenario, name);
      await recovers(scenario, name, { FAKE_MISCHIEF: mischief }, end);
      points += 1;
    });
  },
);
