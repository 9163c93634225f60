/**
 * The gateway under test: the built process as an operator starts it, with ticks, snapshots every
 * few seconds, and limits out of the way.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { stop } from "./processes.js";

const MAIN = fileURLToPath(new URL("../../../apps/perpgate/dist/main.js", import.meta.url));

/** Limits that no load here reaches; all of it comes from one address. */
export const UNLIMITED = {
  ordersPerSecond: 1_000_000,
  ordersBurst: 1_000_000,
  cancelsPerSecond: 1_000_000,
  cancelsBurst: 1_000_000,
  signInsPerSecond: 1_000,
  accountReadsPerSecond: 1_000_000,
  accountReadsBurst: 1_000_000,
  readsPerSecond: 1_000_000,
  readsBurst: 1_000_000,
  costMsPerSecond: 1_000_000,
  costBurstMs: 1_000_000,
  accountCostMsPerSecond: 1_000_000,
  accountCostBurstMs: 1_000_000,
  depositsPerMinute: 1_000_000,
  addressDepositsPerMinute: 1_000_000,
  unseenDeposits: 1_000_000,
  newAccountsPerMinute: 1_000_000,
  newAccountsBurst: 1_000_000,
};

const CONFIGURATION = {
  // A still index keeps every order of the load within the band.
  markets: [
    {
      symbol: "BTCUSD",
      base: "BTC",
      quote: "USD",
      tickSize: 0.1,
      lotSize: 0.00001,
      makerFee: 0.0002,
      takerFee: 0.0005,
      tiers: [{ notionalUpTo: 1_000_000, maxLeverage: 50, maintenanceRate: 0.01 }],
      index: { startPrice: 65_000, annualVolatility: 0 },
    },
  ],
  // Far more often than by default, so that every turn of a bench has some.
  snapshots: { everyMs: 2_000 },
  limits: UNLIMITED,
  http: { connectionsPerAddress: 100_000 },
  sockets: {
    socketsPerAddress: 100_000,
    messagesPerSecond: 1_000_000,
    messagesBurst: 1_000_000,
    pingIntervalMs: 3_600_000,
  },
};

export interface Gateway {
  readonly origin: string;
  readonly port: number;
  readonly child: ChildProcess;
  readonly dataFolder: string;
}

/** Runs with a gateway of its own, which is ended and whose folder is removed whatever happens. */
export async function withGateway(
  run: (gateway: Gateway) => Promise<void>,
  nodeFlags: readonly string[] = [],
  settings: object = {},
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "perpgate-bench-"));
  try {
    const gateway = await startGateway({
      folder,
      nodeFlags,
      configuration: { ...CONFIGURATION, ...settings },
      flags: ["--no-bots", "--log-level", "error"],
    });
    try {
      await run(gateway);
    } finally {
      await stop(gateway.child);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** How many snapshots the gateway has taken since it began. */
export function snapshotsTaken({ dataFolder }: Gateway): number {
  return readFileSync(join(dataFolder, "checkpoints.jsonl"), "utf8").split("\n").length - 1;
}

export interface GatewayStart {
  /** Holds the configuration and the data folder; a second start goes on with the data. */
  readonly folder: string;
  readonly configuration: object;
  /** Of Node, and of the process itself. */
  readonly nodeFlags?: readonly string[];
  readonly flags?: readonly string[];
  /** Where its log goes: a file descriptor, or this process's standard error. */
  readonly log?: number | "inherit";
}

/** Resolves once the process is ready; the caller ends it. */
export async function startGateway(start: GatewayStart): Promise<Gateway> {
  const { folder, configuration, nodeFlags = [], flags = [], log = "inherit" } = start;
  const config = join(folder, "bench.json");
  const dataFolder = join(folder, "data");
  writeFileSync(config, JSON.stringify(configuration));
  // As `npm start` starts it: two verifying threads, room for short-lived objects.
  const args = [
    ...["--max-semi-space-size=64", ...nodeFlags, MAIN],
    ...["--port", "0", "--data", dataFolder, "--config", config],
    ...flags,
  ];
  const child = spawn(process.execPath, args, {
    stdio: ["ignore", "pipe", log, "ipc"],
    env: { ...process.env, UV_THREADPOOL_SIZE: "2" },
  });
  // A bench that is ended early takes its gateway along.
  const endWithThisProcess = (): void => void child.kill("SIGKILL");
  process.once("exit", endWithThisProcess);
  child.once("exit", () => process.off("exit", endWithThisProcess));
  let said = "";
  const origin = await new Promise<string>((resolve, reject) => {
    child.stdout?.on("data", (chunk: Buffer) => {
      said += chunk.toString();
      const address = /interface {2}(http:\S+)\/v1\/markets/.exec(said)?.[1];
      if (address !== undefined) resolve(address);
    });
    child.once("exit", (code) => reject(new Error(`the gateway ended with ${code}: ${said}`)));
  });
  await untilReady(origin);
  return { origin, port: Number(new URL(origin).port), child, dataFolder };
}

async function untilReady(origin: string): Promise<void> {
  const deadline = performance.now() + 10_000;
  while (performance.now() < deadline) {
    const response = await fetch(`${origin}/readyz`);
    await response.arrayBuffer();
    if (response.ok) return;
  }
  throw new Error("the gateway did not become ready within ten seconds");
}
