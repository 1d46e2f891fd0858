// A running server and where its clients find it. Knows nothing of a test runner; `vitest.mjs` does.
//
// Between this process and the server stands `keeper.mjs`, which ends the server when this process ends.
// The ports are free ones of the loopback interface; no other machine reaches them.

import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { CommandMissing, find } from './command.mjs';
import { drop, empty } from './emptying.mjs';

export { CommandMissing };

const START_MS_MAX = 60_000;
const STOP_MS_MAX = 30_000;
const LOG_LINES_SHOWN_MAX = 20;
const KEEPER = fileURLToPath(new URL('keeper.mjs', import.meta.url));
const REGION = 'eu-central-1';
const KEY = 'local';

/** Where the clients of a running server find it. Made of its addresses, so it crosses processes. */
export class Place {
  constructor({ binary, dynamodb, cql }) {
    this.binary = binary;
    this.endpoint = `http://${dynamodb}`;
    this.contactPoint = cql;
    this.cqlHost = cql.slice(0, cql.lastIndexOf(':'));
    this.cqlPort = Number(cql.slice(cql.lastIndexOf(':') + 1));
  }

  /** The configuration that clients of the AWS SDK for JavaScript take. */
  get dynamodb() {
    const credentials = { accessKeyId: KEY, secretAccessKey: KEY };
    return { endpoint: this.endpoint, region: REGION, credentials };
  }

  /** The options that `Client` of cassandra-driver takes. */
  get cassandra() {
    const protocolOptions = { port: this.cqlPort };
    return { contactPoints: [this.cqlHost], protocolOptions, localDataCenter: 'datacenter1' };
  }

  /** The variables by which AWS SDKs find the server, and CQL's as CQL_HOST and CQL_PORT. */
  get environment() {
    return {
      AWS_ENDPOINT_URL_DYNAMODB: this.endpoint,
      AWS_ENDPOINT_URL_DYNAMODB_STREAMS: this.endpoint,
      AWS_ACCESS_KEY_ID: KEY,
      AWS_SECRET_ACCESS_KEY: KEY,
      AWS_DEFAULT_REGION: REGION,
      AWS_REGION: REGION,
      CQL_HOST: this.cqlHost,
      CQL_PORT: String(this.cqlPort),
    };
  }

  /** Removes all rows of all tables, of both faces. The tables and their indexes stay. */
  async empty() {
    await empty(this);
  }

  /** Drops all tables of DynamoDB and all keyspaces of CQL. */
  async reset() {
    await drop(this);
  }
}

/** A server that this process started. */
export class Server extends Place {
  #keeper;
  #ended;
  #folder;

  constructor(keeper, ended, folder, binary, addresses) {
    super({ binary, ...addresses });
    this.addresses = { binary, ...addresses };
    this.#keeper = keeper;
    this.#ended = ended;
    this.#folder = folder;
  }

  /** What the server has written to its standard output and error. */
  get log() {
    return written(this.#folder);
  }

  /** Stops the server and waits for its end; throws if it had ended before. A second call does nothing. */
  async stop() {
    if (this.#keeper.stdin.writableEnded) return;
    const endedBefore = this.#keeper.exitCode;
    const told = tail(this.#folder);
    this.#keeper.stdin.end();
    const code = await Promise.race([this.#ended, sleep(STOP_MS_MAX, 'late', { ref: false })]);
    rmSync(this.#folder, { recursive: true, force: true });
    if (code === 'late') {
      this.#keeper.kill('SIGKILL');
      throw new Error(`the server did not stop within ${STOP_MS_MAX} ms${told}`);
    }
    if (endedBefore !== null) {
      throw new Error(`the server had ended while it was in use, with exit code ${endedBefore}${told}`);
    }
  }

  async [Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose')]() {
    await this.stop();
  }
}

/**
 * Starts a server on free loopback ports and returns it once every port answers.
 *
 * Throws `CommandMissing` if there is no command, and an `Error` with the end of its log if it does not start.
 */
export async function start({ binary, data = 'memory', args = [], startMsMax = START_MS_MAX } = {}) {
  const found = find(binary);
  const folder = mkdtempSync(path.join(tmpdir(), 'shelfmark-test-'));
  const ready = path.join(folder, 'ready.json');
  const words = ['serve', '--dynamodb', '127.0.0.1:0', '--cql', '127.0.0.1:0', '--ready-file', ready];
  // One set of tables, whatever a test signs for: all of it is emptied between tests.
  words.push('--shared');
  words.push(...place(data, folder), ...args);
  // In a session of its own, so that Ctrl-C reaches the tests first and they can end in good order.
  const options = { stdio: ['pipe', 'ignore', 'inherit'], detached: true };
  const keeper = spawn(process.execPath, [KEEPER, folder, logOf(folder), found, ...words], options);
  keeper.stdin.on('error', () => {});
  // A run that forgets to stop its server ends all the same, and the server with it.
  keeper.unref();
  keeper.stdin.unref?.();
  const ended = new Promise((resolve) => keeper.on('exit', resolve).on('error', resolve));
  const deadline = Date.now() + startMsMax;
  while (Date.now() < deadline && keeper.exitCode === null) {
    const addresses = read(ready);
    if (addresses) return new Server(keeper, ended, folder, found, addresses);
    await sleep(10);
  }
  const why = keeper.exitCode === null ? ` within ${startMsMax} ms` : ` (exit code ${keeper.exitCode})`;
  const told = tail(folder);
  keeper.stdin.end();
  await ended;
  rmSync(folder, { recursive: true, force: true });
  throw new Error(`\`${[found, ...words].join(' ')}\` did not start${why}${told}`);
}

function place(data, folder) {
  if (data === 'memory') return ['--memory'];
  return ['--data', data === 'temporary' ? path.join(folder, 'store') : path.resolve(data)];
}

function read(ready) {
  try {
    return JSON.parse(readFileSync(ready, 'utf8'));
  } catch {
    return undefined; // It is not there, or is being written.
  }
}

const logOf = (folder) => path.join(folder, 'log');
const written = (folder) => (existsSync(logOf(folder)) ? readFileSync(logOf(folder), 'utf8') : '');

function tail(folder) {
  const text = written(folder).trim();
  if (text === '') return ': it says nothing';
  return `. Its last lines:\n    ${text.split('\n').slice(-LOG_LINES_SHOWN_MAX).join('\n    ')}`;
}
