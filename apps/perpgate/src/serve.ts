/**
 * The composition root: settings in, a running gateway out.
 *
 * The one place that knows every part. It puts them together in order of dependence, starts them,
 * and hands back how to stop them in the reverse order. No venue is attached in this release; the
 * gateway says so wherever it matters.
 */

import { randomBytes } from "node:crypto";
import {
  AddressLimits,
  buildGateway,
  DEFAULT_LIMITS,
  MIN_NONCE_KEY_BYTES,
  NonceIssuer,
} from "@perpgate/gateway";
import { SimulatedIndexSource } from "@perpgate/oracle";
import { stepOf, toSteps } from "@perpgate/protocol";
import { destination, pino } from "pino";
import { collectDefaultMetrics, Registry } from "prom-client";
import { listMarkets } from "./catalog.js";
import { prepareDataFolder } from "./data-folder.js";
import { IndexFeed } from "./index-feed.js";
import type { Settings } from "./settings.js";
import { StartError } from "./start-error.js";

export interface RunningPerpgate {
  readonly url: string;
  readonly dataFolder: string;
  stop(): Promise<void>;
}

export async function serve(settings: Settings, version: string): Promise<RunningPerpgate> {
  const dataFolder = prepareDataFolder(settings.data);
  // Standard output belongs to the banner; logs go to standard error, written before exit.
  const log = pino({ level: settings.logLevel }, destination({ fd: 2, sync: true }));
  const clock = () => Date.now();
  const feed = createIndexFeed(settings, clock, (error) => {
    log.error({ err: error }, "the index source failed");
  });
  const metrics = new Registry();
  collectDefaultMetrics({ register: metrics });
  const gateway = await buildGateway({
    version,
    clock,
    log,
    metrics,
    limits: settings.http,
    markets: () => listMarkets(settings.markets, (symbol) => feed.priceTicks(symbol)),
    nonces: new NonceIssuer(nonceKeyOf(settings)),
    addressLimits: new AddressLimits(DEFAULT_LIMITS),
    readiness: [feed],
    venue: undefined,
  });
  // Prices before clients: the first request already sees an index.
  feed.start(settings.index.intervalMs);
  const url = await listen(gateway.listen, settings);
  return {
    url,
    dataFolder,
    stop: async () => {
      await gateway.drain(settings.http.drainGraceMs);
      feed.stop();
      log.info("drained");
    },
  };
}

function createIndexFeed(
  settings: Settings,
  clock: () => number,
  onFailure: (error: unknown) => void,
): IndexFeed {
  const source = new SimulatedIndexSource(
    settings.markets.map(({ symbol, tickSize, index }) => ({
      symbol,
      startTicks: toSteps(index.startPrice, stepOf(tickSize)),
      annualVolatility: index.annualVolatility,
    })),
    settings.index.seed,
  );
  const symbols = settings.markets.map(({ symbol }) => symbol);
  return new IndexFeed(source, symbols, clock, onFailure);
}

/** Without a configured key the nonces of this process are recognised by this process alone. */
function nonceKeyOf({ auth }: Settings): Uint8Array {
  if (auth.nonceKey === undefined) return randomBytes(MIN_NONCE_KEY_BYTES);
  return Buffer.from(auth.nonceKey, "hex");
}

async function listen(
  start: (address: { host: string; port: number }) => Promise<string>,
  { host, port }: Settings,
): Promise<string> {
  try {
    return await start({ host, port });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "EADDRINUSE") {
      throw new StartError(`port ${port} on ${host} is taken; choose another with --port`);
    }
    const reason = error instanceof Error ? error.message : String(error);
    throw new StartError(`cannot listen on ${host}:${port}: ${reason}`);
  }
}
