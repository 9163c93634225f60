/** The private streams' feed over real sockets: where a reader has no room, and where a read fails. */

import { getDefaultHighWaterMark } from "node:stream";
import { describe, expect, test } from "vitest";
import { type RunningVenue, runVenue } from "../../venue/testing/running-venue.js";
import { Trader } from "../../venue/testing/trader.js";
import { SocketPairs } from "../testing/connected-pair.js";
import { wireFrame } from "../wire-frame.js";
import { AccountFeed } from "./account-feed.js";

/** Orders, each two rows of the history: more than a page of it. */
const ORDERS = 200;
const ACCOUNT = 1;
/** What waits on a socket before Node tells of a drain. */
const NODE_BUFFER_BYTES = getDefaultHighWaterMark(false);

function feedOf({ venue }: RunningVenue): AccountFeed {
  return new AccountFeed(venue, (error) => {
    throw error;
  });
}

async function placeMany(trader: Trader): Promise<void> {
  const orders = Array.from({ length: ORDERS }, (_, i) =>
    trader.place(trader.limit("long", 60_000 + i, { margin: 1 })),
  );
  await Promise.all(orders);
}

describe("resume: a reader that stops and goes on", () => {
  const roomBytes = 1_024;

  test("over pages that have nothing for it, with little waiting before them", async () => {
    const at = await runVenue();
    const trader = await Trader.enter(at);
    const since = at.venue.position;
    await placeMany(trader);
    const deposit = { chain: "ethereum", txHash: `0x${"1".padStart(64, "0")}`, token: "USDC" };
    await trader.send("/v1/bridge/deposit", deposit);
    const { connection, client } = await (await SocketPairs.open({ roomBytes })).connect();
    client.socket.pause();
    // More than the setting, and less than what makes Node tell of a drain.
    const filler = wireFrame({ t: "ok", d: { text: "x".repeat(1_500) } });
    while (connection.bufferedBytes <= roomBytes) connection.send(filler);
    expect(connection.bufferedBytes).toBeLessThan(NODE_BUFFER_BYTES);
    feedOf(at).open(connection, "deposits", ACCOUNT, since);
    client.socket.resume();
    expect((await client.next("deposits")).d).toMatchObject({ deposits: [{ status: "queued" }] });
  });

  test("over pages for which there is no room: whole, in order, and never past the cap", async () => {
    const at = await runVenue();
    const trader = await Trader.enter(at);
    const since = at.venue.position;
    await placeMany(trader);
    const maxBufferedBytes = NODE_BUFFER_BYTES + 8_192;
    const limits = { roomBytes, maxBufferedBytes };
    const { connection, client } = await (await SocketPairs.open(limits)).connect();
    client.socket.pause();
    // All that the pipe takes: nothing of the past goes out until the client reads.
    const filler = wireFrame({ t: "ok", d: { text: "x".repeat(1_500) } });
    while (connection.bufferedBytes === 0) connection.send(filler);
    feedOf(at).open(connection, "orders", ACCOUNT, since);
    const seqs: number[] = [];
    while (seqs.length < ORDERS) {
      expect(connection.bufferedBytes).toBeLessThanOrEqual(maxBufferedBytes);
      client.socket.resume();
      seqs.push(Number((await client.next("orders")).d.seq));
      client.socket.pause();
    }
    expect(seqs).toEqual([...new Set(seqs)].sort((a, b) => a - b));
    expect(connection.isOpen).toBe(true);
  });
});
