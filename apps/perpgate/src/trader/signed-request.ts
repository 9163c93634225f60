/** Signed requests of commands: their nonce, their expiry, and what is said if no answer comes. */

import { clockTimeOf } from "@perpgate/protocol/core";
import type { CallOptions } from "@perpgate/sdk";
import { StartError, UsageError } from "../cli/start-error.js";
import type { TradingVenue } from "./connection.js";
import { Interruption } from "./interruption.js";
import { claimNonce, isClaimed } from "./nonce-ledger.js";
import { failureOf, howToSettle, type SignedKind } from "./venue-failure.js";

/** A nonce whose time is further from now than this was not taken from the clock. */
const MAX_NONCE_AGE_MS = 30 * 86_400_000;
/** No clock gave a nonce of an earlier time: it is a number of the user's own. */
const FIRST_NONCE_MS = Date.UTC(2025, 0);

/**
 * The nonce of `--nonce`, else one of the profile's ledger. Nonces are counted per session, so one of
 * another login would be executed a second time.
 */
export function nonceFor(venue: TradingVenue, given: number | undefined): number {
  if (given === undefined) return claimNonce(venue.profile.ledgerPath(venue.session.token));
  if (isOfAnotherLogin(venue, given)) {
    throw new StartError(
      `nonce ${given} is of another login, so it could be executed a second time; check with ` +
        "perpgate orders --all and perpgate positions, and leave out --nonce if it was not executed",
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

/** After Ctrl-C with the request in flight its outcome is unknown, and the message says so. */
export async function sendSigned<T>(
  { url }: TradingVenue,
  kind: SignedKind,
  { nonce, isRepeat }: { readonly nonce: number; readonly isRepeat: boolean },
  send: (options: CallOptions) => Promise<T>,
): Promise<T> {
  const interruption = new Interruption();
  try {
    return await send({ signal: interruption.signal, retries: 5, isRepeat });
  } catch (error) {
    if (!interruption.hasHappened) throw failureOf(error, url, kind);
    throw new StartError(`stopped before the answer arrived; ${howToSettle(kind, nonce)}`);
  } finally {
    interruption.end();
  }
}
