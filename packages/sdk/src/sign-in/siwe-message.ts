/**
 * The text that a wallet shows and signs: EIP-4361, with one resource that binds the session key and
 * its caps to the signature.
 */

import { toMicrosFloor } from "@perpgate/protocol/core";

/** Limits of the session key; a cap that is left out does not apply. */
export interface SessionCaps {
  /** Dollars of notional that one order may open, at most. */
  readonly maxOrderNotional?: number;
  /** Dollars of notional of all positions and opening orders together, at most. */
  readonly maxNotional?: number;
  /** The markets it may trade. */
  readonly symbols?: readonly string[];
}

interface SiweFields {
  readonly domain: string;
  readonly address: string;
  readonly statement: string;
  readonly uri: string;
  readonly chainId: number;
  readonly nonce: string;
  readonly issuedAt: Date;
  readonly expiresAt?: Date | undefined;
  readonly sessionKey: string;
  readonly caps?: SessionCaps | undefined;
}

export function siweText(fields: SiweFields): string {
  const { statement, expiresAt } = fields;
  if (/[\r\n]/.test(statement)) throw new RangeError("the statement must be one line");
  return [
    `${fields.domain} wants you to sign in with your Ethereum account:`,
    fields.address,
    "",
    ...(statement === "" ? [] : [statement, ""]),
    `URI: ${fields.uri}`,
    "Version: 1",
    `Chain ID: ${fields.chainId}`,
    `Nonce: ${fields.nonce}`,
    `Issued At: ${fields.issuedAt.toISOString()}`,
    ...(expiresAt === undefined ? [] : [`Expiration Time: ${expiresAt.toISOString()}`]),
    "Resources:",
    `- ${sessionResource(fields.sessionKey, fields.caps)}`,
  ].join("\n");
}

function sessionResource(key: string, caps: SessionCaps = {}): string {
  const { maxOrderNotional, maxNotional, symbols } = caps;
  if (symbols?.length === 0) throw new RangeError("caps.symbols: list a market or leave it out");
  return [
    `urn:perpgate:session?key=${key}`,
    ...(maxOrderNotional === undefined ? [] : [`maxOrderNotional=${dollars(maxOrderNotional)}`]),
    ...(maxNotional === undefined ? [] : [`maxNotional=${dollars(maxNotional)}`]),
    ...(symbols === undefined ? [] : [`symbols=${symbols.join(",")}`]),
  ].join("&");
}

/** Plain decimals, to the micro-dollar, rounded down: a cap never grows by rounding. */
function dollars(value: number): string {
  const micros = value > 0 && value < 1e9 ? toMicrosFloor(value) : 0;
  if (micros === 0) {
    throw new RangeError(`a cap is at least a micro-dollar and below 10^9 dollars, not ${value}`);
  }
  const [whole, fraction] = [Math.floor(micros / 1e6), micros % 1e6];
  const decimals = String(fraction).padStart(6, "0").replace(/0+$/, "");
  return decimals === "" ? String(whole) : `${whole}.${decimals}`;
}
