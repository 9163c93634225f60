/**
 * The headers that a plain request may have. The list is closed: a header that is not on it leaves
 * the request to Node, so nothing that changes how a message is framed, routed or trusted
 * (`transfer-encoding`, `expect`, `upgrade`, `origin`, `x-forwarded-for`, …) can be overlooked.
 */

import { SIGNATURE_HEADER } from "@perpgate/protocol";

/** One bit each, so that what was seen is one number and a repetition is one test. */
export const HEADER = {
  host: 1,
  contentLength: 2,
  contentType: 4,
  connection: 8,
  authorization: 16,
  signature: 32,
  requestId: 64,
} as const;

const NAMES: readonly (readonly [name: string, bit: number])[] = [
  ["host", HEADER.host],
  ["content-length", HEADER.contentLength],
  ["content-type", HEADER.contentType],
  ["connection", HEADER.connection],
  ["authorization", HEADER.authorization],
  [SIGNATURE_HEADER, HEADER.signature],
  ["x-request-id", HEADER.requestId],
  // What common clients add and no answer of ours depends on.
  ["user-agent", 1 << 7],
  ["accept", 1 << 8],
  ["accept-encoding", 1 << 9],
  ["accept-language", 1 << 10],
  ["sec-fetch-mode", 1 << 11],
  ["cache-control", 1 << 12],
  ["pragma", 1 << 13],
  ["traceparent", 1 << 14],
];

interface HeaderName {
  readonly bytes: Uint8Array;
  readonly bit: number;
}

const BY_LENGTH: HeaderName[][] = [];
for (const [name, bit] of NAMES) {
  const named = BY_LENGTH[name.length] ?? [];
  named.push({ bytes: Buffer.from(name), bit });
  BY_LENGTH[name.length] = named;
}

export const LONGEST_NAME = BY_LENGTH.length - 1;

/** The bit of the name between two places, in any case of letters; 0 where it is not on the list. */
export function headerBitOf(bytes: Uint8Array, from: number, to: number): number {
  const named = BY_LENGTH[to - from];
  if (named === undefined) return 0;
  for (let i = 0; i < named.length; i++) {
    const name = named[i]!;
    if (isSameWord(bytes, from, name.bytes)) return name.bit;
  }
  return 0;
}

/** Whether a word of lower-case letters, digits and hyphens stands at a place, in any case. */
export function isSameWord(bytes: Uint8Array, from: number, word: Uint8Array): boolean {
  for (let i = 0; i < word.length; i++) {
    const byte = bytes[from + i]!;
    const lower = byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte;
    if (lower !== word[i]) return false;
  }
  return true;
}
