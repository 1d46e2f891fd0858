// The helpers of Vitest: a server of a test file's own, and the one that `global-setup` started.

import { afterAll, beforeAll, beforeEach, inject } from 'vitest';
import { Place, start } from './index.mjs';

/**
 * Starts a server before the tests of this file and stops it behind them; `before` says what happens before
 * each test. What it returns may be read inside of tests and hooks only.
 */
export function useShelfmark({ before = 'nothing', ...options } = {}) {
  if (!['nothing', 'empty', 'reset'].includes(before)) {
    throw new Error(`useShelfmark: before is 'nothing', 'empty' or 'reset', not '${before}'`);
  }
  let server;
  beforeAll(async () => {
    server = await start(options);
  });
  if (before !== 'nothing') beforeEach(() => server[before]());
  afterAll(() => server?.stop());
  return new Proxy({}, { get: (_, name) => member(server, name) });
}

function member(server, name) {
  if (server === undefined) {
    throw new Error('the server of useShelfmark() runs inside of tests and hooks only: read it there');
  }
  const value = server[name];
  return typeof value === 'function' ? value.bind(server) : value;
}

/** Returns the server that `globalSetup: ['vitest-shelfmark/global-setup']` started for all test files. */
export function sharedShelfmark() {
  const addresses = inject('shelfmark');
  if (addresses === undefined) {
    throw new Error("no server is shared: add globalSetup: ['vitest-shelfmark/global-setup'] to the Vitest settings");
  }
  return new Place(addresses);
}
