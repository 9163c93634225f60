import { POLL } from "@perpgate/gateway/testing";
import type { Trade } from "@perpgate/protocol";
import { encodeFrame } from "@perpgate/protocol/stream-frame";
import { PerpgateClient, type WebSocketLike } from "@perpgate/sdk";
import { expect, onTestFinished, test, vi } from "vitest";
import { joinTrades, TapeFeed } from "./tape-feed.js";

// Node has no frames.
vi.stubGlobal("requestAnimationFrame", (callback: () => void) => setTimeout(callback));

/** A server that confirms every subscription. */
class Confirming implements WebSocketLike {
  binaryType = "arraybuffer";
  onopen: (() => void) | null = null;
  onmessage: ((event: { readonly data: unknown }) => void) | null = null;
  onclose: (() => void) | null = null;
  onerror: (() => void) | null = null;

  constructor() {
    queueMicrotask(() => this.onopen?.());
  }

  send(text: string): void {
    const { id, streams } = JSON.parse(text);
    const { buffer } = Uint8Array.from(encodeFrame({ t: "ok", d: { id, streams, seq: 1 } }));
    queueMicrotask(() => this.onmessage?.({ data: buffer }));
  }

  close(): void {}
}

test("a socket that moves to another gateway: the history is read again", async () => {
  const [first, second] = ["http://a.test", "http://b.test"] as const;
  let reads = 0;
  const fetch = async (address: string) => {
    if (!address.includes("/trades")) return Response.json({ status: "ready" });
    reads++;
    return Response.json([]);
  };
  const client = new PerpgateClient({ url: [first, second], fetch, WebSocket: Confirming });
  onTestFinished(() => client.close());
  client.useGateway(first);
  const tape = new TapeFeed(client);
  tape.show("BTCUSD");
  await expect.poll(() => tape.trades.get(), POLL).toEqual([]);
  await client.stream.watchTrades("BTCUSD", () => undefined).ready;
  expect(reads).toBe(1);
  client.useGateway(second);
  await expect.poll(() => reads, POLL).toBe(2);
});

test("joinTrades: history and stream, newest first, each trade once", () => {
  const trade = (id: string): Trade => ({ id, price: 1, size: 1, side: "long", time: 1 });
  const ids = (trades: readonly Trade[]) => trades.map(({ id }) => id);
  const streamed = joinTrades([], [trade("9-0"), trade("10-0")]);
  expect(ids(streamed)).toEqual(["10-0", "9-0"]);
  const joined = joinTrades(streamed, [trade("10-0"), trade("8-1"), trade("8-0")]);
  expect(ids(joined)).toEqual(["10-0", "9-0", "8-1", "8-0"]);
  expect(ids(joinTrades(joined, [trade("11-0"), trade("11-1")])).slice(0, 3)).toEqual([
    "11-1",
    "11-0",
    "10-0",
  ]);
  const many = Array.from({ length: 300 }, (_, at) => trade(`${at + 20}-0`));
  expect(joinTrades(joined, many)).toHaveLength(100);
});
