/**
 * What receipts cost: signed, durable orders on two gateways in one run, one of which issues none.
 *
 *   npm run bench:receipts [-- --help]
 *
 * Turns alternate, because the speed of a shared machine changes within seconds.
 */
import { createPrivateKey } from "node:crypto";
import { type Gateway, withGateway } from "./harness/gateway.js";
import { type Account, ask, signIn, signInMany } from "./harness/http.js";
import { type LoadLane, type LoadResult, withLoad } from "./harness/load.js";
import { parseOptions } from "./harness/options.js";
import { median, progress, Report } from "./harness/report.js";
import { signatureOf } from "./harness/wire.js";

const options = parseOptions({
  command: "bench:receipts",
  about: "Orders with receipts compared with orders without, in one run.",
  numbers: {
    count: ["orders of a turn at saturation", 2_000, 1_000],
    turns: ["turns of each at saturation", 30, 12],
    paced: ["orders of a turn at half of saturation", 6_000, 4_000],
    rounds: ["turns of each at half of saturation", 5, 3],
  },
  switches: {},
});
const CONNECTIONS = 16;
const PACED_CONNECTIONS = 64;
const WARM_UP_ORDERS = 4_000;
/** Acknowledgements in the tree whose receipts are measured. */
const BATCH = 16;
const report = new Report("receipts", ["signing of orders (done before the clock starts)"]);

interface Pair<T> {
  readonly with: T;
  readonly without: T;
}

async function saturation(lanes: Pair<LoadLane>): Promise<number> {
  const rates: Pair<number[]> = { with: [], without: [] };
  for (const lane of Object.values(lanes)) await lane.saturate(WARM_UP_ORDERS);
  const turns = options.number("turns");
  for (let turn = 1; turn <= turns; turn++) {
    if (turn % 10 === 1) progress(`receipts: saturation, turn ${turn} of ${turns} …`);
    const order = turn % 2 === 0 ? (["with", "without"] as const) : (["without", "with"] as const);
    for (const name of order) {
      rates[name].push((await lanes[name].saturate(options.number("count"))).perSecond);
    }
  }
  const ratio = median(rates.with.map((rate, i) => rate / rates.without[i]!));
  report.detail("without receipts", median(rates.without), "orders/s");
  report.add("with receipts", median(rates.with), "orders/s", "without, bar 0.92", ratio);
  return median(rates.without);
}

async function halfOfSaturation(lanes: Pair<LoadLane>, rate: number): Promise<void> {
  const results: Pair<LoadResult[]> = { with: [], without: [] };
  for (let round = 1; round <= options.number("rounds"); round++) {
    progress(`receipts: ${rate}/s, round ${round} of ${options.number("rounds")} …`);
    for (const name of ["without", "with"] as const) {
      results[name].push(await lanes[name].paced(options.number("paced"), rate));
    }
  }
  for (const at of ["p50", "p99"] as const) {
    const middle = (of: readonly LoadResult[]) => median(of.map((turn) => turn.sent[at]));
    const without = middle(results.without);
    const added = median(
      results.with.map((turn, i) => turn.sent[at] - results.without[i]!.sent[at]),
    );
    report.detail(`at ${rate}/s without receipts, ${at}`, without, "ms");
    const bar = at === "p50" ? "bar + 0.15 ms" : "";
    report.add(`at ${rate}/s, added by receipts, ${at}`, added, "ms", bar);
  }
}

/** Bytes of an acknowledgement in a signed batch of 16, whose receipts share one tree. */
async function ackBytes({ port }: Gateway): Promise<number> {
  const { token, privateKeyPem } = await signIn({ port });
  const place = { op: "place", symbol: "BTCUSD", side: "long", type: "limit", leverage: 10 };
  const operations = Array.from({ length: BATCH }, () => ({
    ...place,
    size: 0.001,
    price: 60_000,
  }));
  const body = JSON.stringify({ nonce: 1, operations });
  const signature = signatureOf(createPrivateKey(privateKeyPem), body);
  const { text } = await ask({ port }, "/v1/orders/batch", { body, token, signature });
  const { results }: { results: { ack: object }[] } = JSON.parse(text);
  const sizes = results.map(({ ack }) => JSON.stringify({ ...ack, elapsedMs: 0 }).length);
  return Math.max(...sizes);
}

async function compare(gateways: Pair<Gateway>): Promise<void> {
  const accountsOf = ({ port }: Gateway): Promise<Account[]> => signInMany({ port }, CONNECTIONS);
  const accounts = {
    with: await accountsOf(gateways.with),
    without: await accountsOf(gateways.without),
  };
  await report.step("size", async () => {
    const [larger, smaller] = [await ackBytes(gateways.with), await ackBytes(gateways.without)];
    report.add(`receipt of a batch of ${BATCH}`, larger - smaller, "bytes", "bar 500");
  });
  await withLoad(async (open) => {
    const pair = async (connections: number): Promise<Pair<LoadLane>> => {
      const lane = (name: keyof Pair<unknown>) =>
        open({ address: { port: gateways[name].port }, send: accounts[name], connections });
      return { with: await lane("with"), without: await lane("without") };
    };
    let rate = 0;
    await report.step("saturation", async () => {
      rate = await saturation(await pair(CONNECTIONS));
    });
    await report.step("half of saturation", async () => {
      if (rate === 0) throw new Error("the rate at saturation is not known");
      await halfOfSaturation(await pair(PACED_CONNECTIONS), Math.floor(rate / 2));
    });
  });
}

await report.step("gateways", () =>
  withGateway((issuing) =>
    withGateway((silent) => compare({ with: issuing, without: silent }), {
      receipts: { issue: false },
    }),
  ),
);
report.print(options.has("json"));
