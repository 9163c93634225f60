/**
 * Compares a sign-in with the message that the wallet signed: account, nonce, key, caps, markets and
 * duration. A message without a session resource binds no key and allows every market without caps.
 */
import type { OpenSession } from "@perpgate/engine";
import {
  compressedKey,
  MICROS_PER_DOLLAR,
  parseSessionKey,
  siweResourcesOf,
  siweValueOf,
} from "@perpgate/protocol/core";
import type { Listing } from "../listing/listing.js";
import { fingerprintOf } from "./key-signature.js";

const SESSION = "urn:perpgate:session?";
const DAY_MS = 86_400_000;

/** The first difference between the command and the message, or null. */
export function signInFault(command: OpenSession, text: string, listing: Listing): string | null {
  const address = text.split("\n")[1]?.toLowerCase();
  if (address !== `0x${command.address}`) {
    return `the message is of ${address}, the account is 0x${command.address}`;
  }
  const nonce = siweValueOf(text, "Nonce");
  if (nonce !== command.siweNonce) {
    return `the message has the nonce ${nonce}, logged ${command.siweNonce}`;
  }
  const chain = siweValueOf(text, "Chain ID");
  if (command.contractChainId !== undefined && String(command.contractChainId) !== chain) {
    return `the message has the chain id ${chain}, logged ${command.contractChainId}`;
  }
  return resourceFault(command, text, listing) ?? durationFault(command, text);
}

/** Raw bytes of the key that the message binds; undefined if it binds none. */
export function boundKeyOf(text: string): Uint8Array | undefined {
  const key = parseSessionKey(sessionResources(text)[0]?.get("key") ?? "");
  return key === undefined ? undefined : compressedKey(key);
}

function sessionResources(text: string): URLSearchParams[] {
  return siweResourcesOf(text)
    .filter((uri) => uri.startsWith(SESSION))
    .map((uri) => new URLSearchParams(uri.slice(SESSION.length)));
}

function resourceFault(command: OpenSession, text: string, listing: Listing): string | null {
  const [resource, second] = sessionResources(text);
  if (second !== undefined) return "the message has several session resources";
  const bound = boundKeyOf(text);
  if (resource !== undefined && (bound === undefined || fingerprintOf(bound) !== command.key)) {
    return "the message binds another session key";
  }
  const symbols = resource?.get("symbols")?.split(",") ?? [];
  const terms = [
    ["maxOrderNotional", microsOf(resource, "maxOrderNotional"), command.maxOrderNotionalMicros],
    ["maxNotional", microsOf(resource, "maxNotional"), command.maxNotionalMicros],
    ["markets", symbols.map((each) => listing.named(each)?.number).join(), command.markets.join()],
  ] as const;
  const different = terms.find(([, signed, logged]) => signed !== logged);
  if (different === undefined) return null;
  const [name, signed, logged] = different;
  return `${name}: signed ${signed || "none"}, logged ${logged || "none"}`;
}

/** Decimal dollars with at most six decimals; 0 if there are none. */
function microsOf(resource: URLSearchParams | undefined, cap: string): number {
  const [dollars, fraction = ""] = resource?.get(cap)?.split(".") ?? ["0"];
  return Number(dollars) * MICROS_PER_DOLLAR + Number(fraction.padEnd(6, "0"));
}

/**
 * A session lasts until its message ends, or for a day. The wall clock may have been set back between the
 * check of the message and its command, so that a day more is no fault.
 */
function durationFault({ expiresAtMs, stampMs }: OpenSession, text: string): string | null {
  const end = siweValueOf(text, "Expiration Time");
  const issuedMs = Date.parse(siweValueOf(text, "Issued At") ?? "");
  const allowedMs = end === undefined ? DAY_MS : Date.parse(end) - issuedMs;
  // A time that `Date.parse` cannot read, such as a leap second, is not compared.
  return expiresAtMs - stampMs > allowedMs + DAY_MS
    ? "the session lasts longer than the message allows"
    : null;
}
