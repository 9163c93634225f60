/**
 * `perpgate relay`: sends attestors' signatures to a vault and finalizes payments, until it is stopped. It may
 * be stopped, killed and started at any moment, and several may run.
 */

import { type RelayEvent, Relayer, RemoteVenue } from "@perpgate/bridge";
import type { Chain } from "@perpgate/protocol";
import { Counter, collectDefaultMetrics, Gauge, Registry } from "prom-client";
import { createPublicClient, createWalletClient, fallback, http, parseGwei } from "viem";
import { UsageError } from "../cli/start-error.js";
import { ProcessExit } from "../serve/exit/process-exit.js";
import { openProcessLog, type ProcessLog } from "../serve/process-log.js";
import { onStopSignal } from "../serve/stop-signals.js";
import { readWallet } from "../trader/wallet-key.js";
import { serveAttestorStatus } from "./attestor-status.js";

const TIMEOUT_MS = 10_000;
const STOP_MS = TIMEOUT_MS + 5_000;
/** A transaction that is not mined by then is replaced. */
const WAIT_MS = 60_000;
/** Not ready after failing for this long. */
const FAILING_MS = 60_000;

interface RelayOptions {
  readonly venue: string;
  readonly chain: Chain;
  readonly rpc: string;
  readonly keyFile: string;
  readonly maxFee: string;
  readonly every: number;
  readonly metricsPort?: number;
}

/** Returns once it runs. */
export async function relay(options: RelayOptions): Promise<number> {
  const urls = listOf(options.venue, "--venue");
  const transport = fallback(
    listOf(options.rpc, "--rpc").map((url) => http(url, { timeout: TIMEOUT_MS, batch: true })),
  );
  if (!/^\d{1,9}(\.\d{1,9})?$/.test(options.maxFee)) {
    throw new UsageError(`--max-fee: "${options.maxFee}" is no number of gwei`);
  }
  const account = readWallet(options.keyFile);
  const exit = ProcessExit.install();
  const { log } = openProcessLog("info", "relay");
  const clock = () => Date.now();
  const stopping = new AbortController();
  const venue = new RemoteVenue({
    urls,
    keys: new Map(),
    clock,
    timeoutMs: TIMEOUT_MS,
    stop: stopping.signal,
  });
  const metrics = new Registry();
  collectDefaultMetrics({ register: metrics });
  const report = relayMetrics(metrics, options.chain);
  const health = new RelayHealth();
  const relayer = new Relayer({
    chain: options.chain,
    client: createPublicClient({ transport }),
    wallet: createWalletClient({ account, transport }),
    account,
    port: venue,
    maxFeePerGas: parseGwei(options.maxFee),
    waitMs: WAIT_MS,
    clock,
    uniform: Math.random,
    observe: (event) => {
      report.onEvent(event);
      logEvent(log, event);
    },
  });
  const status = await serveAttestorStatus("127.0.0.1", options.metricsPort, metrics, health);
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const hasMore = await relayer.poll().then(
        (isUnfinished) => {
          health.succeeded();
          return isUnfinished;
        },
        (error: unknown) => {
          if (stopping.signal.aborted) return false;
          const reason = error instanceof Error ? error.message.split("\n")[0] : String(error);
          if (health.failed(reason ?? "")) log.warn({ reason }, "a poll failed; polling continues");
          report.failures.inc();
          return false;
        },
      );
      if (!hasMore) await pause(options.every, stopping.signal);
    }
  };
  const running = run();
  onStopSignal(() => {
    stopping.abort();
    exit.stop(() => running, STOP_MS);
  });
  process.stdout.write(
    `relays withdrawals of ${urls.join(", ")} on ${options.chain} as ${account.address}\n` +
      `metrics ${status}/metrics\n`,
  );
  return 0;
}

function listOf(text: string, name: string): string[] {
  const urls = text.split(",").map((url) => url.trim());
  if (urls.every((url) => /^https?:\/\//.test(url) && URL.canParse(url))) return urls;
  throw new UsageError(`${name}: addresses that begin with http:// or https://`);
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

class RelayHealth {
  private goodAtMs = performance.now();
  private reason: string | undefined;

  succeeded(): void {
    this.goodAtMs = performance.now();
    this.reason = undefined;
  }

  /** Returns whether the reason is another than the last. */
  failed(reason: string): boolean {
    const isNew = this.reason !== reason;
    this.reason = reason;
    return isNew;
  }

  notReadyReason(): string | undefined {
    const isLong = performance.now() - this.goodAtMs > FAILING_MS;
    return isLong ? (this.reason ?? "no poll has ended") : undefined;
  }
}

function logEvent(log: ProcessLog["log"], event: RelayEvent): void {
  const { kind, ...fields } = event;
  switch (event.kind) {
    case "Mined":
      log.info(fields, `withdrawal ${event.id}: ${event.step} is in a block`);
      return;
    case "Refused":
      log.warn(fields, `withdrawal ${event.id}: ${event.step} was refused`);
      return;
    case "Unmined":
      log.warn(fields, `withdrawal ${event.id}: ${event.step} is in no block yet`);
      return;
    case "GasTooHigh":
      log.warn({ weiPerGas: String(event.feePerGas) }, "gas costs more than --max-fee");
      return;
    case "VaultLocked":
      log.warn({}, "the vault is locked");
      return;
    case "Polled":
      return;
    default:
      throw new TypeError(`unknown event ${String(kind)}`);
  }
}

export function relayMetrics(registry: Registry, chain: string) {
  const registers = [registry];
  const transactions = new Counter({
    name: "perpgate_relay_transactions_total",
    help: "Transactions to the vault that were mined.",
    labelNames: ["chain", "step"],
    registers,
  });
  for (const step of ["request", "finalize"]) transactions.inc({ chain, step }, 0);
  const labelNames = ["chain"] as const;
  const counter = (name: string, help: string) => {
    const made = new Counter({ name, help, labelNames, registers });
    made.inc({ chain }, 0);
    return made;
  };
  const gauge = (name: string, help: string) => new Gauge({ name, help, labelNames, registers });
  const refused = counter(
    "perpgate_relay_refused_total",
    "Steps that the vault or the chain refused.",
  );
  const expensive = counter(
    "perpgate_relay_gas_too_high_total",
    "Steps that waited for cheaper gas.",
  );
  const failures = counter("perpgate_relay_poll_failures_total", "Polls that failed.");
  const open = gauge("perpgate_relay_open_withdrawals", "Withdrawals that are not paid yet.");
  const balance = gauge("perpgate_relay_balance_ether", "What pays the relayer's gas.");
  const locked = gauge("perpgate_relay_vault_locked", "1 while the vault is locked.");
  return {
    failures: { inc: () => failures.inc({ chain }) },
    onEvent: (event: RelayEvent): void => {
      if (event.kind === "Mined") transactions.inc({ chain, step: event.step });
      if (event.kind === "Refused") refused.inc({ chain });
      if (event.kind === "GasTooHigh") expensive.inc({ chain });
      if (event.kind !== "Polled") return;
      open.set({ chain }, event.open);
      locked.set({ chain }, event.isLocked ? 1 : 0);
      balance.set({ chain }, Number(event.balance) / 1e18);
    },
  };
}
