/**
 * The streams: their size, their fan-out, and what a thousand readers cost the order path.
 *
 *   npm run bench:streams [-- --help]
 *
 * Servers, readers and load are processes of their own on this machine. What is compared takes turns
 * within one run, so that a noisy moment hits both.
 */
import { benchOptions } from "./options.js";
import { withGateway } from "./orders/gateway.js";
import { OrderPath } from "./orders/order-path.js";
import { perSecond } from "./orders/processes.js";
import { median, percentile, progress, Report } from "./report.js";
import { measureFanOut, startReaders } from "./streams/fan-out.js";
import { measureSizes, SIZES_LEAVE_OUT } from "./streams/sizes.js";

const options = benchOptions({
  command: "bench:streams",
  about: "Bytes of the book stream, its fan-out, and orders beside its readers.",
  amounts: {
    sockets: { about: "readers of the book", full: 1_000, short: 1_000 },
    fanouts: { about: "frames sent to all of them", full: 100, short: 40 },
    count: { about: "orders of a turn beside the readers", full: 10_000, short: 3_000 },
    rounds: { about: "turns of each, of which the middle one counts", full: 3, short: 1 },
  },
});
const { sockets: SOCKETS, fanouts: FANOUTS, count: COUNT, rounds: ROUNDS } = options.amounts;

const report = new Report("streams", [
  "signing (done before the clock starts)",
  "TLS and the network: everything is on this machine, readers and load included",
  ...SIZES_LEAVE_OUT,
]);

/** At a third of saturation: readers take their share of the processor, not of the orders' time. */
async function measureReaders(path: OrderPath): Promise<void> {
  await path.saturate(4_000);
  const rate = Math.floor(perSecond(await path.saturate(COUNT)) / 3);
  const without: number[] = [];
  const beside: number[] = [];
  const p99 = async (): Promise<number> =>
    percentile((await path.paced(COUNT, rate)).dueLatenciesMs, 0.99);
  for (let round = 1; round <= ROUNDS; round++) {
    progress(`streams: orders beside ${SOCKETS} readers, round ${round} of ${ROUNDS} …`);
    without.push(await p99());
    const { port } = path;
    const readers = await startReaders({ port, sockets: SOCKETS, subscribe: "book.BTCUSD" });
    beside.push(await p99());
    await readers.stop();
  }
  const calm = median(without);
  const busy = median(beside);
  const name = `orders at ${rate}/s beside ${SOCKETS} readers, p99 since due`;
  report.add(name, busy, "ms", `without ${calm.toFixed(1)} ms, bar 1.5×`, busy / calm);
}

await report.step("sizes", () => measureSizes(report));
await report.step("fan-out", () => measureFanOut(report, SOCKETS, FANOUTS));
await report.step("orders beside readers", () =>
  withGateway(async ({ origin }) => measureReaders(await OrderPath.signedIn(origin))),
);
report.print(options.json);
