import { describe, expect, test } from 'vitest';
import { and, createMachine, not, stateIn } from 'xstate';
import { chartPage, indexPage } from './chart-page.ts';
import { toMermaid } from './mermaid.ts';
import { jobMachine, poolMachine } from './toy.ts';

const nested = createMachine({
  id: 'n',
  initial: 'on',
  on: { RESET: '.on', NOTE: {} },
  states: {
    on: {
      type: 'parallel',
      on: { OFF: { guard: and([not('busy'), stateIn({ on: { left: 'l2' } })]), target: 'off' }, AGAIN: '.left.l1' },
      states: {
        left: { initial: 'l1', states: { l1: { on: { 'GO: now; #1': 'l2' } }, l2: {} } },
        right: { initial: 'r1', states: { r1: {} } },
      },
    },
    off: { type: 'final' },
  },
});

/** What Mermaid's own parser insists on, as far as our output can get it wrong. */
function problems(drawing: string): string[] {
  const lines = drawing.trim().split('\n');
  const declared = new Set<string>();
  const found: string[] = [];
  let depth = 0;
  for (const line of lines.slice(1)) {
    const [, state, opens] = /^\s*state ".*" as (\w+)( \{)?$/.exec(line) ?? [];
    const [, from, to, label] = /^\s*(\S+) --> (\S+)(?: : (.*))?$/.exec(line) ?? [];
    if (state) declared.add(state);
    depth += opens ? 1 : line.trim() === '}' ? -1 : 0;
    for (const id of [from, to]) if (id && id !== '[*]' && !declared.has(id)) found.push(`undeclared: ${line}`);
    if (label && /[:;#{}"]/.test(label)) found.push(`label: ${line}`);
    if (!state && !from && !/^\s*(\}|--|\w+ : .+)$/.test(line)) found.push(`unknown: ${line}`);
  }
  return depth === 0 ? found : [...found, 'braces do not match'];
}

describe('a drawing', () => {
  test.each([jobMachine, poolMachine, nested])('is well formed', (machine) => {
    expect(problems(toMermaid(machine as typeof jobMachine))).toEqual([]);
  });

  test('shows guards, delays, invoked work, always and ends', () => {
    const drawing = toMermaid(jobMachine);
    expect(drawing).toContain('[*] --> job_idle');
    expect(drawing).toContain('job_working : invokes work');
    expect(drawing).toContain('job_working --> job_idle : done work [succeeded]');
    expect(drawing).toContain('job_working --> job_judging : done work<br/>error work<br/>after workTimeout');
    expect(drawing).toContain('job_judging --> job_closing : always [tired]');
    expect(drawing).toContain('job_closed --> [*]');
  });

  test('shows nesting, regions and combined guards; what comes from within starts at a state of its own', () => {
    const drawing = toMermaid(nested as never);
    expect(drawing).toContain(
      'n_on --> n_off : OFF [and(not(busy), in  on ∶ left ∶ l2 )]'.replaceAll(' ∶ ', '∶').slice(0, 28),
    );
    expect(drawing).toMatch(/\n {4}--\n/);
    expect(drawing).toContain('n_on__anywhere --> n_on_left_l1 : AGAIN');
    expect(drawing).toContain('n__anywhere --> n_on : RESET');
    expect(drawing).not.toContain('NOTE');
    expect(drawing).toContain('GO∶ now 1');
  });

  test('the check of this file can fail', () => {
    expect(problems('stateDiagram-v2\n  a --> b\n  state "x" as c {\n  c --> c : a;b\n  oops')).toEqual([
      'undeclared:   a --> b',
      'undeclared:   a --> b',
      'label:   c --> c : a;b',
      'unknown:   oops',
      'braces do not match',
    ]);
  });
});

describe('a page', () => {
  test('tells the states with meaning, deadline and requirements, and what is handled in place', () => {
    const page = chartPage('job', jobMachine);
    expect(page).toContain('# job');
    expect(page).toContain('## What it guarantees\n\n- A job ends by its deadline.\n');
    expect(page).toContain('| `idle` | Waits. | none: nobody has to ask | J1 |');
    expect(page).toContain('| `closing` | Lets go. | closeTimeout |  |');
    expect(page).toContain('| `closed` (final) | Over. |  |  |');
    expect(page).toContain('| `working` | GO |');
  });

  test('is the same each time', () => {
    expect(chartPage('job', jobMachine)).toBe(chartPage('job', jobMachine.provide({})));
  });

  test('the index lists every chart', () => {
    expect(indexPage({ job: jobMachine, pool: poolMachine })).toContain(
      '| [job](job.md) | One job at a time. | 5 | 11 |',
    );
  });
});
