/** The nonce and the expiry of a signed request, and how to learn what became of it. */

import { randomBytes } from "node:crypto";
import { closeSync, fstatSync, readSync, writeSync } from "node:fs";
import { clockNonce, clockTimeOf } from "@perpgate/protocol/core";
import { StartError, UsageError } from "../cli/start-error.js";
import type { TradingVenue } from "./connection.js";
import type { Hint } from "./hint.js";
import { openPrivateLedger, readPrivateFile } from "./private-file.js";

/** A nonce whose time is further from now than this was not taken from the clock. */
const MAX_NONCE_AGE_MS = 30 * 86_400_000;
/** No clock gave a nonce of an earlier time: it is a number of the user's own. */
const FIRST_NONCE_MS = Date.UTC(2025, 0);

export interface Signing {
  readonly nonce: number;
  /** Whether the nonce is that of an earlier call. */
  readonly isRepeat: boolean;
}

/** The nonce of `--nonce`, else one of the profile's ledger. */
export function signingOf(venue: TradingVenue, given: number | undefined): Signing {
  return { nonce: nonceFor(venue, given), isRepeat: given !== undefined };
}

/** Nonces are counted per session, so one of another login would be executed a second time. */
function nonceFor(venue: TradingVenue, given: number | undefined): number {
  if (given === undefined) return claimNonce(venue.profile.ledgerPath(venue.session.token));
  if (isOfAnotherLogin(venue, given)) {
    throw new StartError(
      `nonce ${given} is of another login, so it could be executed a second time; check with ` +
        `${venue.hint("orders --all")} and ${venue.hint("positions")}, and leave out --nonce if it ` +
        "was not executed",
    );
  }
  return given;
}

/** The ledgers know. The clock decides on a nonce of none: a logout removes the session's ledger. */
function isOfAnotherLogin({ profile, session, known }: TradingVenue, nonce: number): boolean {
  if (isClaimed(profile.ledgerPath(session.token), nonce)) return false;
  if (profile.ledgers().some((path) => isClaimed(path, nonce))) return true;
  const timeMs = clockTimeOf(nonce);
  return timeMs >= FIRST_NONCE_MS && timeMs < (known?.loggedInAt ?? 0);
}

/**
 * The end of `--expires-in`. It counts from the time of the nonce: the repeated command must send the
 * same bytes.
 */
export function expiryFor(nonce: number, expiresIn: number | undefined): number | undefined {
  if (expiresIn === undefined) return undefined;
  if (!isFromClock(nonce)) {
    throw new UsageError(
      `--expires-in counts from the time of the nonce, and ${nonce} was not taken from the clock; ` +
        "leave out --nonce, or give one that perpgate named",
    );
  }
  return clockTimeOf(nonce) + expiresIn;
}

function isFromClock(nonce: number): boolean {
  return Math.abs(Date.now() - clockTimeOf(nonce)) <= MAX_NONCE_AGE_MS;
}

/** Of one order, which can be found by its nonce. `again` is the command that repeats it. */
export function howToSettleOrder(hint: Hint, nonce: number, again?: string): string {
  return `ask: ${hint(`orders --all --nonce ${nonce}`)}, or ${howToSettleChange(nonce, again)}`;
}

/** Of a batch, an amendment or a margin change: a repetition tells. */
export function howToSettleChange(
  nonce: number,
  again = `the command with --nonce ${nonce}`,
): string {
  return `repeat ${again}, which is executed at most once`;
}

const LINE = /^([0-9]{1,16}) ([0-9a-f]{16})$/;
/** A line that a full disk cut short also corrupts the next one. */
const TRIES = 3;

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
