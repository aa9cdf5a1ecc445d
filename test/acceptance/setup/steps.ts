/** The nine steps, and what each of the two findings must say. */
export interface Step {
  readonly operation: 'dry-run' | 'apply' | 'verify' | 'rollback' | 'remove';
  readonly overall: string;
  readonly registration: string;
  readonly skill: string;
  /** Is the skill there afterwards? */
  readonly installed: boolean;
}

const planned: Step = {
  operation: 'dry-run',
  overall: 'planned',
  registration: 'absent (absent)',
  skill: 'absent (skill_absent)',
  installed: false,
};
const applied: Step = {
  operation: 'apply',
  overall: 'ok',
  registration: 'ok (applied)',
  skill: 'ok (skill_installed)',
  installed: true,
};
const verified: Step = {
  operation: 'verify',
  overall: 'ok',
  registration: 'ok (mcp_verified)',
  skill: 'ok (skill_verified)',
  installed: true,
};
const gone = (operation: 'rollback' | 'remove', code: string): Step => ({
  operation,
  overall: 'ok',
  registration: `ok (${code})`,
  skill: 'ok (skill_removed)',
  installed: false,
});

export const STEPS: readonly Step[] = [
  planned,
  planned,
  applied,
  {
    operation: 'apply',
    overall: 'unchanged',
    registration: 'unchanged (already_equivalent)',
    skill: 'unchanged (skill_already_equivalent)',
    installed: true,
  },
  verified,
  gone('rollback', 'rolled_back'),
  applied,
  verified,
  gone('remove', 'removed'),
];
