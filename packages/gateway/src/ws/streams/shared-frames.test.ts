/** A frame is encoded once for all its readers: all sockets get the same buffer. */

import { expect, onTestFinished, test, vi } from "vitest";
import { type RunningVenue, runVenue } from "../../venue/testing/running-venue.js";
import { Trader } from "../../venue/testing/trader.js";
import type { ClientSocket } from "../connection.js";
import { type ConnectedPair, SocketPairs } from "../testing/connected-pair.js";
import type { WireFrame } from "../wire-frame.js";
import { StreamHub } from "./stream-hub.js";

const READERS = 5;
const PUBLIC = ["trades", "ticker", "candles", "blocks"];
const PRIVATE = ["preconfirms", "orders", "positions"] as const;

/** Records the buffers that a connection is given from now on. */
function handedTo(connection: ClientSocket): WireFrame[] {
  const frames: WireFrame[] = [];
  for (const way of ["send", "offer"] as const) {
    const write = connection[way].bind(connection);
    vi.spyOn(connection, way).mockImplementation((frame) => {
      frames.push(frame);
      return write(frame) === true;
    });
  }
  return frames;
}

async function hubOf({ venue, connect }: RunningVenue): Promise<StreamHub> {
  const hub = new StreamHub({
    link: await connect(),
    seq: () => venue.seq,
    onFault: (error) => {
      throw error;
    },
    release: "test",
  });
  onTestFinished(() => hub.stop());
  await hub.ready;
  return hub;
}

type Session = Parameters<StreamHub["openPrivate"]>[2];

/** Opens every stream, the book in both formats. */
function openAll(hub: StreamHub, connection: ClientSocket, session: Session): void {
  const symbol = "BTCUSD";
  for (const isPlain of [false, true]) {
    hub.openPublic(connection, { stream: "book", symbol }, { isPlain });
  }
  const options = { isPlain: false };
  hub.openPublic(connection, { stream: "trades", symbol }, options);
  hub.openPublic(connection, { stream: "ticker", symbol }, options);
  hub.openPublic(connection, { stream: "candles", symbol, resolution: "1m" }, options);
  hub.openPublic(connection, { stream: "blocks" }, options);
  for (const stream of PRIVATE)
    hub.openPrivate(connection, stream, session, { since: undefined, from: hub.seq });
}

test("every stream: one frame for all its readers, and one snapshot for all newcomers", async () => {
  const at = await runVenue();
  const [maker, taker] = [await Trader.enter(at), await Trader.enter(at)];
  await maker.place(maker.limit("short", 65_010, { margin: 1_000 }));
  const hub = await hubOf(at);
  const session = { number: maker.session, account: 1 };
  const pairs = await SocketPairs.open();
  // The first reader of a stream waits for the core; those after it get what the edge has.
  const early = await pairs.connect();
  openAll(hub, early.connection, session);
  for (const stream of ["book", "book", "ticker"]) await early.client.next(stream);
  const readers: ConnectedPair[] = [];
  while (readers.length < READERS) readers.push(await pairs.connect());
  const handed = readers.map(({ connection }) => handedTo(connection));
  for (const { connection } of readers) openAll(hub, connection, session);
  const [first = [], ...others] = handed;
  // The two snapshots of the book come first.
  for (const frames of others) {
    expect(frames[0]).toBe(first[0]);
    expect(frames[1]).toBe(first[1]);
  }
  for (const { client } of readers) {
    for (const stream of ["orders", "positions"]) await client.next(stream);
  }
  for (const frames of handed) frames.length = 0;

  await maker.place(maker.limit("long", 64_000, { margin: 1_000 }));
  await taker.place(taker.order({ margin: 130.02, leverage: 5 }));
  await at.advance(200);
  for (const { client } of readers) {
    for (const stream of [...PUBLIC, ...PRIVATE]) await client.next(stream);
    for (const isPlain of [false, true]) {
      await client.take(({ d }) => d.type === "delta" && Array.isArray(d.bids) === isPlain);
    }
  }
  // A round may still be on its way to the others; the first is always the first to get a frame.
  const fewest = Math.min(...handed.map((frames) => frames.length));
  expect(fewest).toBeGreaterThanOrEqual(PUBLIC.length + PRIVATE.length + 2);
  expect(new Set(handed.flat()).size).toBe(first.length);
});
