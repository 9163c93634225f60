/**
 * The streams: their size, their fan-out, and what a thousand readers cost the order path.
 *
 *   npm run bench:streams [-- --json] [--sockets N] [--count N]
 *
 * Servers, readers and load are processes of their own on this machine. What is compared takes turns
 * within one run, so that a noisy moment hits both.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Gateway, startGateway } from "./orders/gateway.js";
import type { LoadPlan, LoadResult } from "./orders/load.js";
import { percentile, runLoad, stop } from "./orders/processes.js";
import { type SignedIn, signIn } from "./orders/sign-in.js";
import { progress, Report } from "./report.js";
import { measureFanOut, startReaders } from "./streams/fan-out.js";

const { values: options } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    sockets: { type: "string", default: "1000" },
    count: { type: "string", default: "20000" },
  },
});
const SOCKETS = Number(options.sockets);
const COUNT = Number(options.count);
const CONNECTIONS = 16;
const ROUNDS = 3;
const SOCKET_LOAD = new URL("./streams/socket-load.js", import.meta.url);

class OrderPath {
  private nonce = 1;

  constructor(
    readonly gateway: Gateway,
    private readonly traders: readonly SignedIn[],
  ) {}

  rest(count: number, rate: number): Promise<LoadResult> {
    return this.load(this.plan(count, rate));
  }

  overSockets(count: number): Promise<LoadResult> {
    return this.load(this.plan(count, 0), SOCKET_LOAD);
  }

  private plan(count: number, rate: number): LoadPlan {
    const firstNonce = this.nonce;
    this.nonce += Math.ceil(count / this.traders.length);
    const { port } = this.gateway;
    const { traders } = this;
    return { port, connections: CONNECTIONS, count, rate, price: 65_000, firstNonce, traders };
  }

  private async load(plan: LoadPlan, script?: URL): Promise<LoadResult> {
    const result = await runLoad(plan, script);
    const refusals = Object.entries(result.refused);
    if (refusals.length > 0) throw new Error(JSON.stringify(refusals));
    return result;
  }
}

function perSecond({ answered, seconds }: LoadResult): number {
  return answered / seconds;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

async function measureEntry(report: Report, path: OrderPath): Promise<number> {
  const rest: number[] = [];
  const sockets: number[] = [];
  await path.rest(4_000, 0);
  await path.overSockets(4_000);
  for (let round = 1; round <= ROUNDS; round++) {
    progress(`order entry, round ${round} of ${ROUNDS} …`);
    rest.push(perSecond(await path.rest(COUNT, 0)));
    sockets.push(perSecond(await path.overSockets(COUNT)));
  }
  const restRate = median(rest);
  const rate = median(sockets);
  report.add(`order entry over REST, ${CONNECTIONS} connections`, restRate, "orders/s");
  report.add(
    `order entry over sockets, ${CONNECTIONS} of them`,
    rate,
    "orders/s",
    "of REST, bar 1.1",
    rate / restRate,
  );
  return restRate;
}

/** At a third of saturation: readers take their share of the processor, not of the orders' time. */
async function measureReaders(report: Report, path: OrderPath, saturation: number): Promise<void> {
  const rate = Math.floor(saturation / 3);
  const count = Math.floor(COUNT / 2);
  const without: number[] = [];
  const beside: number[] = [];
  for (let round = 1; round <= ROUNDS; round++) {
    progress(`orders beside ${SOCKETS} readers, round ${round} of ${ROUNDS} …`);
    without.push(percentile((await path.rest(count, rate)).latenciesMs, 0.99));
    const port = path.gateway.port;
    const readers = await startReaders({ port, sockets: SOCKETS, subscribe: "book.BTCUSD" });
    beside.push(percentile((await path.rest(count, rate)).latenciesMs, 0.99));
    await readers.stop();
  }
  const calm = median(without);
  const busy = median(beside);
  report.add(`orders at ${rate}/s without readers, p99`, calm, "ms");
  report.add(
    `orders at ${rate}/s beside ${SOCKETS} readers, p99`,
    busy,
    "ms",
    "of that without, bar 1.5×",
    busy / calm,
  );
}

async function main(): Promise<void> {
  const report = new Report("streams", [
    "signing (done before the clock starts)",
    "TLS and the network: everything is on this machine, readers and load included",
  ]);
  await measureFanOut(report, SOCKETS);
  const folder = mkdtempSync(join(tmpdir(), "perpgate-bench-"));
  const gateway = await startGateway(folder);
  try {
    const traders: SignedIn[] = [];
    for (let i = 0; i < CONNECTIONS; i++) traders.push(await signIn(gateway.origin));
    const path = new OrderPath(gateway, traders);
    const saturation = await measureEntry(report, path);
    await measureReaders(report, path, saturation);
  } finally {
    await stop(gateway.child);
    rmSync(folder, { recursive: true, force: true });
  }
  report.print(options.json);
}

await import("./streams-size.js");
await main();
