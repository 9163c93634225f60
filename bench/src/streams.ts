/**
 * The book stream: its size, and its fan-out to a thousand sockets compared with a bare `ws` loop in
 * alternating rounds by the server's processor time.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { BookChecksum, encodeSide } from "@perpgate/protocol/core";
import { encodeFrame } from "@perpgate/protocol/stream-frame";
import { type SampleBook, sampleBooks } from "@perpgate/protocol/testing";
import type { Child } from "./harness/child.js";
import { type BenchGateway, processorMs, withGateway, withPeer } from "./harness/gateway.js";
import { askSigned, signIn } from "./harness/http.js";
import { startReaders } from "./harness/load.js";
import { parseOptions } from "./harness/options.js";
import type { Peer } from "./harness/peers.js";
import { inTurns, median, medianRatio, progress, Report } from "./harness/report.js";

const options = parseOptions({
  command: "npm run bench -- streams",
  about: "Bytes of the book stream, and its fan-out.",
  numbers: {
    sockets: ["readers of the book", 1_000, 1_000],
    fanouts: ["frames sent to all of them", 100, 40],
  },
});
const SEED = 20_261_115;
/** A KB of 1,000 bytes; the whole frame counts, not the levels alone. */
const BAR_BYTES = 8_000;
/** As large as after years of trading, so that no number is short for being new. */
const HEAD = { type: "snapshot", seq: 5_000_000_000, block: 40_000_000, time: 1_794_716_404_074 };
const WARM_UP_ROUNDS = 10;
/** No snapshots during the measurement. */
const SETTINGS = { snapshots: { everyMs: 3_600_000 } };
/** Far below the mark. */
const PRICES = { BTCUSD: 64_900, ETHUSD: 3_190 };
const SOCKETS = options.number("sockets");
const report = new Report("streams");

/** Without the headers of WebSocket and TCP, 8 and 40 bytes. */
function frameBytes({ bids, asks }: SampleBook): number {
  const checksum = new BookChecksum();
  for (const [tick, lots] of bids) checksum.set("bid", tick, 0, lots);
  for (const [tick, lots] of asks) checksum.set("ask", tick, 0, lots);
  const sides = { bids: encodeSide(bids, "bid"), asks: encodeSide(asks, "ask") };
  const d = { ...HEAD, tick: 0.1, lot: 0.00001, ...sides, sum: checksum.value };
  return encodeFrame({ t: "book", s: "BTCUSD", d }).length;
}

function sizes(): void {
  const largest = Math.max(...sampleBooks(SEED).map(frameBytes));
  const metric = "snapshot of 3000 levels, largest of the generated books";
  report.add(metric, largest, "bytes", "bar 8,000", largest / BAR_BYTES);
}

type ChangeLevel = (symbol: keyof typeof PRICES) => Promise<void>;

/** Places an order, or cancels the one before: one level, one frame. */
async function levelChanger(port: number): Promise<ChangeLevel> {
  const account = await signIn({ port });
  const resting = new Map<string, string>();
  let nonce = 0;
  return async (symbol) => {
    const orderId = resting.get(symbol);
    if (resting.delete(symbol)) {
      await askSigned({ port }, account, `/v1/orders/${orderId}/cancel`, {});
      return;
    }
    const size = { margin: 11, leverage: 10, price: PRICES[symbol] };
    const order = { symbol, side: "long", type: "limit", ...size, nonce: ++nonce };
    const text = await askSigned({ port }, account, "/v1/orders", order);
    resting.set(symbol, /"orderId":"(\d+)"/.exec(text)?.[1] ?? "");
  };
}

async function fanOut(gateway: BenchGateway, port: number, peer: Child<Peer>): Promise<void> {
  const change = await levelChanger(gateway.port);
  progress(`streams: connecting twice ${SOCKETS} readers …`);
  const readers = await startReaders({ port: gateway.port }, SOCKETS, "book.BTCUSD", false);
  const bareReaders = await startReaders({ port }, SOCKETS, null, false);
  const { pid = 0 } = peer.process;
  let bytes = 0;
  let waitMs = 0;
  // Each returns the processor time of its server.
  const sides: readonly (() => Promise<number>)[] = [
    async () => {
      await readers.call("arm");
      const [before, started] = [gateway.processorMs, performance.now()];
      await change("BTCUSD");
      bytes = await readers.call("arrived");
      waitMs = performance.now() - started;
      return gateway.processorMs - before;
    },
    async () => {
      await bareReaders.call("arm");
      const before = processorMs(pid);
      await peer.call("broadcast", bytes);
      await bareReaders.call("arrived");
      return processorMs(pid) - before;
    },
    // The same change in a market without readers, over as long a time: what is not fan-out.
    async () => {
      const before = gateway.processorMs;
      await change("ETHUSD");
      await sleep(waitMs);
      return gateway.processorMs - before;
    },
  ];
  await inTurns("streams: warm-up", WARM_UP_ROUNDS, sides, (side) => side());
  const rounds = options.number("fanouts");
  const [all, bare, control] = await inTurns("streams", rounds, sides, (side) => side());
  await Promise.all([readers.stop(), bareReaders.stop()]);
  const ours = all!.map((ms) => ms - median(control!));
  const micros = (ms: readonly number[]): number => (1_000 * median(ms)) / SOCKETS;
  report.add("bare ws loop, processor time of a send", micros(bare!), "µs");
  const metric = `book stream to ${SOCKETS} sockets, processor time of a send`;
  report.add(metric, micros(ours), "µs", "bare loop, bar 0.9", medianRatio(bare!, ours));
}

await report.step("sizes", sizes);
await report.step("fan-out", () =>
  withGateway(
    (gateway) => withPeer(["broadcast"], (port, peer) => fanOut(gateway, port, peer)),
    SETTINGS,
  ),
);
report.print(options.has("json"));
