/**
 * An attestor's private key in a file of its own: 64 hex digits that nobody but the owner may read.
 * A file that others can read is refused, since a key that was readable once is not secret again.
 */

import { randomBytes } from "node:crypto";
import { closeSync, fstatSync, fsyncSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { privateKeyFromSeed, publicKeyHex } from "./attestor-key.js";

/** Permissions of anyone but the owner. */
const OTHERS = 0o077;

export function readKeyFile(path: string): string {
  const file = openSync(path, "r");
  try {
    const { mode } = fstatSync(file);
    if ((mode & OTHERS) !== 0) {
      const found = (mode & 0o777).toString(8).padStart(3, "0");
      throw new Error(`others may read it (mode ${found}): chmod 600, and better take a new key`);
    }
    return readFileSync(file, "utf8");
  } finally {
    closeSync(file);
  }
}

/** Makes a new key in a file that must not exist yet; answers the public key. */
export function createKeyFile(path: string): string {
  const seed = randomBytes(32).toString("hex");
  const file = openSync(path, "wx", 0o600);
  try {
    writeFileSync(file, `${seed}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  return publicKeyHex(privateKeyFromSeed(seed));
}
