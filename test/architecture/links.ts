/** Links of Markdown documents, as far as ours use Markdown. */
import { posix } from 'node:path';

/** Path from the root of the repository → text. */
export type Document = ReadonlyMap<string, string>;

const FENCED = /^(`{3,}|~{3,})[\s\S]*?^\1[ \t]*$/gm;
const INLINE_CODE = /`[^`\n]*`/g;
const INLINE_LINK = /\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)/g;
const REFERENCE = /^\[[^\]]+\]:\s+(\S+)/gm;
const HEADING = /^#{1,6}[ \t]+(.+?)[ \t]*#*$/gm;
const HOST = /^[a-z][a-z0-9+.-]*:/i;

/** As the usual hosts make them: letters, digits, `_` and `-` stay, blanks become `-`, a repeated one gets a number. */
export function headingAnchors(text: string): Set<string> {
  const counts = new Map<string, number>();
  const anchors = new Set<string>();
  for (const [, title = ''] of text.replace(FENCED, '').matchAll(HEADING)) {
    const plain = title.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const anchor = plain.replace(/[^\p{L}\p{N}_\- ]/gu, '').replaceAll(' ', '-');
    const count = counts.get(anchor) ?? 0;
    counts.set(anchor, count + 1);
    anchors.add(count === 0 ? anchor : `${anchor}-${count}`);
  }
  return anchors;
}

function linksOf(text: string): string[] {
  const prose = text.replace(FENCED, '').replace(INLINE_CODE, '');
  return [INLINE_LINK, REFERENCE].flatMap((pattern) => [...prose.matchAll(pattern)].map(([, link = '']) => link));
}

/** Relative links that lead nowhere, as `document: link`. `exists` is asked about paths that are no document. */
export function brokenLinks(documents: Document, exists: (path: string) => boolean): string[] {
  const leads = (from: string, link: string): boolean => {
    const [path = '', anchor] = link.split('#');
    if (path.startsWith('/')) return false;
    const target = path === '' ? from : posix.join(posix.dirname(from), path);
    const text = documents.get(target);
    if (text === undefined) return anchor === undefined && !target.startsWith('..') && exists(target);
    return anchor === undefined || headingAnchors(text).has(anchor);
  };
  return [...documents].flatMap(([from, text]) =>
    linksOf(text)
      .filter((link) => !HOST.test(link) && !leads(from, link))
      .map((link) => `${from}: ${link}`),
  );
}
