/**
 * The order path beside an attestor at work: the same paced orders with nothing to attest, and with
 * a thousand queued deposits that each poll of the attestor has news about.
 *
 *   npm run bench:deposits [-- --help]
 *
 * The venue is the built process with a real attestor in it. The chain and the load are processes of
 * their own. Turns with and without deposits alternate, so that a noisy moment hits both.
 */
import type { ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { type ChainCounts, CONFIRMATIONS, USDC, VAULT } from "./deposits/chain-server.js";
import { benchOptions } from "./options.js";
import { type Gateway, withGateway } from "./orders/gateway.js";
import type { LoadResult } from "./orders/load.js";
import { CONNECTIONS, OrderPath } from "./orders/order-path.js";
import { firstMessage, forkScript, stop } from "./orders/processes.js";
import { type SignedIn, signIn } from "./orders/sign-in.js";
import { median, percentile, progress, Report } from "./report.js";

const options = benchOptions({
  command: "bench:deposits",
  about: "The order path with and without deposits that are being attested in the same process.",
  amounts: {
    deposits: { about: "queued deposits", full: 1_000, short: 1_000 },
    rate: { about: "orders per second", full: 1_000, short: 1_000 },
    orders: { about: "orders of a turn", full: 12_000, short: 8_000 },
    rounds: { about: "turns of each, of which the middle one counts", full: 3, short: 1 },
    poll: { about: "milliseconds between two polls", full: 3_000, short: 1_500 },
  },
});
const { deposits: DEPOSITS, rate: RATE, orders: ORDERS, rounds: ROUNDS } = options.amounts;
const { poll: POLL_MS } = options.amounts;

const SITE = "http://bench.example";
const AT_A_TIME = 32;

const report = new Report("deposits", [
  "a chain that takes its time: this one answers at once, which crowds the work together",
  "TLS and the network: everything is on this machine, the load and the chain included",
]);

function settings(chainPort: number): object {
  return {
    auth: { domains: ["bench.example"] },
    bridge: {
      chains: {
        ethereum: {
          rpc: [`http://127.0.0.1:${chainPort}`],
          vault: VAULT,
          tokens: { USDC: { contract: USDC } },
          confirmations: CONFIRMATIONS,
          pollIntervalMs: POLL_MS,
          recheckIntervalMs: 3_600_000,
        },
      },
    },
  };
}

async function countsOf(chain: ChildProcess): Promise<ChainCounts> {
  const answer = firstMessage(chain);
  chain.send("counts");
  const counts = await answer;
  if (isCounts(counts)) return counts;
  throw new Error(`the chain said ${JSON.stringify(counts)}`);
}

function isCounts(value: unknown): value is ChainCounts {
  return typeof value === "object" && value !== null && "receiptsOfOnePoll" in value;
}

async function register({ origin }: Gateway, { token }: SignedIn, txHash: string): Promise<void> {
  const response = await fetch(`${origin}/v1/bridge/deposit`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
    body: JSON.stringify({ chain: "ethereum", txHash, token: "USDC" }),
  });
  const text = await response.text();
  if (response.status !== 202) throw new Error(`register: ${text}`);
}

async function registerMany(gateway: Gateway, trader: SignedIn): Promise<void> {
  for (let at = 0; at < DEPOSITS; at += AT_A_TIME) {
    const portion = Array.from({ length: Math.min(AT_A_TIME, DEPOSITS - at) }, () =>
      register(gateway, trader, `00${randomBytes(31).toString("hex")}`),
    );
    await Promise.all(portion);
  }
}

/** The first value of a metric, or undefined. */
async function metric({ origin }: Gateway, name: string): Promise<number | undefined> {
  const text = await (await fetch(`${origin}/metrics`)).text();
  const found = text.split("\n").find((line) => line.startsWith(name) && !line.startsWith("#"));
  return found === undefined ? undefined : Number(found.split(" ").at(-1));
}

async function untilSettled(gateway: Gateway, trader: SignedIn): Promise<void> {
  for (;;) {
    const response = await fetch(`${gateway.origin}/v1/bridge/deposits`, {
      headers: { authorization: `Bearer ${trader.token}` },
    });
    const text = await response.text();
    if (!/"status":"(?:queued|confirming)"/.test(text)) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

async function fundedTraders(gateway: Gateway): Promise<SignedIn[]> {
  const traders: SignedIn[] = [];
  for (let i = 0; i < CONNECTIONS; i++) traders.push(await signIn(gateway.origin, SITE));
  for (const trader of traders) {
    const digits = trader.address.slice(2).toLowerCase();
    await register(gateway, trader, `f00d${digits}${"0".repeat(20)}`);
  }
  for (const trader of traders) await untilSettled(gateway, trader);
  return traders;
}

async function measure(gateway: Gateway, chain: ChildProcess): Promise<void> {
  const traders = await fundedTraders(gateway);
  const registrant = await signIn(gateway.origin, SITE);
  const path = new OrderPath(gateway.port, traders);
  progress("deposits: warming up …");
  await path.saturate(4_000);
  await registerMany(gateway, registrant);
  await untilSettled(gateway, registrant);
  const alone: LoadResult[] = [];
  const beside: LoadResult[] = [];
  let votes = 0;
  for (let round = 1; round <= ROUNDS; round++) {
    progress(`deposits: round ${round} of ${ROUNDS} …`);
    alone.push(await path.paced(ORDERS, RATE));
    await registerMany(gateway, registrant);
    const before = (await metric(gateway, "perpgate_bridge_votes_total")) ?? 0;
    beside.push(await path.paced(ORDERS, RATE));
    votes += ((await metric(gateway, "perpgate_bridge_votes_total")) ?? 0) - before;
    await untilSettled(gateway, registrant);
  }
  for (const share of [0.5, 0.99, 0.999]) {
    const middle = (turns: readonly LoadResult[]): number =>
      median(turns.map(({ sentLatenciesMs }) => percentile(sentLatenciesMs, share)));
    const without = middle(alone);
    report.add(`orders at ${RATE}/s, p${share * 100}, no deposits`, without, "ms");
    report.add(
      `  with ${DEPOSITS.toLocaleString("en-US")} deposits being attested`,
      middle(beside),
      "ms",
      "no deposits",
      middle(beside) / without,
    );
  }
  const counts = await countsOf(chain);
  report.detail("votes put into the log beside a turn's orders", votes / ROUNDS, "votes");
  report.detail("receipts that the largest poll asked for", counts.receiptsOfOnePoll, "calls");
  report.detail("  for one deposit, at most", counts.repeatsWithinOnePoll, "calls a poll");
  report.detail("HTTP requests a poll, mean", counts.requests / counts.polls, "requests");
}

await report.step("attested deposits", async () => {
  const chain = forkScript(new URL("./deposits/chain-server.js", import.meta.url), []);
  try {
    const port = Number(await firstMessage(chain));
    process.env.PERPGATE_ATTESTOR_KEY = "55".repeat(32);
    await withGateway((gateway) => measure(gateway, chain), [], settings(port));
  } finally {
    await stop(chain);
  }
});
report.print(options.json);
