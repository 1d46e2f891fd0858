// Keeps one server alive for exactly as long as the process that asked for it. Run as a program:
//
//     node keeper.mjs FOLDER LOG COMMAND …
//
// Its standard input is a pipe that only the asking process holds. When that process ends, in whatever way
// (`kill -9` too), the pipe ends; then the server is stopped and FOLDER removed. A server that ends by
// itself leaves FOLDER with its log to the asking process.

import { spawn } from 'node:child_process';
import { openSync, rmSync } from 'node:fs';

const STOP_MS_MAX = 20_000;

const [folder, log, command, ...words] = process.argv.slice(2);
const stream = openSync(log, 'a');
const server = spawn(command, words, { stdio: ['ignore', stream, stream] });
let inputEnded = false;

function stop() {
  inputEnded = true;
  server.kill('SIGTERM');
  setTimeout(() => server.kill('SIGKILL'), STOP_MS_MAX).unref();
}

process.stdin.on('end', stop).on('error', stop).resume();
server.on('error', () => process.exit(127));
server.on('exit', (code) => {
  if (inputEnded) rmSync(folder, { recursive: true, force: true });
  process.exit(code ?? 1);
});
