/** What controllers ask of workers. The scripted workers know each task by its text. */

export type TaskName = 'repair-slug' | 'repair-stats' | 'follow-up' | 'wait' | 'repair-range';

function task(goal: string, files: string, checks: string): string {
  return [
    `GOAL: ${goal}`,
    `FILES: ${files}`,
    'LIMITS: no commit, no new dependency, no other file',
    `CHECKS: ${checks}`,
    'REPORT: status, changed files, checks with results, open points',
  ].join('\n');
}

/** Longer than anything that has to happen before the abort. */
export const WAIT_SECONDS = 30;
export const LATE_FILE = 'late.txt';

export const TASKS: Readonly<Record<TaskName, string>> = {
  'repair-slug': task('slug() joins all words, in lower case', 'slug.js', 'node --test'),
  'repair-stats': task('mean([]) is 0', 'stats.js', 'node --test'),
  'follow-up': task(
    'one more test, for digits, and then complete the handshake',
    'slug.test.js, and what the handshake needs',
    'node --test',
  ),
  wait: task(`wait ${WAIT_SECONDS} seconds and then leave a note`, LATE_FILE, 'none'),
  'repair-range': task('range() of nothing is empty, after a short wait', 'range.js', 'node --test'),
};
