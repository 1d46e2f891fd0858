// Finds the command `shelfmark`: by argument, then SHELFMARK_BIN, then PATH. It does not download one.
// A name that was given and leads nowhere is an error, never passed over.

import { accessSync, constants, statSync } from 'node:fs';
import path from 'node:path';

export const VARIABLE = 'SHELFMARK_BIN';
const HOW_TO_GET_IT =
  'Build it in a checkout of Shelfmark with `cargo install --path crates/shelfmark-cli`, then name it in ' +
  `${VARIABLE}, in the option \`binary\`, or put it on PATH.`;

/** Says that the command is not there, and what to do. */
export class CommandMissing extends Error {
  name = 'CommandMissing';
}

/** Returns the path of the command; throws `CommandMissing` if there is none. */
export function find(given) {
  for (const [named, by] of [
    [given, 'the option `binary`'],
    [process.env[VARIABLE], VARIABLE],
  ]) {
    if (named) {
      const found = lookedUp(named);
      if (!found) {
        throw new CommandMissing(`${by} names '${named}', which is no program that can be run. ${HOW_TO_GET_IT}`);
      }
      return found;
    }
  }
  const found = lookedUp('shelfmark');
  if (!found) throw new CommandMissing(`There is no command \`shelfmark\` on PATH. ${HOW_TO_GET_IT}`);
  return found;
}

function lookedUp(name) {
  if (name.includes(path.sep)) return canRun(name) ? path.resolve(name) : undefined;
  const folders = (process.env.PATH ?? '').split(path.delimiter).filter(Boolean);
  return folders.map((folder) => path.join(folder, name)).find(canRun);
}

function canRun(file) {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
