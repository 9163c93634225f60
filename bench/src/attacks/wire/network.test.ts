import { createServer, type Server, type Socket } from "node:net";
import { listening } from "@perpgate/protocol/testing";
import { expect, onTestFinished, test } from "vitest";
import { request } from "../../harness/wire.js";
import { AttackNetwork, type NetworkLimits, replay, type WireStep } from "./network.js";
import { flood, openMany, paced, pipeline } from "./patterns.js";

const LOCAL = "127.0.0.7";
const LONG_MS = 60_000;

interface Listening {
  readonly port: number;
  /** Bytes read so far, and the client addresses that connected. */
  readonly read: () => number;
  readonly clients: readonly (string | undefined)[];
}

async function listen(onSocket: (socket: Socket) => void = () => undefined): Promise<Listening> {
  let bytes = 0;
  const clients: (string | undefined)[] = [];
  const sockets = new Set<Socket>();
  const server: Server = createServer({ allowHalfOpen: false }, (socket) => {
    clients.push(socket.remoteAddress);
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
    });
    onSocket(socket);
  });
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: await listening(server), read: () => bytes, clients };
}

const networkTo = ({ port }: Listening, limits: NetworkLimits, steps?: WireStep[]): AttackNetwork =>
  new AttackNetwork({ port, localAddress: LOCAL }, { milliseconds: LONG_MS, ...limits }, steps);

test("flood: ends at its bytes, and all of them arrive from the attacker's address", async () => {
  const server = await listen();
  const network = networkTo(server, { bytes: 1_000_000 });
  await flood(Buffer.alloc(1_000), { connections: 4 })(network);
  expect(await network.drain(LONG_MS)).toBe(0);
  expect(network.tally).toMatchObject({ bytesSent: 1_000_000, writes: 1_000, connections: 4 });
  expect(server.read()).toBe(1_000_000);
  expect(new Set(server.clients)).toEqual(new Set([LOCAL]));
});

test("paced: ends at its writes", async () => {
  const server = await listen();
  const network = networkTo(server, { bytes: Number.POSITIVE_INFINITY, writes: 20 });
  await paced(Buffer.from("12345"), 1_000, { connections: 2 })(network);
  await network.drain(LONG_MS);
  expect(server.read()).toBe(100);
});

test("openMany: ends at its connections", async () => {
  const server = await listen();
  const network = networkTo(server, { bytes: 1, connections: 30 });
  await openMany(1_000, {}, () => undefined)(network);
  await network.drain(LONG_MS);
  expect(network.tally.connections).toBe(30);
  expect(server.clients.length).toBe(30);
});

test("flood: a connection that the server closes is counted and opened again", async () => {
  const server = await listen((socket) => socket.once("data", () => socket.destroy()));
  const network = networkTo(server, { bytes: Number.POSITIVE_INFINITY, connections: 50 });
  await flood(Buffer.alloc(100), { connections: 2 })(network);
  network.close();
  expect(network.tally.closedByServer).toBeGreaterThanOrEqual(48);
});

test("answers: pipelined statuses are counted wherever the server cuts its bytes", async () => {
  const text =
    "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}HTTP/1.1 429 Too\r\ncontent-length: 0\r\n\r\n";
  const server = await listen((socket) => {
    socket.setNoDelay(true);
    const send = (at: number): void => {
      if (at >= text.length) socket.end();
      else socket.write(text.slice(at, at + 7), () => setImmediate(send, at + 7));
    };
    send(0);
  });
  const network = networkTo(server, { bytes: 10 });
  await new Promise<void>((resolve) => network.open({ onLost: () => resolve() }));
  network.close();
  expect(network.tally.answers).toEqual({ "200": 1, "429": 1 });
});

test("replay: the same bytes over the same connections reach another server", async () => {
  const venue = await listen((socket) => socket.once("data", () => socket.destroy()));
  const discard = await listen();
  const steps: WireStep[] = [];
  const network = networkTo(venue, { bytes: 200_000 }, steps);
  await flood(pipeline(request({ path: "/" })), { connections: 3 })(network);
  network.close();
  const { bytesSent, connections } = network.tally;
  const lastMs = steps.at(-1)?.atMs ?? 0;
  const tally = await replay(steps, { port: discard.port, localAddress: LOCAL }, lastMs + 50);
  expect(tally).toMatchObject({ bytesSent, connections });
});
