// Where the command comes from, what is said when there is none, and that nothing is left behind.

import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, chmodSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { CommandMissing, start } from 'vitest-shelfmark';
import { useShelfmark } from 'vitest-shelfmark/vitest';
import { find } from '../src/command.mjs';

const ROOT = path.dirname(import.meta.dirname);
const GONE_MS_MAX = 30_000;
const before = { ...process.env };
const folder = mkdtempSync(path.join(tmpdir(), 'shelfmark-ends-'));
afterEach(() => Object.assign(process.env, before));

function processesWith(word) {
  const commands = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return commands.filter((name) => {
    try {
      return readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(word);
    } catch {
      return false;
    }
  });
}

async function isGone(place) {
  const deadline = Date.now() + GONE_MS_MAX;
  while (Date.now() < deadline) {
    if (!existsSync(place) && processesWith(place).length === 0) return true;
    await sleep(50);
  }
  return false;
}

const HOLDER = `
  import { start } from '${ROOT}/src/index.mjs';
  const server = await start({ data: 'temporary' });
  console.log(JSON.stringify(server.addresses));
`;

test.each(['SIGKILL', 'SIGINT', 'SIGTERM', undefined])('a server ends with the run that ends by %s', async (signal) => {
  const tmp = mkdtempSync(path.join(folder, 'run-'));
  const rest = signal ? 'setTimeout(() => {}, 600_000);' : '';
  const child = spawn(process.execPath, ['--input-type=module', '-e', HOLDER + rest], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, TMPDIR: tmp },
  });
  await new Promise((resolve) => createInterface(child.stdout).once('line', resolve));
  const [name] = readdirSync(tmp);
  if (signal) {
    expect(processesWith(name).length).toBeGreaterThanOrEqual(2);
    child.kill(signal);
  }
  expect(await isGone(path.join(tmp, name ?? 'gone'))).toBe(true);
});

test('a command that is missing is said with what to do', async () => {
  process.env.PATH = folder;
  delete process.env.SHELFMARK_BIN;
  await expect(start()).rejects.toThrow(CommandMissing);
  await expect(start()).rejects.toThrow(/on PATH. Build it .* SHELFMARK_BIN/);
  process.env.SHELFMARK_BIN = path.join(folder, 'nothing');
  await expect(start()).rejects.toThrow(/SHELFMARK_BIN names .*nothing/);
  await expect(start({ binary: 'other' })).rejects.toThrow(/the option `binary` names 'other'/);
});

test('the option wins over the variable and that over PATH', () => {
  const found = find();
  for (const name of ['given', 'shelfmark']) {
    writeFileSync(path.join(folder, name), '#!/bin/sh\n');
    chmodSync(path.join(folder, name), 0o755);
  }
  process.env.PATH = folder;
  process.env.SHELFMARK_BIN = found;
  expect(find(path.join(folder, 'given'))).toBe(path.join(folder, 'given'));
  expect(find()).toBe(found);
  delete process.env.SHELFMARK_BIN;
  expect(find()).toBe(path.join(folder, 'shelfmark'));
});

test('a server that does not start says why', async () => {
  await expect(start({ args: ['--no-such-flag'] })).rejects.toThrow(/did not start \(exit code[^]*--no-such-flag/);
});

test('a server that ended in use is an error', async () => {
  const server = await start();
  const { pid } = serverOf(server.contactPoint);
  process.kill(pid, 'SIGKILL');
  await sleep(500);
  await expect(server.stop()).rejects.toThrow(/had ended while it was in use/);
});

function serverOf(contactPoint) {
  const own = processesWith('shelfmark-test-').filter((pid) => {
    const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    const ready = words[words.indexOf('--ready-file') + 1];
    return words[1] === 'serve' && existsSync(ready) && readFileSync(ready, 'utf8').includes(contactPoint);
  });
  return { pid: Number(own[0]) };
}

test('a folder that was named stays', async () => {
  const data = path.join(folder, 'store');
  await (await start({ data })).stop();
  expect(existsSync(data)).toBe(true);
  await (await start({ data })).stop();
});

const outside = useShelfmark();
let early;
try {
  early = outside.endpoint;
} catch (error) {
  early = error;
}
test('a server that is read too early says where it may be read', () => {
  expect(early.message).toMatch(/inside of tests and hooks only/);
  expect(outside.endpoint).toMatch(/^http:/);
  expect(() => useShelfmark({ before: 'clean' })).toThrow(/'nothing', 'empty' or 'reset'/);
});

test.each(['LICENSE-MIT', 'LICENSE-APACHE'])('%s is that of the repository', (name) => {
  const root = process.env.SHELFMARK_ROOT ?? path.join(ROOT, '..', '..');
  expect(readFileSync(path.join(ROOT, name), 'utf8')).toBe(readFileSync(path.join(root, name), 'utf8'));
});

test('the folder of these tests is removed', () => {
  rmSync(folder, { recursive: true, force: true });
});
