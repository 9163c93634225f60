/**
 * Bodies that are expensive to read, 64 KiB each, the most that the default configuration accepts.
 * They go to the order endpoint without a token unless the name says otherwise.
 */
import { signIn } from "../../harness/http.js";
import { request } from "../../harness/wire.js";
import { attacksOf, type PrepareAttack } from "../attack.js";
import { flood, repeated } from "../wire/patterns.js";
import { FEW } from "./shared.js";

const BODY_BYTES = 65_536;

/** `open`, as many `unit` as fit, `close`. */
export function filled(open: string, unit: string, close: string, bytes = BODY_BYTES): string {
  const room = bytes - Buffer.byteLength(open) - Buffer.byteLength(close);
  return open + unit.repeat(Math.floor(room / Buffer.byteLength(unit))) + close;
}

export function manyKeys(bytes = BODY_BYTES): string {
  const keys: string[] = [];
  for (let i = 0, used = 2; ; i++) {
    const key = `"${i.toString(36)}":0`;
    used += key.length + 1;
    if (used > bytes) return `{${keys.join(",")}}`;
    keys.push(key);
  }
}

export const HUGE_FRACTION = filled("[1.", "0", "1]");
const MESSAGE_BYTES = 61_440;
export const LONG_EXPONENT = filled("[1e", "0", "1]", MESSAGE_BYTES);
const NEST = "[".repeat(20) + "]".repeat(20);
export const DEEP_ARRAYS = filled("[0", `,${NEST}`, "]", MESSAGE_BYTES);
const LONG_MARGIN = filled('{"symbol":"BTCUSD","margin":1.', "0", "1}", 4_000);

function send(body: string | Buffer, path = "/v1/orders"): PrepareAttack {
  return () => flood(request({ path, body }), FEW);
}

function sendWithToken(body: string, copies: number): PrepareAttack {
  return async ({ address }) => {
    const { token } = await signIn(address);
    const headers = { "x-service-sig": "A".repeat(86) };
    return flood(repeated(request({ path: "/v1/orders", token, headers, body }), copies), FEW);
  };
}

const TABLE = `
json-fraction-of-zeros: A number literal of 65,000 zeros is normalised in quadratic time.
json-long-integer: An integer of 65,000 digits is converted before it is refused.
json-long-exponent: An exponent of 65,000 digits is compared with its value in superlinear time.
json-many-numbers: Each of 16,000 fractions in one body is checked for exactness.
json-nested-arrays: 64 KB of opening brackets use the stack, or a step for each level.
json-nested-objects: Ten thousand nested objects use the stack, or a step for each level.
json-duplicate-keys: The search for duplicate keys runs over thousands of equal keys.
json-many-keys: The search for duplicate keys is quadratic in 10,000 different keys.
json-escapes: A string of 10,000 escapes is decoded one by one.
json-long-string: A string of 64 KB is copied by every step that looks at it.
json-invalid-utf8: 64 KB that are not UTF-8 are decoded before they are refused.
json-white-space: 64 KB of white space around one number are scanned more than once.
json-fraction-at-sign-in: The body of a sign-in is parsed before its limit is checked.
json-fraction-at-votes: The body of a bridge vote, which needs no token, is parsed before its limit is checked.
json-fraction-with-token: A signed-in account sends 64 KB literals; the length bound of an order comes too late.
json-fraction-within-signed-bytes: Literals of 3,900 zeros pass the length bound of an order and are still superlinear.
`;

export const JSON_ATTACKS = attacksOf("json", TABLE, {
  "json-fraction-of-zeros": send(HUGE_FRACTION),
  "json-long-integer": send(filled("[", "7", "]")),
  "json-long-exponent": send(filled("[1e", "0", "1]")),
  "json-many-numbers": send(filled("[0.5", ",0.5", "]")),
  "json-nested-arrays": send(filled("", "[", "")),
  "json-nested-objects": send(filled("", '{"a":', "")),
  "json-duplicate-keys": send(filled('{"a":0', ',"a":0', "}")),
  "json-many-keys": send(manyKeys()),
  "json-escapes": send(filled('{"symbol":"', "\\u0041", '"}')),
  "json-long-string": send(filled('{"symbol":"', "A", '"}')),
  "json-invalid-utf8": send(Buffer.alloc(BODY_BYTES, 0xff)),
  "json-white-space": send(filled("", " ", "1")),
  "json-fraction-at-sign-in": send(HUGE_FRACTION, "/v1/auth/siwe"),
  "json-fraction-at-votes": send(HUGE_FRACTION, "/v1/bridge/votes"),
  "json-fraction-with-token": sendWithToken(HUGE_FRACTION, 1),
  "json-fraction-within-signed-bytes": sendWithToken(LONG_MARGIN, 15),
});
