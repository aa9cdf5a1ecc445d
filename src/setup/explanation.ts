/** How a code is put into words. */
export interface Explanation {
  readonly meaning: string;
  readonly next?: string;
}
