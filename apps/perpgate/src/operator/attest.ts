/**
 * `perpgate attest --venue URL[,URL…] --config FILE`: attestors without a venue. They watch the chains of
 * the configuration through their own RPC addresses and send their votes to a venue that runs
 * elsewhere. The process stores nothing; it may be stopped and started at any moment.
 */

import { setMaxListeners } from "node:events";
import {
  AttestorHealth,
  Bridge,
  type BridgeConfig,
  type BridgeEvent,
  type ChainBridgeConfig,
  observeBridge,
  publicKeyHex,
  RemoteVenue,
  type SigningConfig,
  SigningRecord,
} from "@perpgate/bridge";
import { collectDefaultMetrics, Registry } from "prom-client";
import { reasonOf, StartError, UsageError } from "../cli/start-error.js";
import { bridgeOf } from "../serve/bridge/settings-bridge.js";
import { readConfiguration } from "../serve/configuration.js";
import { ProcessExit } from "../serve/exit/process-exit.js";
import { measureProcessLog, openProcessLog } from "../serve/process-log.js";
import { onStopSignal } from "../serve/stop-signals.js";
import { readWallet } from "../trader/wallet-key.js";
import { serveAttestorStatus } from "./attestor-status.js";

const TIMEOUT_MS = 10_000;
/** For votes in flight; other requests are aborted. */
const STOP_MS = TIMEOUT_MS + 5_000;

interface AttestOptions {
  readonly venue?: string;
  readonly config?: string;
  readonly metricsPort?: number;
}

/** Returns once the attestors run; they keep the process alive until a signal stops them. */
export async function attest(options: AttestOptions): Promise<number> {
  const environment = process.env;
  const { venue: addresses = "", config, metricsPort: port } = options;
  const urls = addresses.split(",").map((url) => url.trim());
  if (!urls.every((url) => /^https?:\/\//.test(url) && URL.canParse(url))) {
    throw new UsageError(
      "--venue must be the gateway's http address, or those of several gateways",
    );
  }
  const settings = readConfiguration(config === undefined ? {} : { config }, environment);
  const bridge = attestorsIn(bridgeOf(settings, environment.PERPGATE_ATTESTOR_KEY));
  const exit = ProcessExit.install();
  const processLog = openProcessLog(settings.logLevel, "attest");
  const { log } = processLog;
  const clock = () => Date.now();
  const keys = new Map(bridge.attestors.map(({ index, privateKey }) => [index, privateKey]));
  const stopping = new AbortController();
  // Every request in flight adds a listener.
  setMaxListeners(0, stopping.signal);
  const stop = stopping.signal;
  const venue = new RemoteVenue({ urls, keys, clock, timeoutMs: TIMEOUT_MS, stop });
  const metrics = new Registry();
  collectDefaultMetrics({ register: metrics });
  measureProcessLog(metrics, processLog);
  const chains = bridge.chains.map(({ chain }) => chain);
  const health = new AttestorHealth(bridge, () => performance.now());
  const report = observeBridge(log, metrics, chains);
  const observe = (event: BridgeEvent): void => {
    health.observe(event);
    report(event);
  };
  const status = await serveAttestorStatus(settings.metrics.host, port, metrics, health);
  const signing = signingOf(bridge);
  const withdrawals = signing === undefined ? {} : { withdrawals: { port: venue, signing } };
  const running = new Bridge(bridge, venue, { clock, observe, ...withdrawals });
  onStopSignal(() => {
    stopping.abort();
    exit.stop(() => running.stop(), STOP_MS);
  });
  running.start();
  for (const { index, privateKey } of bridge.attestors) {
    const names = chains.join(", ");
    process.stdout.write(
      `attestor ${index} (${publicKeyHex(privateKey)}) watches ${names} for ${urls.join(", ")}\n`,
    );
    if (signing !== undefined) {
      process.stdout.write(`it signs withdrawals as ${signing.account.address}\n`);
    }
  }
  process.stdout.write(`metrics ${status}/metrics\n`);
  return 0;
}

/** Opens the record before anything is signed; the key is in no message. */
function signingOf({ signing }: ChainBridgeConfig): SigningConfig | undefined {
  if (signing === undefined) return undefined;
  const { keyFile, record, logKey, witnessKeys, require } = signing;
  const account = readWallet(keyFile);
  try {
    const proofKeys = { logKey: logKey.trim(), witnessKeys, require };
    return { account, record: new SigningRecord(record), proofKeys };
  } catch (error) {
    throw new StartError(`"bridge.signing.record": ${reasonOf(error)}`);
  }
}

function attestorsIn(bridge: BridgeConfig): Extract<BridgeConfig, { kind: "chain" }> {
  if (bridge.kind === "chain" && bridge.attestors.length > 0) return bridge;
  throw new StartError(`"bridge" must configure a chain and the key of an attestor to run here`);
}
