/** Adds counts up and reports them now and then, so that a flood cannot become a flood of diagnostics. */
export type Schedule = (flush: () => void, delayMs: number) => void;

export interface Coalescer {
  add(counts: Readonly<Record<string, number>>): void;
  /** Reports what has been added since the last report, if anything. */
  flush(): void;
}

const FIRST_MS = 20;
const LATER_MS = 1_000;

/** Unreferenced: a report that is due never keeps the process alive. */
const scheduleTimer: Schedule = (flush, delayMs) => {
  setTimeout(flush, delayMs).unref();
};

/** The first report comes soon, later ones at most once a second. */
export function createCoalescer(
  report: (counts: Readonly<Record<string, number>>) => void,
  schedule: Schedule = scheduleTimer,
): Coalescer {
  let counts: Record<string, number> | undefined;
  let delayMs = FIRST_MS;
  let scheduled = false;
  const flush = () => {
    const due = counts;
    counts = undefined;
    if (due) report(due);
  };
  return {
    add(more) {
      counts ??= {};
      for (const [key, value] of Object.entries(more)) counts[key] = (counts[key] ?? 0) + value;
      if (scheduled) return;
      scheduled = true;
      schedule(() => {
        scheduled = false;
        flush();
      }, delayMs);
      delayMs = LATER_MS;
    },
    flush,
  };
}
