/**
 * The order path while an attestor works in the same process: the same paced orders with nothing to
 * attest, and with a thousand queued deposits that change at each poll.
 *
 *   npm run bench:deposits [-- --help]
 *
 * The venue is the built process with a real attestor; the chain and the load are processes too.
 * Turns with and without deposits alternate.
 */
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type ChainHandlers, CONFIRMATIONS, USDC, VAULT } from "./deposits/chain-server.js";
import { Child } from "./harness/child.js";
import { withGateway } from "./harness/gateway.js";
import { type Account, type Address, ask, metric, signIn, signInMany } from "./harness/http.js";
import { type LoadLane, type LoadResult, withLoad } from "./harness/load.js";
import { parseOptions } from "./harness/options.js";
import { median, progress, Report } from "./harness/report.js";

const options = parseOptions({
  command: "bench:deposits",
  about: "The order path with and without deposits that are being attested in the same process.",
  numbers: {
    deposits: ["queued deposits", 1_000, 1_000],
    rate: ["orders per second", 1_000, 1_000],
    orders: ["orders of a turn", 12_000, 8_000],
    rounds: ["turns of each, of which the middle one counts", 3, 1],
    poll: ["milliseconds between two polls", 3_000, 1_500],
  },
});
const CONNECTIONS = 16;
const PACED_CONNECTIONS = 64;
const CONCURRENT = 32;
const SIGN_IN = { site: "http://bench.example" };
const VOTES = "perpgate_bridge_votes_total";

const report = new Report("deposits", [
  "the latency of a real chain: this one answers immediately, which concentrates the work",
  "TLS and the network: everything is on this machine, the load and the chain included",
]);

function settings(chainPort: number): object {
  const ethereum = {
    rpc: [`http://127.0.0.1:${chainPort}`],
    vault: VAULT,
    tokens: { USDC: { contract: USDC } },
    confirmations: CONFIRMATIONS,
    pollIntervalMs: options.number("poll"),
    recheckIntervalMs: 3_600_000,
  };
  return { auth: { domains: ["bench.example"] }, bridge: { chains: { ethereum } } };
}

async function register(address: Address, { token }: Account, txHash: string): Promise<void> {
  const body = JSON.stringify({ chain: "ethereum", txHash, token: "USDC" });
  const { status, text } = await ask(address, "/v1/bridge/deposit", { body, token });
  if (status !== 202) throw new Error(`register: ${text}`);
}

async function registerMany(address: Address, trader: Account): Promise<void> {
  for (let left = options.number("deposits"); left > 0; left -= CONCURRENT) {
    const batch = Array.from({ length: Math.min(CONCURRENT, left) }, () =>
      register(address, trader, `00${randomBytes(31).toString("hex")}`),
    );
    await Promise.all(batch);
  }
}

async function untilSettled(address: Address, { token }: Account): Promise<void> {
  for (;;) {
    const { text } = await ask(address, "/v1/bridge/deposits", { token });
    if (!/"status":"(?:queued|confirming)"/.test(text)) return;
    await sleep(200);
  }
}

async function fundedTraders(address: Address): Promise<Account[]> {
  const traders = await signInMany(address, CONNECTIONS, SIGN_IN);
  for (const trader of traders) {
    const digits = trader.address.slice(2).toLowerCase();
    await register(address, trader, `f00d${digits}${"0".repeat(20)}`);
  }
  for (const trader of traders) await untilSettled(address, trader);
  return traders;
}

async function measure(address: Address, lane: LoadLane): Promise<void> {
  const [rate, orders, rounds] = [
    options.number("rate"),
    options.number("orders"),
    options.number("rounds"),
  ];
  const registrant = await signIn(address, SIGN_IN);
  await lane.saturate(4_000);
  await registerMany(address, registrant);
  await untilSettled(address, registrant);
  const alone: LoadResult[] = [];
  const attested: LoadResult[] = [];
  let votes = 0;
  for (let round = 1; round <= rounds; round++) {
    progress(`deposits: round ${round} of ${rounds} …`);
    alone.push(await lane.paced(orders, rate));
    await registerMany(address, registrant);
    const before = await metric(address, VOTES);
    attested.push(await lane.paced(orders, rate));
    votes += (await metric(address, VOTES)) - before;
    await untilSettled(address, registrant);
  }
  for (const at of ["p50", "p99", "p999"] as const) {
    const middle = (turns: readonly LoadResult[]): number =>
      median(turns.map(({ sent }) => sent[at]));
    const [without, withDeposits] = [middle(alone), middle(attested)];
    report.add(`orders at ${rate}/s, ${at}, no deposits`, without, "ms");
    const name = `  with ${options.number("deposits").toLocaleString("en-US")} deposits attested`;
    report.add(name, withDeposits, "ms", "no deposits", withDeposits / without);
  }
  report.detail("votes in the log during a turn's orders", votes / rounds, "votes");
}

await report.step("attested deposits", async () => {
  const url = new URL("./deposits/chain-server.js", import.meta.url);
  const chain = Child.start<ChainHandlers>(url, ["serve"]);
  try {
    process.env.PERPGATE_ATTESTOR_KEY = "55".repeat(32);
    await withGateway(
      ({ port }) =>
        withLoad(async (open) => {
          const send = await fundedTraders({ port });
          const lane = await open({ address: { port }, send, connections: PACED_CONNECTIONS });
          await measure({ port }, lane);
        }),
      settings(await chain.call("port")),
    );
    const counts = await chain.call("counts");
    report.detail("receipts that the largest poll requested", counts.receiptsOfOnePoll, "calls");
    report.detail("  for one deposit, at most", counts.repeatsWithinOnePoll, "calls a poll");
    report.detail("HTTP requests a poll, mean", counts.requests / counts.polls, "requests");
  } finally {
    await chain.stop();
  }
});
report.print(options.has("json"));
