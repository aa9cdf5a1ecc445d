/** How a code is put into words. */

/** Said in the same words by all that is only planned, so that a report says it once. */
export const APPLY = 'Run the same command with --apply.';

export interface Explanation {
  readonly meaning: string;
  readonly next?: string;
}
