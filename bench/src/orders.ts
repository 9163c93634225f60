/**
 * Signed, durable orders end to end over HTTP keep-alive, beside the floor in the same run.
 *
 *   npm run bench:orders [-- --json] [--count N]
 *
 * Every order has its own nonce and signature and trades or rests in a real venue; the load comes
 * from another process. The two servers take turns, so that a noisy moment hits both.
 */
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Gateway, startGateway } from "./orders/gateway.js";
import type { LoadResult } from "./orders/load.js";
import { firstMessage, forkScript, percentile, runLoad, stop } from "./orders/processes.js";
import { type SignedIn, signIn } from "./orders/sign-in.js";
import { progress, Report } from "./report.js";

const { values: options } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    count: { type: "string", default: "20000" },
  },
});
const COUNT = Number(options.count);
const CONNECTIONS = 16;
const ROUNDS = 3;

const report = new Report("orders", [
  "signing (done before the clock starts)",
  "TLS and the network: everything is on this machine, the load included",
]);

interface Target {
  readonly name: string;
  readonly port: number;
  readonly traders: readonly SignedIn[];
  nonce: number;
}

async function load(target: Target, count: number, rate: number): Promise<LoadResult> {
  const firstNonce = target.nonce;
  target.nonce += Math.ceil(count / target.traders.length);
  const { port, traders } = target;
  const plan = { port, connections: CONNECTIONS, count, rate, price: 65_000, firstNonce, traders };
  const result = await runLoad(plan);
  const refusals = Object.entries(result.refused);
  if (refusals.length > 0) throw new Error(`${target.name}: ${JSON.stringify(refusals)}`);
  return result;
}

async function startFloor(folder: string): Promise<{ target: Target; stop(): Promise<void> }> {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const pem = publicKey.export({ type: "spki", format: "pem" }).toString();
  const script = new URL("./orders/floor-server.js", import.meta.url);
  const child = forkScript(script, [join(folder, "floor"), Buffer.from(pem).toString("base64")]);
  const port = Number(await firstMessage(child));
  const privateKeyPem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const trader = { token: "t".repeat(43), privateKeyPem };
  const target = { name: "floor", port, traders: [trader], nonce: 1 };
  return { target, stop: () => stop(child) };
}

async function startVenue(folder: string): Promise<{ target: Target; gateway: Gateway }> {
  const gateway = await startGateway(folder);
  const traders: SignedIn[] = [];
  for (let i = 0; i < CONNECTIONS; i++) traders.push(await signIn(gateway.origin));
  return { target: { name: "gateway", port: gateway.port, traders, nonce: 1 }, gateway };
}

function perSecond({ answered, seconds }: LoadResult): number {
  return answered / seconds;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "perpgate-bench-"));
  const floor = await startFloor(folder);
  const { target, gateway } = await startVenue(folder);
  try {
    progress("warming up …");
    for (const each of [floor.target, target]) await load(each, 4_000, 0);
    const floorRates: number[] = [];
    const rates: number[] = [];
    for (let round = 1; round <= ROUNDS; round++) {
      progress(`saturation, round ${round} of ${ROUNDS} …`);
      floorRates.push(perSecond(await load(floor.target, COUNT, 0)));
      rates.push(perSecond(await load(target, COUNT, 0)));
    }
    const floorRate = median(floorRates);
    const rate = median(rates);
    report.add(`floor, ${CONNECTIONS} connections`, floorRate, "orders/s");
    report.add(
      `gateway, ${CONNECTIONS} connections`,
      rate,
      "orders/s",
      "of the floor, bar 0.80",
      rate / floorRate,
    );
    progress("half of saturation …");
    const half = Math.floor(rate / 2);
    const calm = await load(floor.target, Math.floor(COUNT / 2), half);
    const paced = await load(target, Math.floor(COUNT / 2), half);
    for (const share of [0.5, 0.99]) {
      const name = `p${share * 100}`;
      const at = percentile(paced.latenciesMs, share);
      const base = percentile(calm.latenciesMs, share);
      report.add(
        `gateway at half of it, ${name}`,
        at,
        "ms",
        `floor: ${base.toFixed(2)} ms, bar 1.5×`,
        at / base,
      );
    }
  } finally {
    await stop(gateway.child);
    await floor.stop();
    rmSync(folder, { recursive: true, force: true });
  }
  report.print(options.json);
}

await main();
