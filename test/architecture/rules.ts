/** The directions of the arrows (docs/architecture.md), derived a second time: the linter holds them too. */
import { posix } from 'node:path';
import { type Import, scan } from './source-scan.ts';

/** Path from the root of the repository → text. */
export type Sources = ReadonlyMap<string, string>;

interface Arrow {
  readonly from: string;
  readonly to: string;
  readonly typeOnly: boolean;
}

const MAX_LINES = 400;
const PURE_CONFIG = new Set(['zod', 'zod/mini', 'jsonc-parser', 'node:crypto', 'node:path']);
const OFFLINE = /^(src\/adapters\/(pi|mcp)\/|@earendil-works\/|@modelcontextprotocol\/)/;
const IMPURE =
  /(?<![.\w$])(Date|console|process|setTimeout|setInterval|setImmediate|queueMicrotask|fetch|crypto|performance|globalThis|Buffer)\b(?!\s*[:?]?:)|\bMath\s*\.\s*random\b/g;
const ANY = /(?::|\bas|<|\|)\s*any\b|\bany\s*\[\]/;
const SUPPRESSION = /biome-ignore|@ts-ignore|@ts-expect-error|@ts-nocheck|eslint-disable/;

/** Everything that breaks a rule, as `file: reason`. */
export function findings(sources: Sources): string[] {
  const arrows = [...sources].flatMap(([file, text]) => arrowsOf(file, text));
  return [
    ...arrows.flatMap(judge),
    ...[...sources].flatMap(([file, text]) => judgeText(file, text)),
    ...cycles(arrows),
    ...reachesOnline(arrows),
  ].sort();
}

/** `src/adapters/mcp/x.ts` → `adapters/mcp`, `src/main.ts` → `main.ts`. */
function roomOf(path: string): string {
  const [, room = '', inner = ''] = path.split('/');
  return room === 'adapters' ? `${room}/${inner}` : room;
}

function arrowsOf(file: string, text: string): Arrow[] {
  return scan(text).imports.map(({ specifier, typeOnly }: Import) => ({
    from: file,
    to: specifier.startsWith('.') ? posix.join(posix.dirname(file), specifier) : specifier,
    typeOnly,
  }));
}

function judge({ from, to, typeOnly }: Arrow): string[] {
  const inside = to.startsWith('src/');
  const reason = inside ? againstRoom(roomOf(from), roomOf(to), typeOnly) : againstPackage(roomOf(from), to);
  return reason ? [`${from}: ${reason} (${to})`] : [];
}

function againstRoom(from: string, to: string, typeOnly: boolean): string | undefined {
  if (to === 'main.ts') return 'nobody imports a composition root';
  const valueOfPort = to === 'ports' && !typeOnly ? 'ports are types only' : undefined;
  if (from === 'machines') return to === 'machines' || to === 'ports' ? valueOfPort : 'charts import ports and charts';
  if (from === 'ports') return to === 'ports' ? valueOfPort : 'ports import ports';
  if (from === 'config') return to === 'config' || to === 'ports' ? valueOfPort : 'configuration imports ports';
  if (from.startsWith('adapters/')) {
    const known = to === from || to === 'config' || to === 'ports' || to === 'version.ts';
    return known ? valueOfPort : 'adapters import ports and config, never each other or their callers';
  }
  if (from === 'app' && (to === 'setup' || to === 'doctor')) return 'the wiring does not know its callers';
  if (from === 'doctor' && (to === 'adapters/pi' || to === 'adapters/mcp')) return 'the doctor is offline';
  return valueOfPort;
}

function againstPackage(from: string, to: string): string | undefined {
  if (from === 'machines' && to !== 'xstate') return 'charts import xstate alone';
  if (from === 'ports') return 'ports import nothing from outside';
  if (from === 'config' && !PURE_CONFIG.has(to)) return 'configuration does no I/O';
  if (from.startsWith('adapters/') && /^@?xstate\b/.test(to)) return 'adapters decide no lifecycle';
  if (from === 'doctor' && OFFLINE.test(to)) return 'the doctor is offline';
  return undefined;
}

function judgeText(file: string, text: string): string[] {
  const { code, comments } = scan(text);
  const reasons: string[] = [];
  if (text.split('\n').length > MAX_LINES + 1) reasons.push(`more than ${MAX_LINES} lines`);
  if (comments.some((comment) => SUPPRESSION.test(comment))) reasons.push('suppresses a check');
  if (ANY.test(code)) reasons.push('uses any');
  if (roomOf(file) === 'machines') {
    for (const [name] of code.matchAll(IMPURE)) reasons.push(`charts are pure, but ${name.replace(/\s/g, '')} is used`);
  }
  return [...new Set(reasons)].map((reason) => `${file}: ${reason}`);
}

/** Each cycle once, from its first file; types count too, they tie files together all the same. */
function cycles(arrows: readonly Arrow[]): string[] {
  const next = adjacency(arrows);
  return [...next.keys()].sort().flatMap((start) => {
    const loop = walk(next, start).filter((file) => next.get(file)?.includes(start));
    return loop.length > 0 && loop.every((file) => start <= file) ? [`${start}: import cycle through ${loop[0]}`] : [];
  });
}

/** What the doctor loads in the end counts, not only what it names. */
function reachesOnline(arrows: readonly Arrow[]): string[] {
  const next = adjacency(arrows.filter(({ typeOnly }) => !typeOnly));
  const doctors = [...next.keys()].filter((file) => roomOf(file) === 'doctor');
  return doctors.flatMap((file) =>
    walk(next, file)
      .filter((reached) => OFFLINE.test(reached))
      .map((reached) => `${file}: the doctor is offline, but reaches ${reached}`),
  );
}

function adjacency(arrows: readonly Arrow[]): Map<string, string[]> {
  const next = new Map<string, string[]>();
  for (const { from, to } of arrows) next.set(from, [...(next.get(from) ?? []), to]);
  return next;
}

function walk(next: ReadonlyMap<string, readonly string[]>, start: string): string[] {
  const seen = new Set(next.get(start));
  for (const file of seen) for (const further of next.get(file) ?? []) seen.add(further);
  return [...seen];
}
