// One server for all test files of a Vitest run, and the environment that leads AWS clients to it.

import { start } from './index.mjs';

export async function setup(project) {
  const server = await start();
  project.provide('shelfmark', server.addresses);
  Object.assign(process.env, server.environment);
  return () => server.stop();
}
