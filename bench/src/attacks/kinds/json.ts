/**
 * Bodies that are expensive to read, sent without a token: 64 KiB each, the most that the default
 * configuration accepts. Only the order endpoint is asked, except where the name says otherwise.
 */
import { type AttackEntry, attacksOf } from "../attack.js";
import { flood } from "../wire/patterns.js";
import { request } from "../wire/requests.js";
import { attackerAccount } from "./accounts.js";

const BODY_BYTES = 65_536;
const CONNECTIONS = 4;

/** The text `open` + as many `unit` as fit + `close`. */
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

interface Body {
  readonly name: string;
  readonly shows: string;
  readonly body: string | Buffer;
  readonly path?: string;
}

const BODIES: readonly Body[] = [
  {
    name: "json-fraction-of-zeros",
    shows: "A number literal of 65,000 zeros is normalised in quadratic time.",
    body: HUGE_FRACTION,
  },
  {
    name: "json-long-integer",
    shows: "An integer of 65,000 digits is converted before it is refused.",
    body: filled("[", "7", "]"),
  },
  {
    name: "json-long-exponent",
    shows: "An exponent of 65,000 digits is compared with its value in superlinear time.",
    body: filled("[1e", "0", "1]"),
  },
  {
    name: "json-many-numbers",
    shows: "Each of 16,000 fractions in one body is checked for exactness.",
    body: filled("[0.5", ",0.5", "]"),
  },
  {
    name: "json-nested-arrays",
    shows: "64 KB of opening brackets use the stack, or a step for each level.",
    body: filled("", "[", ""),
  },
  {
    name: "json-nested-objects",
    shows: "Ten thousand nested objects use the stack, or a step for each level.",
    body: filled("", '{"a":', ""),
  },
  {
    name: "json-duplicate-keys",
    shows: "The search for duplicate keys runs over thousands of equal keys.",
    body: filled('{"a":0', ',"a":0', "}"),
  },
  {
    name: "json-many-keys",
    shows: "The search for duplicate keys is quadratic in 10,000 different keys.",
    body: manyKeys(),
  },
  {
    name: "json-escapes",
    shows: "A string of 10,000 escapes is decoded one by one.",
    body: filled('{"symbol":"', "\\u0041", '"}'),
  },
  {
    name: "json-long-string",
    shows: "A string of 64 KB is copied by every step that looks at it.",
    body: filled('{"symbol":"', "A", '"}'),
  },
  {
    name: "json-invalid-utf8",
    shows: "64 KB that are not UTF-8 are decoded before they are refused.",
    body: Buffer.alloc(BODY_BYTES, 0xff),
  },
  {
    name: "json-white-space",
    shows: "64 KB of white space around one number are scanned more than once.",
    body: filled("", " ", "1"),
  },
  {
    name: "json-fraction-at-sign-in",
    shows: "The body of a sign-in is parsed before its limit is asked.",
    path: "/v1/auth/siwe",
    body: HUGE_FRACTION,
  },
  {
    name: "json-fraction-at-votes",
    shows: "The body of a bridge vote, which needs no token, is parsed before its limit is asked.",
    path: "/v1/bridge/votes",
    body: HUGE_FRACTION,
  },
];

const withoutToken: readonly AttackEntry[] = BODIES.map(({ name, shows, body, path }) => ({
  name,
  shows,
  prepare: () => {
    const bytes = request({ path: path ?? "/v1/orders", body });
    return flood(bytes, { connections: CONNECTIONS });
  },
}));

const withToken: readonly AttackEntry[] = [
  {
    name: "json-fraction-with-token",
    shows: "A signed-in account sends 64 KB literals; the length bound of an order comes too late.",
    prepare: async (target) => {
      const { token } = await attackerAccount(target);
      const headers = { "x-service-sig": "A".repeat(86) };
      const bytes = request({ path: "/v1/orders", token, headers, body: HUGE_FRACTION });
      return flood(bytes, { connections: CONNECTIONS });
    },
  },
  {
    name: "json-fraction-within-signed-bytes",
    shows: "Literals of 3,900 zeros pass the length bound of an order and are still superlinear.",
    prepare: async (target) => {
      const { token } = await attackerAccount(target);
      const headers = { "x-service-sig": "A".repeat(86) };
      const body = filled('{"symbol":"BTCUSD","margin":1.', "0", "1}", 4_000);
      const bytes = request({ path: "/v1/orders", token, headers, body });
      return flood(Buffer.concat(Array<Buffer>(15).fill(bytes)), { connections: CONNECTIONS });
    },
  },
];

export const JSON_ATTACKS = attacksOf("json", [...withoutToken, ...withToken]);
