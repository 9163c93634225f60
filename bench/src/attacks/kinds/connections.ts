/** Connections that are opened and dropped, held, or fed one byte at a time. */
import { attacksOf, type Traffic } from "../attack.js";
import { upgrade } from "../wire/frames.js";
import type { Line } from "../wire/line.js";
import { openMany } from "../wire/patterns.js";
import { request } from "../wire/requests.js";

const ORDER = '{"symbol":"BTCUSD","side":"long","type":"market","margin":2,"leverage":5,"nonce":1}';
/** More than the venue accepts in all. */
const HELD = 11_000;
const SLOW = 1_000;
const CLIENT_HELLO = Buffer.concat([Buffer.from("16030102000100", "hex"), Buffer.alloc(505, 3)]);

/** Each connection sends one unit of `bytes` every few milliseconds, so that it never ends. */
function dripping(connections: number, opening: Buffer, drop: Buffer, everyMs: number): Traffic {
  return async (network) => {
    const lines = new Set<Line>();
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

const unfinished = request({ path: "/v1/orders", body: ORDER }).subarray(0, 60);
const bodyless = Buffer.from(
  "POST /v1/orders HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n" +
    "content-length: 60000\r\n\r\n",
);
const chunked = Buffer.from(
  "POST /v1/orders HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n" +
    "transfer-encoding: chunked\r\n\r\n",
);

export const CONNECTION_ATTACKS = attacksOf("connections", [
  {
    name: "connections-open-and-drop",
    shows: "Connections are opened and closed without a byte, as fast as possible.",
    prepare: () => openMany(64, {}, (line) => line.destroy()),
  },
  {
    name: "connections-open-and-reset",
    shows: "The same with a reset, which may arrive before the connection is accepted.",
    prepare: () => openMany(64, {}, (line) => line.reset()),
  },
  {
    name: "connections-held",
    shows: "One address holds every connection that the venue has; a new trader finds none.",
    prepare: () => openMany(HELD, {}, () => undefined),
  },
  {
    name: "connections-held-after-a-request",
    shows: "The same, each connection kept alive by one answered request.",
    prepare: () => openMany(HELD, {}, (line) => line.write(request({ path: "/healthz" }))),
  },
  {
    name: "requests-reset",
    shows: "A client that resets before the handler runs causes an internal error.",
    prepare: () =>
      openMany(64, {}, (line) => {
        line.write(request({ path: "/v1/orders", body: ORDER }));
        setImmediate(() => line.reset());
      }),
  },
  {
    name: "requests-half-closed",
    shows: "A request followed at once by a FIN, on a new connection each.",
    prepare: () =>
      openMany(64, { isHalfOpen: true, onStatus: (line) => line.destroy() }, (line) => {
        line.write(request({ path: "/v1/markets" }));
        line.end();
      }),
  },
  {
    name: "slow-headers",
    shows: "A thousand requests whose headers arrive one byte at a time.",
    prepare: () => dripping(SLOW, unfinished, Buffer.from("a"), 20),
  },
  {
    name: "slow-bodies",
    shows: "A thousand bodies that arrive one byte at a time.",
    prepare: () => dripping(SLOW, bodyless, Buffer.from(" "), 20),
  },
  {
    name: "bodies-byte-by-byte",
    shows: "Sixteen bodies that arrive one byte a packet, as fast as packets can be sent.",
    prepare: () => dripping(16, bodyless, Buffer.from(" "), 0),
  },
  {
    name: "chunks-of-one-byte",
    shows: "Chunked bodies of one-byte chunks: 64 KB on the wire make 11 KB of body.",
    prepare: () => {
      const chunks = Buffer.from("1\r\n \r\n".repeat(10_000));
      return dripping(16, chunked, chunks, 0);
    },
  },
  {
    name: "chunk-extensions",
    shows: "Chunk extensions are bytes that no body limit counts.",
    prepare: () => {
      const chunks = Buffer.from(`1;${"x".repeat(4_000)}\r\n \r\n`.repeat(16));
      return dripping(16, chunked, chunks, 0);
    },
  },
  {
    name: "upgrades-and-fin",
    shows: "Two pipelined upgrades and a FIN leave connections that are never closed.",
    prepare: () =>
      openMany(64, { isHalfOpen: true }, (line) => {
        line.write(Buffer.concat([upgrade(), upgrade()]));
        line.end();
        setTimeout(() => line.destroy(), 50);
      }),
  },
  {
    name: "tls-on-the-plain-port",
    shows: "A TLS hello on the plain port is answered and logged as a malformed request.",
    prepare: () => openMany(64, {}, (line) => line.write(CLIENT_HELLO)),
  },
]);
