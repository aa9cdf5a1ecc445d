/** Records every process of a run while it lasts, from `/proc`. Linux. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { sep } from 'node:path';
import { processesOf } from '../../e2e/kit/processes.ts';
import { until } from '../../e2e/kit/until.ts';

export interface Seen {
  readonly pid: number;
  /** With the pid, what makes a process unmistakable. */
  readonly startTime: string;
  /** As last seen. */
  readonly command: string;
  /** When it was first seen, in milliseconds since 1970. */
  readonly since: number;
  /** Of the controller's tree, the server, or inside the run by its working directory. */
  readonly controller: boolean;
  readonly server: boolean;
  readonly inside: boolean;
}

export interface Watched {
  readonly root: string;
  /** Entry of the server and the configuration it is told. */
  readonly entry: string;
  readonly configuration: string;
}

const TICK_MS = 75;

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function directoryOf(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return '';
  }
}

/** Parent and start time; undefined once the process is gone. */
function statOf(pid: number): { readonly parent: number; readonly startTime: string } | undefined {
  const stat = read(`/proc/${pid}/stat`);
  const [state = 'X', parent = '0', ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return stat === '' || 'ZX'.includes(state) ? undefined : { parent: Number(parent), startTime: rest[17] ?? '' };
}

export class Watch {
  readonly #seen = new Map<string, Seen>();
  readonly #watched: Watched;
  readonly #timer: NodeJS.Timeout;
  #controller = 0;

  constructor(watched: Watched) {
    this.#watched = watched;
    this.#timer = setInterval(() => this.#look(), TICK_MS);
  }

  /** The client whose descendants are all of interest. */
  follow(pid: number): void {
    this.#controller = pid;
    this.#look();
  }

  #look(): void {
    for (const name of readdirSync('/proc')) if (/^\d+$/.test(name)) this.#note(Number(name));
  }

  #ofController(pid: number, parent: number): boolean {
    if (pid === this.#controller) return true;
    return [...this.#seen.values()].some((one) => one.controller && one.pid === parent);
  }

  #note(pid: number, marked = false): void {
    const stat = pid === process.pid ? undefined : statOf(pid);
    if (!stat) return;
    const { root, entry, configuration } = this.#watched;
    const key = `${pid} ${stat.startTime}`;
    const known = this.#seen.get(key);
    const directory = directoryOf(pid);
    const arguments_ = read(`/proc/${pid}/cmdline`);
    const controller = known?.controller || this.#ofController(pid, stat.parent);
    const inside = marked || known?.inside || directory === root || directory.startsWith(root + sep);
    const server =
      known?.server ||
      (arguments_.includes(`\0${entry}\0`) && read(`/proc/${pid}/environ`).includes(`=${configuration}\0`));
    if (!(controller || inside || server)) return;
    const command = arguments_.replaceAll('\0', ' ').trim();
    const since = known?.since ?? Date.now();
    this.#seen.set(key, { pid, startTime: stat.startTime, command, since, controller, inside, server });
  }

  get seen(): readonly Seen[] {
    return [...this.#seen.values()];
  }

  /** Those of them that still run, and whoever else knows of the run by its arguments or environment. */
  alive(): readonly Seen[] {
    this.#look();
    for (const pid of processesOf(this.#watched.root)) this.#note(pid, true);
    return this.seen.filter(({ pid, startTime }) => statOf(pid)?.startTime === startTime);
  }

  /** Gives them the time that a shutdown may take; returns who is left. */
  async left(boundMs: number): Promise<readonly Seen[]> {
    await until('no process left', () => this.alive().length === 0, boundMs).catch(() => {});
    return this.alive();
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
