/**
 * A sign-in message (EIP-4361): text in, its fields out, or a refusal that names the line.
 *
 * What is accepted is the ABNF grammar's to say, with an EIP-55 address and strict RFC 3339 times.
 * Nothing is judged against the clock, the domain or the chain here: those are the gateway's rules,
 * in `siwe-rules.ts`.
 */

import { Refusal } from "@perpgate/protocol";
import { ParsedMessage } from "@spruceid/siwe-parser";
import { millisecondsOf } from "./rfc3339.js";
import { type FaultyLine, faultyLineOf } from "./siwe-lines.js";

export interface SiweMessage {
  readonly text: string;
  /** The optional scheme before the domain. */
  readonly scheme: string | undefined;
  /** The whole authority, userinfo and port included. */
  readonly domain: string;
  /** With the capitals of EIP-55. */
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

/** The grammar takes about 5 ms for this much; a message of ours has some 500 characters. */
export const MAX_MESSAGE_CHARACTERS = 4_096;

export function parseSiweMessage(text: string): SiweMessage {
  if (text.length > MAX_MESSAGE_CHARACTERS) {
    const line = text.slice(0, MAX_MESSAGE_CHARACTERS).split("\n").length;
    throw refuseLine({ line, expected: `at most ${MAX_MESSAGE_CHARACTERS} characters in all` });
  }
  const faulty = faultyLineOf(text);
  if (faulty !== undefined) throw refuseLine(faulty);
  return fieldsOf(text, parseByGrammar(text));
}

function parseByGrammar(text: string): ParsedMessage {
  try {
    return new ParsedMessage(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : "";
    const line = /line (?:number was )?(\d+)/.exec(reason)?.[1];
    throw refuseLine({ line: Number(line ?? 1), expected: "what the grammar of EIP-4361 allows" });
  }
}

function fieldsOf(text: string, parsed: ParsedMessage): SiweMessage {
  const { address, chainId } = parsed;
  const issuedAtMs = millisecondsOf(parsed.issuedAt);
  if (issuedAtMs === undefined || !isPrefixed(address) || !Number.isSafeInteger(chainId)) {
    // The line check has already refused all three.
    throw refuseLine({ line: 1, expected: "what the grammar of EIP-4361 allows" });
  }
  return {
    text,
    scheme: parsed.scheme ?? undefined,
    domain: parsed.domain,
    address,
    statement: parsed.statement ?? undefined,
    uri: parsed.uri,
    chainId,
    nonce: parsed.nonce,
    issuedAtMs,
    expiresAtMs: optionalTime(parsed.expirationTime),
    notBeforeMs: optionalTime(parsed.notBefore),
    requestId: parsed.requestId ?? undefined,
    resources: parsed.resources ?? [],
  };
}

function optionalTime(text: string | null | undefined): number | undefined {
  return text === null || text === undefined ? undefined : millisecondsOf(text);
}

function isPrefixed(address: string): address is `0x${string}` {
  return address.startsWith("0x");
}

function refuseLine({ line, expected }: FaultyLine): Refusal {
  return new Refusal(
    "invalid_siwe_message",
    { line, expected },
    { field: "message", details: { line, expected } },
  );
}
