/**
 * One JSON line on stderr per call. Fields are codes, aliases, configured
 * provider and model names, and counts; never a path, a value, a prompt or text
 * of a third party (docs/lifecycle.md).
 */
export interface Diagnostics {
  report(level: 'info' | 'warn' | 'error', event: string, fields?: Readonly<Record<string, string | number>>): void;
}
