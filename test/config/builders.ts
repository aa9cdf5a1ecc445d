/** Parts of documents, for the tables of the field tests. */
import { entries, type Json } from './kit.ts';

export const safe = (document: Json): Json => document.executionProfiles.safe;
export const search = (document: Json): Json => safe(document).mcpServers.search;
export const tool = { name: 't', readOnly: true };
export const path = (length: number): string => `/${'a'.repeat(length - 1)}`;
export const skillPath = (length: number): string => `/${'a'.repeat(length - 10)}/SKILL.md`;

export function bare(): Json {
  return { default: true, permissionProfile: 'read-only', provider: 'p', model: 'm', thinkingLevel: 'off' };
}

export function worker(): Json {
  return { ...bare(), default: false, permissionProfile: 'coding' };
}

export function server(tools = 1, readOnly = true): Json {
  return { command: '/x', tools: entries(tools, () => ({ name: 't', readOnly }), 't') };
}

export function aliased(alias: string, toolAlias: string): Json {
  return { [alias]: { command: '/x', tools: { [toolAlias]: tool } } };
}

export function manySkills(document: Json, count: number): void {
  document.skillCatalog = entries(count, (index) => `builtin:s${index}`);
  safe(document).skills = Object.keys(document.skillCatalog);
}

export function sameSkill(document: Json, first: string, second: string): void {
  Object.assign(document.skillCatalog, { review: first, notes: second });
}

export function manyLevels(document: Json): void {
  const wrong = entries(60, () => ({ ...worker(), thinkingLevel: 'huge' }));
  document.executionProfiles = { ...wrong, ...document.executionProfiles, last: { ...worker(), model: '' } };
}

/** Name, change, and the subject and field of the first issue that it makes. */
export type Refusal = readonly [string, (document: Json) => void, string, string];
