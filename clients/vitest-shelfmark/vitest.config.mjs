import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['tests/*.test.{mjs,mts}'],
    globalSetup: ['vitest-shelfmark/global-setup'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
