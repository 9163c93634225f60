/**
 * The streams: their size, their fan-out, and what a thousand readers cost the order path.
 *
 *   npm run bench:streams [-- --help]
 */
import { type Gateway, withGateway } from "./harness/gateway.js";
import { signInMany } from "./harness/http.js";
import { type LoadResult, withLoad } from "./harness/load.js";
import { parseOptions } from "./harness/options.js";
import { median, progress, Report } from "./harness/report.js";
import { measureFanOut } from "./streams/fan-out.js";
import { measureSizes, SIZES_LEAVE_OUT } from "./streams/sizes.js";
import { startReaders } from "./streams/start-readers.js";

const options = parseOptions({
  command: "bench:streams",
  about: "Bytes of the book stream, its fan-out, and orders with and without readers.",
  numbers: {
    sockets: ["readers of the book", 1_000, 1_000],
    fanouts: ["frames sent to all of them", 100, 40],
    count: ["orders of a turn with or without the readers", 2_500, 1_500],
    rounds: ["turns of each, of which the middle one counts", 11, 5],
  },
});
const SOCKETS = options.number("sockets");
const CONNECTIONS = 16;
const PACED_CONNECTIONS = 64;
const SATURATING_ORDERS = 6_000;

const report = new Report("streams", [
  "signing (done before the clock starts)",
  "TLS and the network: everything is on this machine, readers and load included",
  ...SIZES_LEAVE_OUT,
]);

/**
 * At a third of saturation. The sockets stay open; they leave the stream and join it again from turn
 * to turn in the order a-b-b-a, so that a drift of the machine affects both.
 */
async function ordersWithReaders({ port }: Gateway): Promise<void> {
  const address = { port };
  const [count, rounds] = [options.number("count"), options.number("rounds")];
  const turns: Record<"with" | "without", LoadResult[]> = { with: [], without: [] };
  const framesPerSecond: number[] = [];
  const rate = await withLoad(async (open) => {
    const send = await signInMany(address, CONNECTIONS);
    const closed = await open({ address, send, connections: CONNECTIONS });
    const paced = await open({ address, send, connections: PACED_CONNECTIONS });
    await closed.saturate(SATURATING_ORDERS);
    const third = Math.floor((await closed.saturate(SATURATING_ORDERS)).perSecond / 3);
    const readers = await startReaders(address, SOCKETS, "book.BTCUSD");
    for (let turn = 0; turn < 2 * rounds; turn++) {
      if (turn % 2 === 0) progress(`streams: readers, round ${turn / 2 + 1} of ${rounds} …`);
      const isRead = turn % 4 === 0 || turn % 4 === 3;
      if (turn % 2 === 1) await readers.call("send", isRead ? "subscribe" : "unsubscribe");
      if (turn === 0) await paced.paced(count, third);
      const before = await readers.call("count");
      turns[isRead ? "with" : "without"].push(await paced.paced(count, third));
      const frames = (await readers.call("count")) - before;
      if (isRead) framesPerSecond.push(frames / SOCKETS / (count / third));
    }
    await readers.stop();
    return third;
  });
  const middle = (of: readonly LoadResult[], since: "due" | "late", at: "p50" | "p99"): number =>
    median(of.map((turn) => turn[since][at]));
  for (const at of ["p99", "p50"] as const) {
    const [read, unread] = [middle(turns.with, "due", at), middle(turns.without, "due", at)];
    const metric = `orders at ${rate}/s with ${SOCKETS} readers, ${at} since due`;
    const against = `without ${unread.toFixed(2)} ms${at === "p99" ? ", bar 1.5×" : ""}`;
    report.add(metric, read, "ms", against, read / unread);
  }
  report.detail("  book frames of each reader", median(framesPerSecond), "frames/s");
  const against = `without ${middle(turns.without, "late", "p99").toFixed(2)} ms`;
  report.detail("  lateness of the load, p99", middle(turns.with, "late", "p99"), "ms", against);
}

await report.step("sizes", () => measureSizes(report));
await report.step("fan-out", () => measureFanOut(report, SOCKETS, options.number("fanouts")));
await report.step("orders with readers", () => withGateway(ordersWithReaders));
report.print(options.has("json"));
