/**
 * The streams: their size, their fan-out, orders over sockets, and what a thousand readers cost the
 * order path.
 *
 *   npm run bench:streams [-- --help]
 *
 * Servers, readers and load are processes of their own on this machine. What is compared takes turns
 * within one run, so that a noisy moment hits both.
 */
import { benchOptions } from "./options.js";
import { withGateway } from "./orders/gateway.js";
import { OrderPath, type PacedResult, undisturbedMs } from "./orders/order-path.js";
import { perSecond } from "./orders/processes.js";
import { median, percentile, progress, Report } from "./report.js";
import { measureEntry } from "./streams/entry.js";
import { measureFanOut, startReadersElsewhere } from "./streams/fan-out.js";
import { measureSizes, SIZES_LEAVE_OUT } from "./streams/sizes.js";

const options = benchOptions({
  command: "bench:streams",
  about: "Bytes of the book stream, its fan-out, orders over sockets and beside its readers.",
  amounts: {
    sockets: { about: "readers of the book", full: 1_000, short: 1_000 },
    fanouts: { about: "frames sent to all of them", full: 100, short: 40 },
    count: { about: "orders of a turn with or without the readers", full: 2_500, short: 1_500 },
    rounds: { about: "turns of each, of which the middle one counts", full: 11, short: 5 },
    entries: { about: "turns of 400 orders over REST and over sockets", full: 60, short: 15 },
  },
});
const { sockets: SOCKETS, fanouts: FANOUTS, count: COUNT, rounds: ROUNDS } = options.amounts;
const { entries: ENTRIES } = options.amounts;

/** From which the rate is taken. */
const SATURATING_ORDERS = 6_000;

const report = new Report("streams", [
  "signing (done before the clock starts)",
  "TLS and the network: everything is on this machine, readers and load included",
  ...SIZES_LEAVE_OUT,
]);

type Readers = Awaited<ReturnType<typeof startReadersElsewhere>>;

/** Turns of paced orders, and what became of them. */
class Turns {
  private readonly turns: PacedResult[] = [];
  private readonly framesASecond: number[] = [];

  constructor(private readonly readers: Readers) {}

  async take(path: OrderPath, rate: number): Promise<void> {
    const before = await this.framesRead();
    this.turns.push(await path.paced(COUNT, rate));
    this.framesASecond.push(((await this.framesRead()) - before) / SOCKETS / (COUNT / rate));
  }

  /** That each reader got, in the middle turn. */
  get frameRate(): number {
    return median(this.framesASecond);
  }

  /** Since due, of the middle turn. */
  middle(share: number): number {
    return median(this.eachTurn(share));
  }

  /** Since due, of all orders that the machine did not slow down. */
  leftAlone(share: number): number {
    return percentile(undisturbedMs(this.turns, "dueLatenciesMs"), share);
  }

  get late(): number {
    return median(this.turns.map(({ latenessMs }) => percentile(latenessMs, 0.99)));
  }

  /** The p99 of every turn, so that nobody has to take the middle one's word. */
  toString(): string {
    return this.eachTurn(0.99)
      .map((ms) => ms.toFixed(1))
      .join(" ");
  }

  private async framesRead(): Promise<number> {
    return Number((await this.readers.ask("count")).frames);
  }

  private eachTurn(share: number): number[] {
    return this.turns.map(({ dueLatenciesMs }) => percentile(dueLatenciesMs, share));
  }
}

/**
 * At a third of saturation: readers take their share of the processor, not of the orders' time. The
 * sockets stay open throughout; they join the stream and leave it again from turn to turn, many
 * times and in the order a-b-b-a, so that a drift of the machine or one bad moment hits both.
 */
async function measureReaders(path: OrderPath): Promise<void> {
  await path.saturate(4_000);
  const rate = Math.floor(perSecond(await path.saturate(SATURATING_ORDERS)) / 3);
  const { port } = path;
  const stream = { port, sockets: SOCKETS, subscribe: "book.BTCUSD" };
  const readers = await startReadersElsewhere(stream);
  const beside = new Turns(readers);
  const without = new Turns(readers);
  try {
    await path.paced(COUNT, rate);
    await readers.ask("leave");
    await path.paced(COUNT, rate);
    for (let round = 1; round <= ROUNDS; round++) {
      progress(`streams: orders beside ${SOCKETS} readers, round ${round} of ${ROUNDS} …`);
      const isBesideFirst = round % 2 === 0;
      if (isBesideFirst) await beside.take(path, rate);
      else await without.take(path, rate);
      await readers.ask(isBesideFirst ? "leave" : "join");
      if (isBesideFirst) await without.take(path, rate);
      else await beside.take(path, rate);
    }
  } finally {
    await readers.stop();
  }
  progress(`p99 of each turn without readers: ${without} ms`);
  progress(`p99 of each turn beside readers:  ${beside} ms`);
  const name = `orders at ${rate}/s beside ${SOCKETS} readers`;
  for (const [share, bar] of [
    [0.99, ", bar 1.5×"],
    [0.5, ""],
  ] as const) {
    const percent = `p${share * 100} since due`;
    const add = (metric: string, busy: number, calm: number): void =>
      report.add(metric, busy, "ms", `without ${calm.toFixed(2)} ms${bar}`, busy / calm);
    add(`${name}, ${percent}`, beside.middle(share), without.middle(share));
    const undisturbed = "  of these, orders that the machine did not slow down";
    add(undisturbed, beside.leftAlone(share), without.leftAlone(share));
  }
  report.detail("  book frames that each reader got", beside.frameRate, "frames/s");
  const late = `without ${without.late.toFixed(2)} ms`;
  report.detail("  the load's own lateness, p99", beside.late, "ms", late);
}

await report.step("sizes", () => measureSizes(report));
await report.step("fan-out", () => measureFanOut(report, SOCKETS, FANOUTS));
await report.step("order entry", () =>
  withGateway(({ origin }) => measureEntry(report, origin, ENTRIES)),
);
await report.step("orders beside readers", () =>
  withGateway(async ({ origin }) => measureReaders(await OrderPath.signedIn(origin))),
);
report.print(options.json);
