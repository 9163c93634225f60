/**
 * Two gateways in one run: this one, and one of another release or without readers, receipts or
 * snapshots.
 */
import { type BenchGateway, withGateway } from "./harness/gateway.js";
import { askSigned, signIn, signInMany } from "./harness/http.js";
import { type LoadLane, type OpenLane, startReaders, withLoad } from "./harness/load.js";
import { exitWithUsageError, parseOptions } from "./harness/options.js";
import { moduleOf } from "./harness/release-before.js";
import { inTurns, median, medianRatio, Report } from "./harness/report.js";

/** What the other gateway can be without, and by which settings. */
const WITHOUT: Readonly<Record<string, object>> = {
  readers: {},
  receipts: { receipts: { issue: false } },
  snapshots: { snapshots: { everyMs: 3_600_000 } },
};
/** Of the orders a second, and of the latency at half of them. */
const BARS: Readonly<Record<string, readonly [rate: string, p50: string, p99: string]>> = {
  readers: ["", "", ", bar 1.5×"],
  receipts: [", bar 0.92", ", bar + 0.15 ms", ""],
  before: [", bar 0.95", "", ""],
};

const options = parseOptions({
  command: "npm run bench -- gateways",
  about: "Signed, durable orders over REST on two gateways, turn by turn.",
  numbers: {
    count: ["orders of a turn at saturation", 1_000, 500],
    turns: ["turns of each at saturation", 40, 10],
    paced: ["orders of a turn at half of saturation", 6_000, 2_000],
    rounds: ["turns of each at half of saturation", 7, 5],
    readers: ["sockets that read the book of this gateway", 1_000, 1_000],
  },
  texts: {
    before: "folder of a built release whose gateway is compared with this one",
    without: "what the other gateway lacks, with --before this one: readers, receipts, snapshots",
  },
});
const CONNECTIONS = 16;
const PACED_CONNECTIONS = 64;
const WARM_UP_ORDERS = 8_000;
/** Acknowledgements in the tree whose receipts are measured. */
const BATCH = 16;
const report = new Report("gateways");

/** What every release's harness says of a gateway that runs. */
type BareGateway = Pick<BenchGateway, "port" | "processorMs">;

interface Side {
  readonly gateway: BareGateway;
  readonly lane: LoadLane;
  readonly pacedLane: LoadLane;
}

async function sideOf(gateway: BareGateway, open: OpenLane): Promise<Side> {
  const address = { port: gateway.port };
  const send = await signInMany(address, CONNECTIONS);
  const lane = await open({ address, send, connections: CONNECTIONS });
  const pacedLane = await open({ address, send, connections: PACED_CONNECTIONS });
  await lane.saturate(WARM_UP_ORDERS);
  return { gateway, lane, pacedLane };
}

/** Returns half of the other gateway's rate. */
async function saturation(sides: readonly Side[], name: string, bar: string): Promise<number> {
  const count = options.number("count");
  const [other, own] = await inTurns(
    "gateways: saturation",
    options.number("turns"),
    sides,
    async ({ gateway, lane }) => {
      const started = gateway.processorMs;
      const { perSecond } = await lane.saturate(count);
      return { perSecond, micros: ((gateway.processorMs - started) * 1_000) / count };
    },
  );
  const [otherMicros, micros] = [other!, own!].map((turns) => turns.map((turn) => turn.micros));
  const [otherRates, rates] = [other!, own!].map((turns) => turns.map((turn) => turn.perSecond));
  const unit = "µs of processor per order";
  report.add(name, median(otherMicros!), unit);
  const ratio = medianRatio(otherMicros!, micros!);
  report.add("this gateway", median(micros!), unit, "orders per processor time", ratio);
  report.add(name, median(otherRates!), "orders/s");
  const rateRatio = medianRatio(rates!, otherRates!);
  report.add("this gateway", median(rates!), "orders/s", `${name}${bar}`, rateRatio);
  return Math.floor(median(otherRates!) / 2);
}

async function latency(
  sides: readonly Side[],
  name: string,
  bars: readonly string[],
  rate: number,
): Promise<void> {
  const [other, own] = await inTurns(
    `gateways: ${rate}/s`,
    options.number("rounds"),
    sides,
    ({ pacedLane }) => pacedLane.paced(options.number("paced"), rate),
  );
  for (const [i, at] of (["p50", "p99"] as const).entries()) {
    const [others, ours] = [other!, own!].map((turns) => turns.map(({ sent }) => sent[at]));
    const added = median(ours!.map((ms, turn) => ms - others![turn]!));
    const against = `${name} ${median(others!).toFixed(2)} ms, + ${added.toFixed(2)} ms${bars[i]}`;
    report.add(`at ${rate}/s, ${at}`, median(ours!), "ms", against, medianRatio(ours!, others!));
  }
  const late = median(own!.map((turn) => turn.late.p99));
  const otherLate = median(other!.map((turn) => turn.late.p99));
  report.add("  lateness of the load, p99", late, "ms", `${name} ${otherLate.toFixed(2)} ms`);
}

/** Of both gateways, and of the sockets that read the book of the second. */
async function compare(
  name: string,
  [bar = "", ...bars]: readonly string[],
  gateways: readonly BareGateway[],
  sockets: number,
): Promise<void> {
  await withLoad(async (open) => {
    const sides: Side[] = [];
    for (const gateway of gateways) sides.push(await sideOf(gateway, open));
    const address = { port: gateways[1]!.port };
    const readers = await startReaders(address, sockets, "book.BTCUSD");
    const rate = await saturation(sides, name, bar);
    const [before, started] = [await readers.call("count"), performance.now()];
    await latency(sides, name, bars, rate);
    const frames = (await readers.call("count")) - before;
    // The other gateway's turns take half of the time, and have no frames.
    const seconds = (performance.now() - started) / 2_000;
    const each = frames / sockets / seconds;
    if (sockets > 0) report.add("  book frames of each reader", each, "frames/s");
    await readers.stop();
  });
}

/** Bytes of an acknowledgement in a signed batch of 16, whose receipts share one tree. */
async function ackBytes(port: number): Promise<number> {
  const place = { op: "place", symbol: "BTCUSD", side: "long", type: "limit", leverage: 10 };
  const operations = Array<object>(BATCH).fill({ ...place, size: 0.001, price: 60_000 });
  const account = await signIn({ port });
  const content = { nonce: 1, operations };
  const text = await askSigned({ port }, account, "/v1/orders/batch", content);
  const { results }: { results: { ack: object }[] } = JSON.parse(text);
  return Math.max(...results.map(({ ack }) => JSON.stringify({ ...ack, elapsedMs: 0 }).length));
}

const folder = options.text("before");
const without = options.text("without") ?? (folder === undefined ? "readers" : "");
const settings = WITHOUT[without];
if (settings === undefined && without !== "") exitWithUsageError(`unknown: --without ${without}`);
const sockets = without === "readers" ? options.number("readers") : 0;
if (folder !== undefined) {
  const path = "bench/dist/harness/gateway.js";
  const release = await moduleOf<{ readonly withGateway: typeof withGateway }>(folder, path);
  await report.step("both releases", () =>
    release.withGateway((other) =>
      withGateway((own) => compare("the release before", BARS.before!, [other, own], 0), settings),
    ),
  );
} else {
  await report.step("both gateways", () =>
    withGateway(
      (other) =>
        withGateway(async (own) => {
          await compare(`without ${without}`, BARS[without] ?? ["", "", ""], [other, own], sockets);
          if (without !== "receipts") return;
          const bytes = (await ackBytes(own.port)) - (await ackBytes(other.port));
          report.add(`receipt of a batch of ${BATCH}`, bytes, "bytes", "bar 500");
        }),
      settings,
    ),
  );
}
report.print(options.has("json"));
