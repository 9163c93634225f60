/** What peers on other machines can do to a core's port: strangers little, edges no more than over a Unix socket. */
import { connect, type Socket } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { expect, onTestFinished, test } from "vitest";
import { MAX_HANDSHAKES, MAX_HANDSHAKES_PER_ADDRESS } from "./handshakes.js";
import { asks, encoded, FILE, HELLO } from "./testing/socket-links.js";
import { closed, linkTo, startRemoteCore, venue } from "./testing/tls-links.js";
import type { CoreAddress } from "./tls-socket.js";

const STRANGER = "127.0.0.2";

function startStranger(place: CoreAddress, localAddress = STRANGER): Socket {
  const socket = connect({ ...place, localAddress });
  socket.on("error", () => undefined).resume();
  onTestFinished(() => {
    socket.destroy();
  });
  return socket;
}

/** With an edge's certificate, and a mind of its own. */
function startRawEdge(place: CoreAddress): TLSSocket {
  const socket = connectTls({
    ...place,
    ...venue.identityOf("client"),
    checkServerIdentity: () => undefined,
  });
  socket.on("error", () => undefined);
  onTestFinished(() => {
    socket.destroy();
  });
  return socket;
}

test("connections that never begin: so many of an address, for 5 s; an edge links meanwhile", async () => {
  const { listener, refused, place } = await startRemoteCore();
  const begun = performance.now();
  const strangers = Array.from({ length: 300 }, () => startStranger(place));
  const ends = strangers.map(closed);
  await expect.poll(() => listener.handshakes).toBe(MAX_HANDSHAKES_PER_ADDRESS);
  const edge = await linkTo(listener.port, venue.identityOf("client"));
  expect(await edge.request("tlogPolicy", {})).toEqual(FILE);
  await Promise.all(ends);
  expect(performance.now() - begun).toBeGreaterThan(4_900);
  await expect.poll(() => listener.handshakes).toBe(0);
  // 284 and more that were refused are told once.
  expect(refused).toHaveLength(1);
});

test("handshakes without a certificate from many addresses: a bounded number is tried, edges go on", async () => {
  const { listener, links, place } = await startRemoteCore();
  const honest = await linkTo(listener.port, venue.identityOf("client"));
  let tried = 0;
  let most = 0;
  const begunMs = performance.now();
  let answered = 0;
  // However slow the machine is, the edge is answered often enough to tell.
  const isFlooding = () => performance.now() - begunMs < 3_000 || answered <= 100;
  const flood = async (localAddress: string): Promise<void> => {
    while (isFlooding()) {
      const socket = connectTls({
        ...place,
        rejectUnauthorized: false,
        socket: connect({ ...place, localAddress }),
      });
      socket.once("secureConnect", () => tried++);
      await closed(socket.on("error", () => undefined).resume());
    }
  };
  const floods = Array.from({ length: 64 }, (_, i) => flood(`127.0.1.${i + 1}`));
  while (isFlooding()) {
    most = Math.max(most, listener.handshakes);
    expect(await honest.request("tlogPolicy", {})).toEqual(FILE);
    answered++;
  }
  await Promise.all(floods);
  const seconds = (performance.now() - begunMs) / 1_000;
  expect(most).toBeLessThanOrEqual(MAX_HANDSHAKES);
  // 40, and 20 a second.
  expect(tried).toBeLessThanOrEqual(50 + 20 * seconds);
  expect(links).toHaveLength(1);
  await linkTo(listener.port, venue.identityOf("client"));
});

test("an edge that never speaks, or stops in the middle of a frame: its link ends after 2 s", async () => {
  const { links, place } = await startRemoteCore();
  const silent = startRawEdge(place).resume();
  await expect.poll(() => links.length).toBe(1);
  const half = startRawEdge(place).resume();
  half.write(encoded(HELLO).subarray(0, -2));
  await Promise.all([closed(silent), closed(half)]);
  const reasons = await Promise.all(links.map((link) => link.closed));
  expect(reasons.map(({ message }) => message)).toEqual([
    "the edge has been silent for 2000 ms",
    "the edge has been silent for 2000 ms",
  ]);
});

test("an edge that closes its direction alone: its link ends", async () => {
  const { links, place } = await startRemoteCore();
  const raw = startRawEdge(place).resume();
  raw.end(encoded(HELLO));
  await closed(raw);
  expect((await links[0]!.closed).message).toBe("the edge has ended the link");
});

test("a million requests of an edge that never reads: its link ends, others go on", async () => {
  const { listener, links, place } = await startRemoteCore();
  const honest = await linkTo(listener.port, venue.identityOf("client"));
  const raw = startRawEdge(place);
  raw.write(encoded(HELLO));
  for (let id = 0; id < 1_000_000; id += 10_000) raw.write(asks(id, 10_000));
  await expect.poll(() => links.length).toBe(2);
  let end: string | undefined;
  void links[1]!.closed.then(({ message }) => {
    end = message;
  });
  while (end === undefined) expect(await honest.request("tlogPolicy", {})).toEqual(FILE);
  expect(end).toBe("the edge has read nothing for 2000 ms");
});
