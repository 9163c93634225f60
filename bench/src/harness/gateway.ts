/** The gateway under test: the built process, started as `npm start` starts it. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { descendantsOf, processesOf } from "@perpgate/journal/testing";
import { DEFAULT_MARKETS } from "@perpgate/protocol";
import { Child, endProcess, THREADS } from "./child.js";
import type { Peer } from "./peers.js";

export const MAIN = fileURLToPath(
  new URL("../../../apps/perpgate/bin/perpgate.js", import.meta.url),
);
const READY_WITHIN_MS = 10_000;

const MILLION = 1_000_000;
/** Limits that no load here reaches; all of it comes from one address. */
export const UNLIMITED_GATEWAY = {
  signInsPerSecond: 1_000,
  ...Object.fromEntries(
    [
      ...["ordersPerSecond", "ordersBurst", "cancelsPerSecond", "cancelsBurst"],
      ...["accountReadsPerSecond", "accountReadsBurst", "readsPerSecond", "readsBurst"],
      ...["costMsPerSecond", "costBurstMs", "accountCostMsPerSecond", "accountCostBurstMs"],
      ...["depositsPerMinute", "addressDepositsPerMinute", "unseenDeposits"],
      ...["newAccountsPerMinute", "newAccountsBurst"],
      ...["failedSignaturesPerMinute", "failedSignaturesBurst"],
    ].map((limit) => [limit, MILLION]),
  ),
};

export const BENCH_SETTINGS = {
  // A constant index keeps every order of the load within the price band.
  markets: DEFAULT_MARKETS.slice(0, 2).map((market) => ({
    ...market,
    index: { ...market.index, annualVolatility: 0 },
  })),
  // By default every five minutes; here so often that every turn of a bench has some.
  snapshots: { everyMs: 2_000 },
  limits: UNLIMITED_GATEWAY,
  http: { connectionsPerAddress: 100_000 },
  sockets: {
    socketsPerAddress: 100_000,
    messagesPerSecond: MILLION,
    messagesBurst: MILLION,
    pingIntervalMs: 3_600_000,
  },
};

interface GatewayOptions {
  /** Holds the configuration and the data; a second start continues with the data. */
  readonly folder: string;
  readonly configuration: object;
  /** Flags of the process. */
  readonly flags?: readonly string[];
  /** Where its log goes: a file descriptor, or this process's standard error. */
  readonly log?: number | "inherit";
}

export class BenchGateway {
  readonly port: number;
  readonly dataFolder: string;

  private constructor(
    private readonly options: GatewayOptions,
    readonly origin: string,
    readonly child: ChildProcess,
  ) {
    this.port = Number(new URL(origin).port);
    this.dataFolder = join(options.folder, "data");
  }

  /** Resolves once the process is ready; the caller ends it. */
  static async start(options: GatewayOptions): Promise<BenchGateway> {
    const { folder, configuration, flags = [], log = "inherit" } = options;
    const config = join(folder, "bench.json");
    writeFileSync(config, JSON.stringify(configuration));
    const args = [
      ...["--max-semi-space-size=64", MAIN],
      ...["--port", "0", "--data", join(folder, "data"), "--config", config],
      ...flags,
    ];
    const child = spawn(process.execPath, args, {
      stdio: ["ignore", "pipe", log],
      env: { ...process.env, ...THREADS },
    });
    const killWithThisProcess = (): void => void child.kill("SIGKILL");
    process.once("exit", killWithThisProcess);
    child.once("exit", () => process.off("exit", killWithThisProcess));
    const gateway = new BenchGateway(options, await originOf(child), child);
    await untilReady(gateway.origin);
    return gateway;
  }

  /** A new process on the same data. */
  startAgain(): Promise<BenchGateway> {
    return BenchGateway.start(this.options);
  }

  get isAlive(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Ends the process; the exit code, or null where a signal ended it. */
  end(signal: "SIGTERM" | "SIGKILL" = "SIGTERM"): Promise<number | null> {
    return endProcess(this.child, signal);
  }

  /** Processor time of all threads of all of its processes so far. */
  get processorMs(): number {
    return this.processes.reduce((sum, pid) => sum + processorMs(pid), 0);
  }

  /** Processor time so far of the core's main thread, of the core, and of the edges. */
  get processorMsOfParts() {
    const sum = (module: string) =>
      processesOf(module, this.child.pid ?? 0).reduce((ms, pid) => ms + processorMs(pid), 0);
    const [core = 0] = processesOf("core-process.js", this.child.pid ?? 0);
    return {
      coreMain: taskMs(core, core),
      core: sum("core-process.js"),
      edges: sum("edge-process.js"),
    };
  }

  /** Heap in use, of all of its processes. */
  async heapBytes(): Promise<number> {
    const text = await (await fetch(`${this.origin}/metrics`)).text();
    const used = text.matchAll(/^nodejs_heap_size_used_bytes\{.*\} (\d+)$/gm);
    return [...used].reduce((sum, [, bytes]) => sum + Number(bytes), 0);
  }

  private get processes(): readonly number[] {
    const { pid = 0 } = this.child;
    return [pid, ...descendantsOf(pid)];
  }

  /** What the process takes of the machine; from /proc, so on Linux only. */
  get figures() {
    const { processes } = this;
    const all = processes.map((pid) => readFileSync(`/proc/${pid}/status`, "utf8"));
    const bytes = (name: string): number =>
      all
        .map((status) => Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1] ?? 0))
        .reduce((sum, kib) => sum + 1_024 * kib, 0);
    return {
      cpuSeconds: this.processorMs / 1_000,
      residentBytes: bytes("VmRSS"),
      /** Resident memory without mapped files. */
      anonymousBytes: bytes("RssAnon"),
      openFiles: processes.flatMap((pid) => readdirSync(`/proc/${pid}/fd`)).length,
    };
  }
}

/** Processor time of all threads of a process, in milliseconds; from /proc, so on Linux only. */
export function processorMs(pid: number): number {
  const tasks = readdirSync(`/proc/${pid}/task`);
  return tasks.reduce((sum, task) => sum + taskMs(pid, task), 0);
}

function taskMs(pid: number, task: number | string): number {
  return Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, "utf8").split(" ")[0]) / 1e6;
}

/** Runs with a gateway of the bench's configuration; ends it and removes its folder. */
export function withGateway<T>(
  run: (gateway: BenchGateway) => Promise<T>,
  settings: object = {},
): Promise<T> {
  return inFolder("bench", async (folder) => {
    const configuration = { ...BENCH_SETTINGS, ...settings };
    const flags = ["--no-bots", "--log-level", "error"];
    const gateway = await BenchGateway.start({ folder, configuration, flags });
    try {
      return await run(gateway);
    } finally {
      await gateway.end();
    }
  });
}

/** Runs with one of the servers of peers.ts. */
export async function withPeer<T>(
  args: readonly ["floor" | "constant" | "broadcast" | "discard", ...string[]],
  run: (port: number, child: Child<Peer>) => Promise<T>,
): Promise<T> {
  const child = Child.start<Peer>(new URL("./peers.js", import.meta.url), args);
  try {
    return await run(await child.call("port"), child);
  } finally {
    await child.stop();
  }
}

/** Runs in a new folder and removes it, also when this process is ended by a signal. */
export async function inFolder<T>(
  name: string,
  run: (folder: string) => T | Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), `perpgate-${name}-`));
  // A process that was just killed may still create files.
  const remove = (): void => rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  process.once("exit", remove);
  try {
    return await run(folder);
  } finally {
    process.off("exit", remove);
    remove();
  }
}

function originOf(child: ChildProcess): Promise<string> {
  let output = "";
  return new Promise((resolve, reject) => {
    child.stdout?.on("data", (chunk: Buffer) => {
      output += chunk.toString();
      const origin = /interface {2}(http:\S+)\/v1\/markets/.exec(output)?.[1];
      if (origin !== undefined) resolve(origin);
    });
    child.once("exit", (code) => reject(new Error(`the gateway ended with ${code}: ${output}`)));
  });
}

async function untilReady(origin: string): Promise<void> {
  const deadline = performance.now() + READY_WITHIN_MS;
  while (performance.now() < deadline) {
    const response = await fetch(`${origin}/readyz`);
    await response.arrayBuffer();
    if (response.ok) return;
  }
  throw new Error(`too late: the gateway is not ready after ${READY_WITHIN_MS} ms`);
}
