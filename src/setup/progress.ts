/** What a person sees while setup waits: a wheel on a terminal, now and then a plain line elsewhere. On stderr. */
export interface Progress {
  /** @param text What is being waited for, in a few words. */
  show(text: string): void;
  /** Clears what is on the screen; must come before the report. */
  end(): void;
}

/** What a terminal has to offer. */
export interface Screen {
  readonly columns?: number;
  write(text: string): unknown;
}

/** Shorter than this, and nobody needs to be told. */
const PATIENCE_MS = 1_000;
const TURN_MS = 100;
const WHEEL = ['|', '/', '-', '\\'] as const;
const CLEAR_LINE = '\r\u001b[K';

const silent: Progress = { show() {}, end() {} };

/**
 * One line, drawn again and again. It neither reads the terminal nor changes its
 * settings, and hears no signal: Ctrl-C is the run's to decide about, and a run
 * that is killed leaves nothing to repair.
 */
export function terminalProgress(screen: Screen): Progress {
  let turning: NodeJS.Timeout | undefined;
  let text = '';
  let turn = 0;
  const draw = () => {
    const line = `${WHEEL[turn % WHEEL.length]} ${text}`;
    turn += 1;
    // A line that wraps could not be cleared.
    screen.write(`${CLEAR_LINE}${line.slice(0, Math.max((screen.columns || 80) - 1, 0))}`);
  };
  return {
    show(next) {
      text = next;
      turning ??= setInterval(draw, TURN_MS).unref();
    },
    end() {
      if (turning === undefined) return;
      clearInterval(turning);
      turning = undefined;
      screen.write(CLEAR_LINE);
    },
  };
}

/** Says a step only once it has taken a second: a script's log stays short. */
export function plainProgress(write: (line: string) => void): Progress {
  let timer: NodeJS.Timeout | undefined;
  return {
    show(text) {
      clearTimeout(timer);
      timer = setTimeout(() => write(`${text} ...\n`), PATIENCE_MS);
      timer.unref();
    },
    end() {
      clearTimeout(timer);
    },
  };
}

/** The one that fits where stderr goes; none for `--json`, whose readers are scripts. */
export function chooseProgress(json: boolean): Progress {
  if (json) return silent;
  if (process.stderr.isTTY && process.env['TERM'] !== 'dumb') return terminalProgress(process.stderr);
  return plainProgress((line) => process.stderr.write(line));
}
