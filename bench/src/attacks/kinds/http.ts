/** HTTP that is odd, malformed or refused, pipelined without end. */
import { randomBytes } from "node:crypto";
import { type AttackEntry, attacksOf } from "../attack.js";
import { upgrade } from "../wire/frames.js";
import { flood, openMany } from "../wire/patterns.js";
import { pipeline, repeated, request } from "../wire/requests.js";

const FEW = { connections: 4 };
const MANY = { connections: 16 };

interface Pipelined {
  readonly name: string;
  readonly shows: string;
  readonly bytes: Buffer;
}

function headers(count: number, value: string): Readonly<Record<string, string>> {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`x-${i}`, value]));
}

const PIPELINED: readonly Pipelined[] = [
  {
    name: "garbage",
    shows: "Random bytes: each connection is answered 400 and closed, and opened again.",
    bytes: randomBytes(65_536),
  },
  {
    name: "unknown-paths",
    shows: "404s have no limit and are logged one by one.",
    bytes: pipeline(request({ path: "/v1/nothing" })),
  },
  {
    name: "wrong-methods",
    shows: "405s have no limit and are logged one by one.",
    bytes: pipeline(request({ method: "PUT", path: "/v1/orders", body: "{}" })),
  },
  {
    name: "wrong-queries",
    shows: "400s for wrong queries are pipelined past the limit of reads.",
    bytes: pipeline(request({ path: "/v1/markets/BTCUSD/book?depth=ten" })),
  },
  {
    name: "reads-past-the-limit",
    shows:
      "A connection that is over its limit may pipeline on, each refusal with a body and a line.",
    bytes: pipeline(request({ path: "/v1/markets" })),
  },
  {
    name: "wrong-content-type",
    shows: "415s have no limit.",
    bytes: pipeline(
      Buffer.from(
        "POST /v1/orders HTTP/1.1\r\nhost: a\r\ncontent-type: text/plain\r\ncontent-length: 2\r\n\r\n{}",
      ),
    ),
  },
  {
    name: "expect-continue",
    shows: "Each expectation is answered twice.",
    bytes: pipeline(
      request({ path: "/v1/orders", headers: { expect: "100-continue" }, body: "{}" }),
    ),
  },
  {
    name: "headers-many",
    shows: "Requests with 1,500 headers, more than Node hands on to the application.",
    bytes: pipeline(request({ path: "/v1/markets", headers: headers(1_500, "1") })),
  },
  {
    name: "headers-large",
    shows: "Requests with 15 KB of headers, the most that Node accepts.",
    bytes: pipeline(request({ path: "/v1/markets", headers: headers(15, "a".repeat(1_000)) })),
  },
  {
    name: "headers-too-large",
    shows: "Requests with 17 KB of headers: answered 431 and closed, again and again.",
    bytes: pipeline(request({ path: "/v1/markets", headers: headers(17, "a".repeat(1_000)) })),
  },
  {
    name: "forwarded-far-back",
    shows: "A forwarding header behind 1,000 others is not seen by the guard of sign-ins.",
    bytes: pipeline(
      request({
        path: "/v1/auth/siwe",
        headers: { ...headers(1_000, "1"), "x-forwarded-for": "203.0.113.7" },
        body: '{"message":"m","signature":"0x00","sessionKey":"00"}',
      }),
    ),
  },
  {
    name: "http-0.9",
    shows: "Requests without a version are malformed, answered and closed.",
    bytes: Buffer.from("GET /\r\n".repeat(1_000)),
  },
  {
    name: "preflights",
    shows: "CORS preflights have no limit.",
    bytes: pipeline(
      request({
        method: "OPTIONS",
        path: "/v1/orders",
        headers: { origin: "https://example.org", "access-control-request-method": "POST" },
      }),
    ),
  },
  {
    name: "heads",
    shows: "HEAD of a whole book makes the answer and sends none of it.",
    bytes: pipeline(request({ method: "HEAD", path: "/v1/markets/BTCUSD/book?depth=5000" })),
  },
  {
    name: "bodies-past-the-limit",
    shows: "A body that is declared too large is refused, and what follows it is still read.",
    bytes: Buffer.concat([
      Buffer.from(
        "POST /v1/orders HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n" +
          "content-length: 1000000000\r\n\r\n",
      ),
      Buffer.alloc(65_000, 0x20),
    ]),
  },
];

const pipelined: readonly AttackEntry[] = PIPELINED.map(({ name, shows, bytes }) => ({
  name: `http-${name.replace(/^http-/, "")}`,
  shows,
  prepare: () => flood(bytes, FEW),
}));

export const HTTP_ATTACKS = attacksOf("http", [
  ...pipelined,
  {
    name: "http-unknown-paths-unread",
    shows: "Refusals pile up for clients that never read.",
    prepare: () =>
      flood(pipeline(request({ path: "/v1/nothing" })), { connections: 20, isUnread: true }),
  },
  {
    name: "http-upgrades",
    shows: "Handshakes past the cap of sockets are refused one by one.",
    trader: "socket",
    prepare: () => openMany(256, {}, (line) => line.write(upgrade())),
  },
  {
    name: "http-upgrades-elsewhere",
    shows: "Upgrades of other paths are refused, pipelined.",
    prepare: () => {
      const elsewhere = Buffer.from(upgrade().toString().replace("/ws/v1", "/v1/orders"));
      return flood(Buffer.concat(repeated(elsewhere, 100)), MANY);
    },
  },
]);
