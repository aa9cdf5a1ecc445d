/** A disposable folder of skill files, and what a session tells its model about them. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { RecordedRequest } from '../../../demo/scripted-model.ts';
import type { ExecutionProfile, SelectedSkill } from '../../../src/config/configuration.ts';
import { type Lab, openLab, profile, REPOSITORY } from './lab.ts';

/** In every path and every content: must not be found where it does not belong. */
export const CANARY = 'canary-7d1f';

export interface Shelf {
  readonly root: string;
  at(folder: string): string;
  /** Writes `<folder>/SKILL.md` and selects it under the alias. */
  put(alias: string, content: string | Uint8Array, folder?: string): SelectedSkill;
  select(alias: string, folder?: string): SelectedSkill;
}

export function openShelf(): Shelf {
  const cache = join(REPOSITORY, '.cache/test');
  mkdirSync(cache, { recursive: true });
  const root = mkdtempSync(join(cache, `shelf-${CANARY}-`));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const shelf: Shelf = {
    root,
    at: (folder) => join(root, folder, 'SKILL.md'),
    put(alias, content, folder = alias) {
      mkdirSync(dirname(shelf.at(folder)), { recursive: true });
      writeFileSync(shelf.at(folder), content);
      return shelf.select(alias, folder);
    },
    select: (alias, folder = alias) => ({ alias, path: shelf.at(folder) }),
  };
  return shelf;
}

/** A plain, valid skill. */
export function skillText(name: string, description = `about ${name}`): string {
  return `---\nname: ${name}\ndescription: ${description}\n---\n\n# ${name}\n\n${CANARY} body of ${name}\n`;
}

/** A lab with the profiles `skilled` and `skilled-coder`, which have these skills. */
export async function openSkilledLab(skills: readonly SelectedSkill[]): Promise<Lab> {
  const coding: Partial<ExecutionProfile> = { permissionProfile: 'coding', skills };
  const lab = await openLab({ profiles: [profile('skilled', { skills }), profile('skilled-coder', coding)] });
  onTestFinished(() => lab.close());
  return lab;
}

const plain = (text: string) => text.replaceAll('&apos;', "'").replaceAll('&quot;', '"').replaceAll('&amp;', '&');

/** The skills that the model is told of, in order. */
export function listedSkills(request: RecordedRequest | undefined) {
  const text = (request?.messages ?? [])
    .filter(({ role }) => role === 'system' || role === 'developer')
    .map(({ content }) => (typeof content === 'string' ? content : JSON.stringify(content).replaceAll('\\n', '\n')))
    .join('\n');
  const entry = /<skill>\s*<name>(.*?)<\/name>\s*<description>(.*?)<\/description>\s*<location>(.*?)<\/location>/gs;
  return [...text.matchAll(entry)].map(([, name = '', description = '', location = '']) => ({
    name,
    description: plain(description),
    location,
  }));
}
