import { defineConfig } from 'vitest/config';

// CI counts from the JSON; humans read the rest.
const json = process.env.CI ? [['json', { outputFile: 'coverage/vitest.json' }] as const] : [];

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/kit/global-setup.ts'],
    testTimeout: 30_000,
    pool: 'forks',
    reporters: ['default', ...json] as never,
  },
});
