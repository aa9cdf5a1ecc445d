/**
 * An object without a prototype, so that an alias such as `constructor` is only
 * found when it was configured.
 */
export function recordOf<T>(entries: Iterable<readonly [string, T]>): Readonly<Record<string, T>> {
  const record = Object.create(null) as Record<string, T>;
  for (const [key, value] of entries) record[key] = value;
  return record;
}

/** Freezes a tree of plain objects and arrays, which the loader has just built and nobody else holds. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const child of Object.values(value)) deepFreeze(child);
  return Object.freeze(value);
}
