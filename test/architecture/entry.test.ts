import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/** Modules are evaluated in the order of their imports, and anything may print while it loads. */
test('the server guards its output before it loads anything else', () => {
  const source = readFileSync(new URL('../../src/main.ts', import.meta.url), 'utf8');
  const [first] = source.match(/^import .*$/m) ?? [];
  expect(first).toBe("import './output.ts';");
});
