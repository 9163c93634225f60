/**
 * The ABNF grammar of EIP-4361, applied to a message that `siwe-lines.ts` has parsed.
 *
 * The parser interprets the grammar (1 to 1.5 ms), so it runs once per message. If it rejects the message,
 * URIs are checked one by one to find the line.
 */

import { isUri, ParsedMessage } from "@spruceid/siwe-parser";
import { millisecondsOf } from "./rfc3339.js";
import { type FaultyLine, uriLinesOf } from "./siwe-lines.js";
import type { SiweMessage } from "./siwe-message.js";

const GRAMMAR = "what the grammar of EIP-4361 allows";

/** The line on which the grammar rejects the message; undefined if it accepts it. */
export function grammarFault(message: SiweMessage): FaultyLine | undefined {
  let parsed: ParsedMessage;
  try {
    parsed = new ParsedMessage(message.text);
  } catch (error) {
    return faultOf(message, error instanceof Error ? error.message : "");
  }
  // If the two parsers disagree about a field, neither is trusted.
  return isSame(message, parsed) ? undefined : { line: 1, expected: GRAMMAR };
}

function faultOf({ text, domain }: SiweMessage, reason: string): FaultyLine {
  if (isUri(`https://${domain}`) !== true) return { line: 1, expected: "an RFC 3986 authority" };
  const wrong = uriLinesOf(text).find(({ uri }) => isUri(uri) !== true);
  if (wrong !== undefined) return { line: wrong.line, expected: "an RFC 3986 URI" };
  const line = /line (?:number was )?(\d+)/.exec(reason)?.[1];
  return { line: Number(line ?? 1), expected: GRAMMAR };
}

function isSame(message: SiweMessage, parsed: ParsedMessage): boolean {
  const resources = parsed.resources ?? [];
  return (
    message.scheme === (parsed.scheme ?? undefined) &&
    message.domain === parsed.domain &&
    message.address === parsed.address &&
    message.statement === (parsed.statement ?? undefined) &&
    message.uri === parsed.uri &&
    message.chainId === parsed.chainId &&
    message.nonce === parsed.nonce &&
    message.issuedAtMs === millisecondsOf(parsed.issuedAt) &&
    message.expiresAtMs === optionalTime(parsed.expirationTime) &&
    message.notBeforeMs === optionalTime(parsed.notBefore) &&
    message.requestId === (parsed.requestId ?? undefined) &&
    message.resources.length === resources.length &&
    message.resources.every((resource, i) => resource === resources[i])
  );
}

function optionalTime(text: string | null | undefined): number | undefined {
  return text === null || text === undefined ? undefined : millisecondsOf(text);
}
