/**
 * Nonces for orders of one session that several processes place concurrently.
 *
 * A repeated nonce would be worse than an error: the venue would take two equal orders for one. So
 * each process appends a line with a random mark to a shared file; appends are atomic. Then it reads
 * the file and computes the nonce of its line from all lines before it, which gives every process the
 * same result for the same line. There is no lock that a killed process could leave behind.
 *
 * A nonce follows the clock, like those of the SDK, and is above all nonces before it.
 */

import { randomBytes } from "node:crypto";
import { closeSync, fstatSync, readSync, writeSync } from "node:fs";
import { clockNonce } from "@perpgate/protocol/core";
import { StartError } from "../cli/start-error.js";
import { openPrivateLedger, readPrivateFile } from "./private-file.js";

const LINE = /^([0-9]{1,16}) ([0-9a-f]{16})$/;
/** A line that a full disk cut short also corrupts the next one. */
const TRIES = 3;

export function claimNonce(path: string, nowMs = Date.now()): number {
  const file = openPrivateLedger(path);
  try {
    for (let tried = 0; tried < TRIES; tried++) {
      const mark = randomBytes(8).toString("hex");
      writeSync(file, `${clockNonce(nowMs)} ${mark}\n`);
      const nonce = nonceOf(mark, readAll(file));
      if (nonce !== undefined) return nonce;
    }
  } finally {
    closeSync(file);
  }
  throw new StartError(`cannot write ${path}; is the disk full?`);
}

/** Whether a process has claimed the nonce; false if there is no such ledger. */
export function isClaimed(path: string, nonce: number): boolean {
  for (const [, claimed] of claims(readPrivateFile(path)?.split("\n") ?? [])) {
    if (claimed === nonce) return true;
  }
  return false;
}

/** Undefined if no intact line has the mark. */
function nonceOf(mark: string, lines: readonly string[]): number | undefined {
  for (const [found, nonce] of claims(lines)) if (found === mark) return nonce;
  return undefined;
}

/** The mark and the nonce of each intact line. */
function* claims(lines: readonly string[]): Generator<readonly [string, number]> {
  let last = 0;
  for (const line of lines) {
    const [, time, mark] = LINE.exec(line) ?? [];
    if (time === undefined || mark === undefined) continue;
    last = Math.max(last + 1, Number(time));
    yield [mark, last];
  }
}

function readAll(file: number): string[] {
  const { size } = fstatSync(file);
  const bytes = Buffer.alloc(size);
  let filled = 0;
  while (filled < size) {
    const count = readSync(file, bytes, filled, size - filled, filled);
    if (count === 0) break;
    filled += count;
  }
  return bytes.toString("latin1", 0, filled).split("\n");
}
