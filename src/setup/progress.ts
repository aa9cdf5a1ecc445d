/** What a person sees while setup waits: a spinner on a terminal, now and then a plain line elsewhere. On stderr. */
export interface Progress {
  /** @param text What is being waited for, in a few words. */
  show(text: string): void;
  /** Clears what is on the screen; must come before the report. */
  end(): void;
}

/** Shorter than this, and nobody needs to be told. */
const PATIENCE_MS = 1_000;

const silent: Progress = { show() {}, end() {} };

async function terminalProgress(): Promise<Progress> {
  // Not needed by scripts, and they should not wait for it.
  const { spinner } = await import('@clack/prompts');
  const wheel = spinner({ output: process.stderr });
  let spinning = false;
  return {
    show(text) {
      if (spinning) wheel.message(text);
      else wheel.start(text);
      spinning = true;
    },
    end() {
      if (spinning) wheel.clear();
      spinning = false;
    },
  };
}

/** Says a step only once it has taken a second: a script's log stays short. */
function plainProgress(write: (line: string) => void): Progress {
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
export async function chooseProgress(json: boolean): Promise<Progress> {
  if (json) return silent;
  if (process.stderr.isTTY) return terminalProgress();
  return plainProgress((line) => process.stderr.write(line));
}
