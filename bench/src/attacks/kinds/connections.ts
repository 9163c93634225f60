/** Connections that are opened and dropped, held, or fed one byte at a time. */
import { signIn } from "../../harness/http.js";
import { request, upgrade } from "../../harness/wire.js";
import { attacksOf, type PrepareAttack } from "../attack.js";
import type { AttackLine } from "../wire/line.js";
import { type AttackCrowd, openMany } from "../wire/patterns.js";
import { hundredAddresses, ORDER } from "./shared.js";

/** More than the venue accepts in all. */
const HELD = 11_000;
const CLIENT_HELLO = Buffer.concat([Buffer.from("16030102000100", "hex"), Buffer.alloc(505, 3)]);

/** A hundred addresses that fill every place in four seconds, with a quarter of a core. */
function crowd(network: string): AttackCrowd {
  return { addresses: hundredAddresses(network), perSecond: 2_500 };
}

/** Each connection sends `opening`, then `drop` every few milliseconds, so that it never ends. */
function dripping(
  connections: number,
  opening: Buffer,
  drop: Buffer,
  everyMs: number,
): PrepareAttack {
  return () => async (network) => {
    const lines = new Set<AttackLine>();
    const traffic = openMany(connections, { onLost: (line) => lines.delete(line) }, (line) => {
      line.write(opening);
      lines.add(line);
    });
    const timer = setInterval(() => {
      for (const line of lines) if (!network.isOver) line.write(drop);
    }, everyMs);
    await traffic(network);
    clearInterval(timer);
  };
}

function orderHead(header: string): Buffer {
  return Buffer.from(
    "POST /v1/orders HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n" +
      `${header}\r\n\r\n`,
  );
}

const headers = request({ path: "/v1/orders", body: ORDER }).subarray(0, 60);
const body = orderHead("content-length: 60000");
const chunked = orderHead("transfer-encoding: chunked");
const extensions = Buffer.from(`1;${"x".repeat(4_000)}\r\n \r\n`.repeat(16));
const space = Buffer.from(" ");
const unfinished = request({ path: "/v1/auth/siwe", body: ORDER }).subarray(0, -1);

const TABLE = `
connections-open-and-drop: Connections are opened and closed without a byte, as fast as possible.
connections-open-and-reset: The same with a reset, which may arrive before the connection is accepted.
connections-held: One address holds every connection that the venue has; a new trader finds none.
connections-held-after-a-request: The same, each connection kept alive by one answered request.
connections-held-by-a-hundred: A hundred addresses, each within its limit, hold every place and send nothing.
connections-held-by-a-hundred-after-a-request: The same, each connection kept alive by one answered request.
connections-held-by-a-hundred-with-a-session: A hundred addresses send one token once on each connection, then hold every place.
bodies-awaited-from-a-hundred: A hundred addresses hold every place with sign-ins whose bodies do not end.
requests-reset: A client that resets before the handler runs causes an internal error.
requests-half-closed: A request followed immediately by a FIN, on a new connection each.
slow-headers: A thousand requests whose headers arrive one byte at a time.
slow-bodies: A thousand bodies that arrive one byte at a time.
bodies-byte-by-byte: Sixteen bodies that arrive one byte a packet, as fast as packets can be sent.
chunks-of-one-byte: Chunked bodies of one-byte chunks: 64 KB on the wire make 11 KB of body.
chunk-extensions: Chunk extensions are bytes that no body limit counts.
upgrades-and-fin: Two pipelined upgrades and a FIN leave connections that are never closed.
tls-on-the-plain-port: A TLS hello on the plain port is answered and logged as a malformed request.
`;

export const CONNECTION_ATTACKS = attacksOf("connections", TABLE, {
  "connections-open-and-drop": () => openMany(64, {}, (line) => line.destroy()),
  "connections-open-and-reset": () => openMany(64, {}, (line) => line.reset()),
  "connections-held": () => openMany(HELD, {}, () => undefined),
  "connections-held-after-a-request": () =>
    openMany(HELD, {}, (line) => line.write(request({ path: "/healthz" }))),
  "connections-held-by-a-hundred": () => openMany(HELD, {}, () => undefined, crowd("127.0.200")),
  "connections-held-by-a-hundred-after-a-request": () =>
    openMany(HELD, {}, (line) => line.write(request({ path: "/healthz" })), crowd("127.0.201")),
  "connections-held-by-a-hundred-with-a-session": async ({ address }) => {
    const { token } = await signIn(address);
    const read = request({ path: "/v1/account", token });
    return openMany(HELD, {}, (line) => line.write(read), crowd("127.0.202"));
  },
  "bodies-awaited-from-a-hundred": () =>
    openMany(HELD, {}, (line) => line.write(unfinished), crowd("127.0.203")),
  "requests-reset": () =>
    openMany(64, {}, (line) => {
      line.write(request({ path: "/v1/orders", body: ORDER }));
      setImmediate(() => line.reset());
    }),
  "requests-half-closed": () =>
    openMany(64, { isHalfOpen: true, onStatus: (line) => line.destroy() }, (line) => {
      line.write(request({ path: "/v1/markets" }));
      line.end();
    }),
  "slow-headers": dripping(1_000, headers, Buffer.from("a"), 20),
  "slow-bodies": dripping(1_000, body, space, 20),
  "bodies-byte-by-byte": dripping(16, body, space, 0),
  "chunks-of-one-byte": dripping(16, chunked, Buffer.from("1\r\n \r\n".repeat(10_000)), 0),
  "chunk-extensions": dripping(16, chunked, extensions, 0),
  "upgrades-and-fin": () =>
    openMany(64, { isHalfOpen: true }, (line) => {
      line.write(Buffer.concat([upgrade(), upgrade()]));
      line.end();
      setTimeout(() => line.destroy(), 50);
    }),
  "tls-on-the-plain-port": () => openMany(64, {}, (line) => line.write(CLIENT_HELLO)),
});
