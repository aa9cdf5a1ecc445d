import { defineConfig } from 'vitest/config';

// CI counts from the JSON; humans read the rest.
const json = process.env.CI ? [['json', { outputFile: 'coverage/vitest.json' }] as const] : [];

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/kit/global-setup.ts'],
    testTimeout: 30_000,
    pool: 'forks',
    // Half of the tests wait for processes, so every core can have one.
    maxWorkers: '100%',
    reporters: ['default', ...json] as never,
  },
});
