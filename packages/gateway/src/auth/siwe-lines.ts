/**
 * Parses a sign-in message (EIP-4361) line by line: returns the values of its lines, or the first line
 * that violates the standard and what was expected there.
 *
 * Every step is linear in the text, so any message takes tens of microseconds at most. URIs are checked
 * for scheme and characters only; `siwe-grammar.ts` checks them completely, in another thread.
 */

import { checksumAddress } from "@perpgate/protocol/core";
import { millisecondsOf } from "./rfc3339.js";

export interface FaultyLine {
  /** Counted from 1. */
  readonly line: number;
  readonly expected: string;
}

interface SiweLines {
  /** The optional scheme before the domain. */
  readonly scheme: string | undefined;
  readonly domain: string;
  readonly address: string;
  readonly statement: string | undefined;
  /** Values by line title, such as `URI`. */
  readonly values: ReadonlyMap<LineTitle, string>;
  readonly resources: readonly string[];
}

export type LineTitle = (typeof TITLED)[number]["title"];

/** Used nonces stay in memory for minutes, so their length is bounded. */
const MAX_NONCE_CHARACTERS = 128;
/** A message of the SDK has about 500 characters and one resource. */
export const MAX_MESSAGE_CHARACTERS = 2_048;
export const MAX_RESOURCES = 32;

const GREETING = " wants you to sign in with your Ethereum account:";
const SCHEME = /^([A-Za-z][A-Za-z0-9+.-]*):\/\//;
const AUTHORITY = /^(?:[A-Za-z0-9\-._~:[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})+$/;
const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const NONCE = new RegExp(`^[A-Za-z0-9]{8,${MAX_NONCE_CHARACTERS}}$`);
const STATEMENT = /^[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;= ]+$/;
const PCHARS = /^(?:[A-Za-z0-9\-._~!$&'()*+,;=:@]|%[0-9A-Fa-f]{2})*$/;
const URI = /^[A-Za-z][A-Za-z0-9+.-]*:(?:[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})*$/;
const DATE_TIME = "an RFC 3339 date-time such as 2026-01-31T12:00:00Z";

const TITLED = [
  { title: "URI", isOptional: false, value: "an RFC 3986 URI", accepts: isUri },
  { title: "Version", isOptional: false, value: "1", accepts: (text: string) => text === "1" },
  {
    title: "Chain ID",
    isOptional: false,
    value: "digits, at most 2^53 − 1",
    accepts: isChainId,
  },
  {
    title: "Nonce",
    isOptional: false,
    value: `8 to ${MAX_NONCE_CHARACTERS} letters or digits`,
    accepts: (text: string) => NONCE.test(text),
  },
  { title: "Issued At", isOptional: false, value: DATE_TIME, accepts: isDateTime },
  { title: "Expiration Time", isOptional: true, value: DATE_TIME, accepts: isDateTime },
  { title: "Not Before", isOptional: true, value: DATE_TIME, accepts: isDateTime },
  {
    title: "Request ID",
    isOptional: true,
    value: "RFC 3986 path characters",
    accepts: (text: string) => PCHARS.test(text),
  },
] as const;

/** Thrown and caught in this file only. */
class LineFault extends Error {
  constructor(readonly fault: FaultyLine) {
    super(fault.expected);
  }
}

export function siweLinesOf(text: string): SiweLines | FaultyLine {
  try {
    return read(text);
  } catch (error) {
    if (error instanceof LineFault) return error.fault;
    throw error;
  }
}

export function isFaulty(read: SiweLines | FaultyLine): read is FaultyLine {
  return "expected" in read;
}

/** The lines with URIs, from 1, of a message that `siweLinesOf` accepts. */
export function uriLinesOf(
  text: string,
): readonly { readonly line: number; readonly uri: string }[] {
  return text.split("\n").flatMap((content, at) => {
    const title = content.startsWith("URI: ") ? "URI: " : "- ";
    // The fourth line may be a statement that looks like a URI line.
    return at > 3 && content.startsWith(title)
      ? [{ line: at + 1, uri: content.slice(title.length) }]
      : [];
  });
}

function read(text: string): SiweLines {
  if (text.length > MAX_MESSAGE_CHARACTERS) {
    const line = text.slice(0, MAX_MESSAGE_CHARACTERS).split("\n").length;
    throw fault(line, `at most ${MAX_MESSAGE_CHARACTERS} characters in all`);
  }
  const lines = text.split("\n");
  const returns = lines.findIndex((line) => line.includes("\r"));
  if (returns >= 0) throw fault(returns + 1, "LF alone at the end of a line");
  const head = readHead(lines);
  const statement = readStatement(lines);
  const values = new Map<LineTitle, string>();
  const tail = readTitled(lines, 3 + statement.lines, values);
  return { ...head, statement: statement.text, values, resources: readResources(lines, tail) };
}

function readHead(lines: readonly string[]): Pick<SiweLines, "scheme" | "domain" | "address"> {
  const [first = "", address = "", blank] = lines;
  const [prefix = "", scheme] = SCHEME.exec(first) ?? [];
  const domain = first.slice(prefix.length, -GREETING.length);
  if (!first.endsWith(GREETING) || !AUTHORITY.test(domain)) {
    throw fault(1, `"<domain>${GREETING}"`);
  }
  if (!ADDRESS.test(address) || checksumAddress(address.toLowerCase()) !== address) {
    throw fault(2, "an address of 0x and 40 hex digits in EIP-55 capitals");
  }
  if (blank !== "") throw fault(3, "an empty line after the address");
  return { scheme, domain, address };
}

/** The statement, and the number of lines it takes including the empty line after it. */
function readStatement(lines: readonly string[]): { text: string | undefined; lines: number } {
  const [fourth = "", fifth] = lines.slice(3);
  if (fourth === "") return fifth === "" ? { text: "", lines: 2 } : { text: undefined, lines: 1 };
  // A statement may begin with "URI: "; then an empty line follows.
  if (fourth.startsWith("URI: ") && fifth !== "") {
    throw fault(4, "a statement or a second empty line");
  }
  if (!STATEMENT.test(fourth)) throw fault(4, "a statement of RFC 3986 characters and spaces");
  if (fifth !== "") throw fault(5, "an empty line after the statement, which is one line");
  return { text: fourth, lines: 2 };
}

/** Fills `values`; returns the index of the line after the last title. */
function readTitled(
  lines: readonly string[],
  from: number,
  values: Map<LineTitle, string>,
): number {
  let at = from;
  for (const { title, isOptional, value, accepts } of TITLED) {
    const prefix = `${title}: `;
    const isThere = lines[at]?.startsWith(prefix) === true;
    if (!isThere && isOptional) continue;
    const text = lines[at]?.slice(prefix.length) ?? "";
    if (!isThere || !accepts(text)) throw fault(at + 1, `"${prefix}" and then ${value}`);
    values.set(title, text);
    at++;
  }
  return at;
}

function readResources(lines: readonly string[], from: number): readonly string[] {
  if (lines.length === from) return [];
  if (lines[from] !== "Resources:") {
    throw fault(
      from + 1,
      'the end, or one of "Expiration Time: ", "Not Before: ", "Request ID: ", "Resources:" in this order',
    );
  }
  if (lines.length - from - 1 > MAX_RESOURCES) {
    throw fault(from + 2 + MAX_RESOURCES, `the end: at most ${MAX_RESOURCES} resources`);
  }
  return lines.slice(from + 1).map((line, i) => {
    if (line.startsWith("- ") && isUri(line.slice(2))) return line.slice(2);
    throw fault(from + 2 + i, '"- " and then an RFC 3986 URI');
  });
}

function fault(line: number, expected: string): LineFault {
  return new LineFault({ line, expected });
}

function isUri(value: string): boolean {
  return URI.test(value);
}

function isDateTime(value: string): boolean {
  return millisecondsOf(value) !== undefined;
}

function isChainId(value: string): boolean {
  return /^[0-9]+$/.test(value) && Number.isSafeInteger(Number(value));
}
