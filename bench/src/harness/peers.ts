/** Servers that the gateway is compared with, each in a process; the first argument names one. */
import { createHash, createPublicKey, verify } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { createServer as createTcpServer, type Server } from "node:net";
import { openJournal } from "@perpgate/journal";
import { fastify } from "fastify";
import { WebSocketServer } from "ws";
import { serve } from "./child.js";

const WRITER = "c".repeat(32);
const [kind = "", text = "", directory = ""] = process.argv.slice(2);

async function listen(server: Server): Promise<number> {
  server.listen({ port: 0, host: "127.0.0.1", backlog: 511 });
  await once(server, "listening");
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

/**
 * The least that a gateway for durable orders must do: parse the body, hash it, verify its signature
 * on the libuv pool, write it to the journal in group commits, answer. No engine, sessions,
 * validation or limits.
 */
async function floor(): Promise<number> {
  const key = createPublicKey(text);
  const journal = await openJournal({ directory });
  let counter = 0;
  const server = createServer((request, response) => {
    const answer = (status: number, json: string): void => {
      const headers = { "content-type": "application/json", "content-length": json.length };
      response.writeHead(status, headers).end(json);
    };
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
      const signature = Buffer.from(String(request.headers["x-service-sig"]), "base64");
      const { nonce }: { nonce: number } = JSON.parse(body.toString());
      const digest = createHash("sha256").update(body).digest();
      verify(null, digest, key, signature, (error, isValid) => {
        if (error !== null || !isValid) return answer(401, "");
        const seq = ++counter;
        const written = journal.append({ writer: WRITER, counter: seq }, [body]);
        void written.then(() => answer(200, JSON.stringify({ ackNonce: String(seq), nonce })));
      });
    });
  });
  server.keepAliveTimeout = 60_000;
  return listen(server);
}

/** Fastify with one route and a constant answer. */
async function constant(): Promise<number> {
  const app = fastify();
  app.get("/v1/markets/:symbol/book", (_request, reply) => {
    void reply.type("application/json; charset=utf-8").send(text);
  });
  await app.ready();
  return listen(app.server);
}

const httpServer = createServer();
const sockets = new WebSocketServer({ server: httpServer, perMessageDeflate: false });
const broadcast = (): Promise<number> => listen(httpServer);
/** Accepts every connection and discards what it reads. */
const discard = (): Promise<number> =>
  listen(createTcpServer((socket) => socket.on("error", () => undefined).resume()));
const port = await new Map(Object.entries({ floor, constant, broadcast, discard })).get(kind)?.();

const handlers = {
  port: (): number => port ?? 0,
  /** The bare `ws` loop: sends one payload to every client. */
  broadcast: (bytes: number): void => {
    const payload = Buffer.alloc(bytes, 1);
    for (const client of sockets.clients) client.send(payload);
  },
};
export type Peer = typeof handlers;

serve(handlers);
