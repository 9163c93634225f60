/**
 * The first line of a sign-in message that is not as EIP-4361 has it, in words for its author.
 *
 * The grammar decides what is accepted and says little about what is not; this file says which line
 * and what was expected there. It runs first because it is cheap, where the grammar takes time in
 * proportion to what it is fed. It never accepts anything: silence here only means that the grammar
 * has the word.
 */

import { isEIP55Address, isUri as matchesUri } from "@spruceid/siwe-parser";
import { millisecondsOf } from "./rfc3339.js";

export interface FaultyLine {
  /** Counted from 1. */
  readonly line: number;
  readonly expected: string;
}

/** A used nonce is remembered for minutes, so it must not be as long as a body may be. */
export const MAX_NONCE_CHARACTERS = 128;
const GREETING = " wants you to sign in with your Ethereum account:";
const NONCE = new RegExp(`^[A-Za-z0-9]{8,${MAX_NONCE_CHARACTERS}}$`);
const STATEMENT = /^[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;= ]+$/;
const PCHARS = /^(?:[A-Za-z0-9\-._~!$&'()*+,;=:@]|%[0-9A-Fa-f]{2})*$/;
const DATE_TIME = "an RFC 3339 date-time such as 2026-01-31T12:00:00Z";

interface TitledLine {
  readonly title: string;
  readonly value: string;
  readonly isOptional: boolean;
  accepts(value: string): boolean;
}

const TITLED: readonly TitledLine[] = [
  required("URI: ", "an RFC 3986 URI", isUri),
  required("Version: ", "1", (value) => value === "1"),
  required("Chain ID: ", "digits, at most 2^53 − 1", isChainId),
  required("Nonce: ", `8 to ${MAX_NONCE_CHARACTERS} letters or digits`, (value) =>
    NONCE.test(value),
  ),
  required("Issued At: ", DATE_TIME, isDateTime),
  optional("Expiration Time: ", DATE_TIME, isDateTime),
  optional("Not Before: ", DATE_TIME, isDateTime),
  optional("Request ID: ", "RFC 3986 path characters", (value) => PCHARS.test(value)),
];

export function faultyLineOf(message: string): FaultyLine | undefined {
  const lines = message.split("\n");
  const returns = lines.findIndex((line) => line.includes("\r"));
  if (returns >= 0) return { line: returns + 1, expected: "LF alone at the end of a line" };
  return headProblem(lines) ?? bodyProblem(lines, statementLines(lines));
}

function headProblem([first = "", address = "", blank]: readonly string[]): FaultyLine | undefined {
  const domain = first.slice(0, -GREETING.length);
  if (!first.endsWith(GREETING) || !isAuthority(withoutScheme(domain))) {
    return { line: 1, expected: `"<domain>${GREETING}"` };
  }
  if (!isEIP55Address(address)) {
    return { line: 2, expected: "an address of 0x and 40 hex digits in EIP-55 capitals" };
  }
  return blank === "" ? undefined : { line: 3, expected: "an empty line after the address" };
}

function isAuthority(text: string): boolean {
  return text !== "" && !/[/?#]/.test(text) && isUri(`https://${text}`);
}

function withoutScheme(domain: string): string {
  return domain.replace(/^[A-Za-z][A-Za-z0-9+.-]*:\/\//, "");
}

/** How many lines the statement takes, with the empty one after it: none, an empty one, or one. */
function statementLines(lines: readonly string[]): number {
  const [fourth = "", fifth] = lines.slice(3);
  if (fourth === "") return fifth === "" ? 2 : 1;
  // "URI: …" may also be what a statement says; then an empty line follows.
  return fourth.startsWith("URI: ") && fifth !== "" ? 0 : 2;
}

function bodyProblem(lines: readonly string[], statement: number): FaultyLine | undefined {
  if (statement === 0) return { line: 4, expected: "a statement or a second empty line" };
  const text = lines[3] ?? "";
  if (text !== "" && !STATEMENT.test(text)) {
    return { line: 4, expected: "a statement of RFC 3986 characters and spaces" };
  }
  if (statement === 2 && lines[4] !== "") {
    return { line: 5, expected: "an empty line after the statement, which is one line" };
  }
  let at = 3 + statement;
  for (const titled of TITLED) {
    const line = lines[at];
    if (titled.isOptional && line?.startsWith(titled.title) !== true) continue;
    if (line?.startsWith(titled.title) !== true || !titled.accepts(line.slice(titled.title.length)))
      return { line: at + 1, expected: `"${titled.title}" and then ${titled.value}` };
    at++;
  }
  return tailProblem(lines, at);
}

function tailProblem(lines: readonly string[], from: number): FaultyLine | undefined {
  if (lines.length === from) return undefined;
  if (lines[from] !== "Resources:") {
    return {
      line: from + 1,
      expected:
        'the end, or one of "Expiration Time: ", "Not Before: ", "Request ID: ", "Resources:" in this order',
    };
  }
  for (let at = from + 1; at < lines.length; at++) {
    const line = lines[at] ?? "";
    if (!line.startsWith("- ") || !isUri(line.slice(2))) {
      return { line: at + 1, expected: '"- " and then an RFC 3986 URI' };
    }
  }
  return undefined;
}

function required(title: string, value: string, accepts: (value: string) => boolean): TitledLine {
  return { title, value, accepts, isOptional: false };
}

function optional(title: string, value: string, accepts: (value: string) => boolean): TitledLine {
  return { title, value, accepts, isOptional: true };
}

function isUri(value: string): boolean {
  return matchesUri(value) === true;
}

function isDateTime(value: string): boolean {
  return millisecondsOf(value) !== undefined;
}

function isChainId(value: string): boolean {
  return /^[0-9]+$/.test(value) && Number.isSafeInteger(Number(value));
}
