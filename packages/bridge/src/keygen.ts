/** Makes an attestor's key: a file that only its owner can read, and the public key on a line. */

import { createKeyFile } from "./key-file.js";

const [path] = process.argv.slice(2);
if (path === undefined) {
  process.stderr.write("usage: node packages/bridge/dist/keygen.js FILE\n");
  process.exitCode = 1;
} else {
  try {
    process.stdout.write(`${createKeyFile(path)}\n`);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}
