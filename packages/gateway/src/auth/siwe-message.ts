/**
 * Parses a sign-in message (EIP-4361) into its fields, or throws an error that names the line.
 *
 * Parsing is cheap and does not cover the whole grammar; `siwe-grammar.ts` does, in another thread. Clock,
 * domain and chain are checked in `siwe-rules.ts`.
 */

import { ApiError } from "@perpgate/protocol/core";
import { millisecondsOf } from "./rfc3339.js";
import { type FaultyLine, isFaulty, type LineTitle, siweLinesOf } from "./siwe-lines.js";

export interface SiweMessage {
  readonly text: string;
  /** The optional scheme before the domain. */
  readonly scheme: string | undefined;
  /** The whole authority, userinfo and port included. */
  readonly domain: string;
  /** With the EIP-55 checksum. */
  readonly address: `0x${string}`;
  readonly statement: string | undefined;
  readonly uri: string;
  readonly chainId: number;
  readonly nonce: string;
  readonly issuedAtMs: number;
  readonly expiresAtMs: number | undefined;
  readonly notBeforeMs: number | undefined;
  readonly requestId: string | undefined;
  readonly resources: readonly string[];
}

export function readSiweMessage(text: string): SiweMessage {
  const lines = siweLinesOf(text);
  if (isFaulty(lines)) throw refuseLine(lines);
  const { scheme, domain, address, statement, values, resources } = lines;
  const time = (title: LineTitle) => millisecondsOf(values.get(title) ?? "");
  const issuedAtMs = time("Issued At");
  if (issuedAtMs === undefined || !isPrefixed(address)) {
    throw new Error("siweLinesOf accepted an invalid line");
  }
  return {
    text,
    scheme,
    domain,
    address,
    statement,
    uri: values.get("URI") ?? "",
    chainId: Number(values.get("Chain ID")),
    nonce: values.get("Nonce") ?? "",
    issuedAtMs,
    expiresAtMs: time("Expiration Time"),
    notBeforeMs: time("Not Before"),
    requestId: values.get("Request ID"),
    resources,
  };
}

function isPrefixed(address: string): address is `0x${string}` {
  return address.startsWith("0x");
}

export function refuseLine({ line, expected }: FaultyLine): ApiError {
  return new ApiError(
    "invalid_siwe_message",
    { line, expected },
    { field: "message", details: { line, expected } },
  );
}
