/**
 * The demo's output: numbered steps, what the client sent, what came back, how
 * long it took, and what was verified. Colours and a running clock only for a
 * terminal; a pipe gets the same lines without them.
 */
import type { WriteStream } from 'node:tty';

const WIDTH = 100;
const LABEL = 19;
/** Indent, mark and label. */
const MARGIN = LABEL + 8;
const TIME = 9;
const TICK_MS = 80;
const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

type Style = 'bold' | 'dim' | 'green' | 'red' | 'cyan';
const CODES: Readonly<Record<Style, string>> = { bold: '1', dim: '2', green: '32', red: '31', cyan: '36' };

export function formatTime(milliseconds: number): string {
  return milliseconds < 1000 ? `${Math.max(1, Math.round(milliseconds))} ms` : `${(milliseconds / 1000).toFixed(2)} s`;
}

/** Lines of at most `room` characters; runs of spaces align columns, so they stay where no break falls on them. */
function wrap(text: string, room: number): string[] {
  const lines: string[] = [];
  let rest = text.trim().replace(/\s*\n\s*/g, ' ');
  while (rest.length > room) {
    const space = rest.lastIndexOf(' ', room);
    const end = space > 0 ? space : room;
    lines.push(rest.slice(0, end).trimEnd());
    rest = rest.slice(end).trimStart();
  }
  return [...lines, rest];
}

export class Transcript {
  readonly failures: string[] = [];
  checks = 0;
  private readonly out: WriteStream;
  private readonly live: boolean;
  private readonly colour: boolean;
  private title = '';
  private steps = 0;

  constructor(out: WriteStream = process.stdout) {
    const { NO_COLOR, TERM } = process.env;
    this.out = out;
    this.live = out.isTTY === true && TERM !== 'dumb';
    this.colour = this.live && !NO_COLOR;
  }

  heading(title: string, lines: readonly string[]): void {
    this.line(this.paint('bold', title));
    for (const line of lines) this.line(this.paint('dim', line));
  }

  step(title: string): void {
    this.steps += 1;
    this.title = title;
    this.line('');
    this.line(`${String(this.steps).padStart(2)}  ${this.paint('bold', title)}`);
  }

  sent(label: string, text = ''): void {
    this.entry('→', 'cyan', label, text);
  }

  received(label: string, text: string, milliseconds?: number): void {
    this.entry('←', 'cyan', label, text, milliseconds);
  }

  note(label: string, text: string): void {
    this.entry(' ', 'dim', label, text);
  }

  /** Asserts one fact; a false one is remembered and makes the demo fail. */
  check(fact: string, isTrue: boolean, found?: string): void {
    this.checks += 1;
    if (!isTrue) this.failures.push(`${this.title}: ${fact}${found === undefined ? '' : ` (found: ${found.trim()})`}`);
    this.line(`    ${isTrue ? this.paint('green', '✓') : this.paint('red', '✗ NOT TRUE:')} ${fact}`);
  }

  /** The last line. Returns the exit status. */
  end(milliseconds: number): number {
    this.line('');
    const time = formatTime(milliseconds);
    if (this.failures.length === 0) {
      this.line(this.paint('green', `All ${this.checks} checks in ${this.steps} steps passed in ${time}.`));
      return 0;
    }
    this.line(this.paint('red', `${this.failures.length} of ${this.checks} checks failed after ${time}:`));
    for (const failure of this.failures) this.line(`  ✗ ${failure}`);
    return 1;
  }

  /** Awaits the work with a running clock beside the label; returns its value and duration. */
  async during<T>(label: string, work: Promise<T>): Promise<{ readonly value: T; readonly ms: number }> {
    const began = performance.now();
    const tick = (): void => {
      const passed = performance.now() - began;
      const frame = FRAMES[Math.floor(passed / TICK_MS) % FRAMES.length];
      this.out.write(`\r\u001b[K    ${this.paint('dim', `${frame} ${label} ${formatTime(passed)}`)}`);
    };
    const timer = this.live ? setInterval(tick, TICK_MS) : undefined;
    try {
      const value = await work;
      return { value, ms: performance.now() - began };
    } finally {
      clearInterval(timer);
      if (timer) this.out.write('\r\u001b[K');
    }
  }

  line(text: string): void {
    this.out.write(`${text}\n`);
  }

  /** The duration stands at the right edge of the first line. */
  private entry(mark: string, style: Style, label: string, text: string, milliseconds?: number): void {
    const [first = '', ...more] = wrap(text, WIDTH - MARGIN - TIME);
    const left = `    ${this.paint(style, mark)} ${label.padEnd(LABEL)}  ${first}`;
    const time = milliseconds === undefined ? '' : formatTime(milliseconds).padStart(WIDTH - MARGIN - first.length);
    this.line((left + this.paint('dim', time)).trimEnd());
    for (const line of more) this.line(' '.repeat(MARGIN) + line);
  }

  private paint(style: Style, text: string): string {
    return this.colour && text ? `\u001b[${CODES[style]}m${text}\u001b[0m` : text;
  }
}
