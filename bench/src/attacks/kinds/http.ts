/** HTTP that is odd, malformed or refused, pipelined without end. */
import { randomBytes } from "node:crypto";
import { type RequestParts, request, upgrade } from "../../harness/wire.js";
import { attacksOf, type PrepareAttack } from "../attack.js";
import { flood, openMany, pipeline, repeated, volleys } from "../wire/patterns.js";
import { FEW, MANY } from "./shared.js";

const EXPECT = { expect: "100-continue" };

function headers(count: number, value: string): Readonly<Record<string, string>> {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`x-${i}`, value]));
}

const send =
  (bytes: Buffer): PrepareAttack =>
  () =>
    flood(bytes, FEW);
const pipelined = (parts: RequestParts): PrepareAttack => send(pipeline(request(parts)));
const sendHeaders = (count: number, value: string): PrepareAttack =>
  pipelined({ path: "/v1/markets", headers: headers(count, value) });
const order = (contentType: string, length: number): Buffer =>
  Buffer.from(
    `POST /v1/orders HTTP/1.1\r\nhost: a\r\ncontent-type: ${contentType}\r\ncontent-length: ${length}\r\n\r\n`,
  );

const TABLE = `
http-garbage: Random bytes: each connection is answered 400 and closed, and opened again.
http-unknown-paths: 404s have no limit and are logged one by one.
http-wrong-methods: 405s have no limit and are logged one by one.
http-wrong-queries: 400s for wrong queries are pipelined past the limit of reads.
http-reads-past-the-limit: A connection that is over its limit may pipeline on, each refusal with a body and a line.
http-wrong-content-type: 415s have no limit.
http-expect-continue: Each expectation is answered twice.
http-headers-many: Requests with 1,500 headers, more than Node hands on to the application.
http-headers-large: Requests with 15 KB of headers, the most that Node accepts.
http-headers-too-large: Requests with 17 KB of headers: answered 431 and closed, again and again.
http-forwarded-far-back: A forwarding header behind 1,000 others is not seen by the guard of sign-ins.
http-0.9: Requests without a version are malformed, answered and closed.
http-preflights: CORS preflights have no limit.
http-heads: HEAD of a whole book makes the answer and sends none of it.
http-bodies-past-the-limit: A body that is declared too large is refused, and what follows it is still read.
http-unknown-paths-unread: Refusals pile up for clients that never read.
http-upgrades*: Handshakes past the cap of sockets are refused one by one.
http-upgrades-elsewhere: Upgrades of other paths are refused, pipelined.
http-in-one-moment: Sixty idle connections send 64 KB of requests in the same moment, all within one burst.
`;

export const HTTP_ATTACKS = attacksOf("http", TABLE, {
  "http-garbage": send(randomBytes(65_536)),
  "http-unknown-paths": pipelined({ path: "/v1/nothing" }),
  "http-wrong-methods": pipelined({ method: "PUT", path: "/v1/orders", body: "{}" }),
  "http-wrong-queries": pipelined({ path: "/v1/markets/BTCUSD/book?depth=ten" }),
  "http-reads-past-the-limit": pipelined({ path: "/v1/markets" }),
  "http-wrong-content-type": send(
    pipeline(Buffer.concat([order("text/plain", 2), Buffer.from("{}")])),
  ),
  "http-expect-continue": pipelined({ path: "/v1/orders", headers: EXPECT, body: "{}" }),
  "http-headers-many": sendHeaders(1_500, "1"),
  "http-headers-large": sendHeaders(15, "a".repeat(1_000)),
  "http-headers-too-large": sendHeaders(17, "a".repeat(1_000)),
  "http-forwarded-far-back": pipelined({
    path: "/v1/auth/siwe",
    headers: { ...headers(1_000, "1"), "x-forwarded-for": "203.0.113.7" },
    body: '{"message":"m","signature":"0x00","sessionKey":"00"}',
  }),
  "http-0.9": send(Buffer.from("GET /\r\n".repeat(1_000))),
  "http-preflights": pipelined({
    method: "OPTIONS",
    path: "/v1/orders",
    headers: { origin: "https://example.org", "access-control-request-method": "POST" },
  }),
  "http-heads": pipelined({ method: "HEAD", path: "/v1/markets/BTCUSD/book?depth=5000" }),
  "http-bodies-past-the-limit": send(
    Buffer.concat([order("application/json", 1_000_000_000), Buffer.alloc(65_000, 0x20)]),
  ),
  "http-unknown-paths-unread": () =>
    flood(pipeline(request({ path: "/v1/nothing" })), { connections: 20, isUnread: true }),
  "http-upgrades": () => openMany(256, {}, (line) => line.write(upgrade())),
  "http-upgrades-elsewhere": () => {
    const elsewhere = Buffer.from(upgrade().toString().replace("/ws/v1", "/v1/orders"));
    return flood(repeated(elsewhere, 100), MANY);
  },
  "http-in-one-moment": () => volleys(pipeline(request({ path: "/v1/time" })), { connections: 60 }),
});
