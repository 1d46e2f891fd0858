import type { Addresses, Place, Server, StartOptions } from './index.mjs';

declare module 'vitest' {
  interface ProvidedContext {
    shelfmark: Addresses;
  }
}

export interface UseOptions extends StartOptions {
  /** What happens before each test: 'nothing' (default), 'empty' (rows go), 'reset' (tables and keyspaces go). */
  before?: 'nothing' | 'empty' | 'reset';
}

/** Starts a server before the tests of this file and stops it behind them. Read it inside of tests and hooks. */
export declare function useShelfmark(options?: UseOptions): Server;

/** Returns the server that `globalSetup: ['vitest-shelfmark/global-setup']` started for all test files. */
export declare function sharedShelfmark(): Place;
