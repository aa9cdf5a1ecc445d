/**
 * What is wrong with a configuration, said so that it can be shown: by alias and
 * declared field, never by value, path or a name that the operator made up.
 */
import type { core } from 'zod/mini';
import { ALIAS, GRANT_ALIAS, MAX_ISSUES } from './limits.ts';

export interface ConfigIssue {
  /** A well-formed alias of the file, or a fixed name such as `configuration`. */
  readonly subject: string;
  /** A declared field below the subject, such as `mcpServers.search.tools.find.name` or `skills[2]`. */
  readonly field: string;
  /** Fixed text. */
  readonly problem: string;
}

export type DocumentName = 'configuration' | 'execution-modes';
export type IssuePath = readonly PropertyKey[];

const FIELDS: ReadonlySet<PropertyKey> = new Set([
  ...['default', 'permissionProfile', 'provider', 'model', 'thinkingLevel'],
  ...['extensions', 'grantedExtensionTools', 'skills', 'mcpServers'],
  ...['command', 'args', 'envFrom', 'tools', 'name', 'readOnly'],
  ...['mode', 'acceptHostWrites', 'writers', 'lifecycle', 'profiles', 'image', 'network', 'cache'],
]);
const SECTIONS: Readonly<Record<DocumentName, ReadonlySet<PropertyKey>>> = {
  configuration: new Set(['workspaces', 'executionProfiles', 'skillCatalog']),
  'execution-modes': new Set(['schemaVersion', 'workspaces', 'turnEvents']),
};

/** Collects issues of one document; keeps the first `MAX_ISSUES` different ones. */
export class IssueLog {
  readonly issues: ConfigIssue[] = [];
  readonly #document: DocumentName;
  readonly #seen = new Set<string>();
  #others = false;

  constructor(document: DocumentName) {
    this.#document = document;
  }

  get empty(): boolean {
    return this.#seen.size === 0;
  }

  /** Can nothing that is still to come change the answer? Then reading on is only work. */
  get settled(): boolean {
    return this.#others && this.issues.length >= MAX_ISSUES;
  }

  /** Is every issue a value outside the thinking levels? They have a startup code of their own. */
  get onlyThinkingLevels(): boolean {
    return !this.empty && !this.#others;
  }

  /** `path` counts from the document's top and is cut at the first part that may not be shown. */
  add(path: IssuePath, problem: string): void {
    this.#others = true;
    this.#push({ ...locate(this.#document, path), problem });
  }

  addThinkingLevel(alias: string, problem: string): void {
    this.#push({ ...locate(this.#document, ['executionProfiles', alias, 'thinkingLevel']), problem });
  }

  addDuplicate(path: IssuePath): void {
    const whole = locate(this.#document, path);
    const parent = locate(this.#document, path.slice(0, -1));
    const nameless = whole.subject === parent.subject && whole.field === parent.field;
    this.add(path, nameless ? 'has one key more than once' : 'is given more than once');
  }

  /** Adds the findings of a schema that was applied to the value at `path`. */
  addAll(path: IssuePath, error: core.$ZodError): void {
    for (const issue of error.issues) this.add([...path, ...issue.path], describe(issue));
  }

  #push(issue: ConfigIssue): void {
    const key = `${issue.subject} ${issue.field} ${issue.problem}`;
    if (this.#seen.has(key) || this.issues.length >= MAX_ISSUES) return;
    this.#seen.add(key);
    this.issues.push(Object.freeze(issue));
  }
}

function locate(document: DocumentName, path: IssuePath): { subject: string; field: string } {
  const [section, alias, ...rest] = path;
  if (section === undefined || !SECTIONS[document].has(section)) return { subject: document, field: 'document' };
  if (typeof alias !== 'string' || !ALIAS.test(alias)) return { subject: document, field: String(section) };
  return { subject: alias, field: fieldOf(rest) || String(section) };
}

/** Fields and aliases take turns below `mcpServers` and `tools`; everything else, such as a variable's name, ends it. */
function fieldOf(path: IssuePath): string {
  let field = '';
  let aliasNext = false;
  for (const part of path) {
    if (typeof part === 'number') {
      field += `[${part}]`;
      continue;
    }
    const known = aliasNext ? typeof part === 'string' && GRANT_ALIAS.test(part) : FIELDS.has(part);
    if (!known) return field;
    field += `${field === '' ? '' : '.'}${String(part)}`;
    aliasNext = !aliasNext && (part === 'mcpServers' || part === 'tools');
  }
  return field;
}

const TYPES: Readonly<Record<string, string>> = {
  nonoptional: 'is required',
  string: 'must be a string',
  boolean: 'must be true or false',
  number: 'must be a number',
  array: 'must be a list',
  object: 'must be an object',
  record: 'must be an object',
};

/** zod's own texts can hold values and names, so only limits and texts of our schemas are taken from an issue. */
function describe(issue: core.$ZodIssue): string {
  const unit = issue.code === 'too_big' || issue.code === 'too_small' ? unitOf(issue.origin) : '';
  switch (issue.code) {
    case 'unrecognized_keys':
      return 'has an unknown field';
    case 'invalid_type':
      return TYPES[issue.expected] ?? 'has the wrong type';
    case 'too_big':
      return `must have at most ${issue.maximum}${unit}`;
    case 'too_small':
      return `must have at least ${issue.minimum}${unit}`;
    case 'invalid_value':
      return `must be ${issue.values.map((value) => JSON.stringify(value)).join(' or ')}`;
    case 'invalid_key':
      return 'has a malformed name';
    case 'custom':
    case 'invalid_format':
      return issue.message;
    default:
      return 'is not valid';
  }
}

function unitOf(origin: string): string {
  if (origin === 'string') return ' characters';
  return origin === 'array' ? ' entries' : '';
}
