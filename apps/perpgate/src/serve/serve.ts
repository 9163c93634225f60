/** The composition root: settings in, a running core and edge out. */

import type { BotLog } from "@perpgate/bots/settings";
import type { BridgeConfig } from "@perpgate/bridge";
import { MetricsText } from "@perpgate/gateway/metrics";
import { EdgeLink, memoryTransport } from "@perpgate/link";
import type { Logger } from "pino";
import { collectDefaultMetrics, Registry } from "prom-client";
import { bridgeOf } from "./bridge/settings-bridge.js";
import { startCore } from "./core.js";
import { startEdge } from "./edge.js";
import type { ProcessExit } from "./exit/process-exit.js";
import { refuseMissingFeeds } from "./index-source.js";
import { listenForMetrics } from "./metrics-listener.js";
import type { Accepted } from "./options.js";
import { pageFolderOf } from "./page-folder.js";
import { refuseTakenPorts } from "./ports.js";
import { measureProcessLog, openProcessLog } from "./process-log.js";
import type { Settings } from "./settings.js";
import { nonceKeyOf, signInRulesOf } from "./sign-in-settings.js";
import { type BotsState, VenueBots } from "./venue-bots.js";

export interface RunningPerpgate {
  readonly url: string;
  /** Where Prometheus reads; undefined without a separate listener. */
  readonly metricsUrl: string | undefined;
  /** Whether the trading page is served at `/`. */
  readonly hasPage: boolean;
  readonly dataFolder: string;
  /** The version of the engine's rules that the venue was opened with. */
  readonly engineVersion: number;
  /** The verifier key of the transparency log: what traders pin. */
  readonly logKey: string;
  /** Whether pages of any domain may sign in, as on a testnet of one machine. */
  readonly acceptsAnyDomain: boolean;
  readonly index: Settings["index"];
  readonly bridge: BridgeConfig;
  readonly bots: BotsState;
  /** Answers the requests in flight and unlocks the data folder. */
  stop(): Promise<void>;
  /** How long `stop` takes at most, unless something hangs. */
  readonly stopWithinMs: number;
}

/** For all of a stop except the requests in flight: bots, attestors, history, log. */
const CLOSE_MS = 10_000;

export async function serve(
  settings: Settings,
  version: string,
  accepted: Accepted,
  exit: ProcessExit,
  attestorKey?: string,
): Promise<RunningPerpgate> {
  const bridging = bridgeOf(settings, attestorKey);
  const signIn = signInRulesOf(settings, bridging.kind);
  const page = pageFolderOf(settings);
  refuseMissingFeeds(settings);
  await refuseTakenPorts(settings);
  // Standard output is for the banner.
  const processLog = openProcessLog(settings.logLevel);
  const { log } = processLog;
  const metrics = new Registry();
  collectDefaultMetrics({ register: metrics });
  measureProcessLog(metrics, processLog);
  const metricsText = new MetricsText(metrics);
  const leave = () => void process.kill(process.pid, "SIGTERM");
  const coreSettings = { settings, bridging, accepted, attestorKey, leave };
  const core = await startCore(coreSettings, exit, log, metrics);
  const transport = memoryTransport();
  core.connect(transport.connectCore);
  const link = new EdgeLink(transport.connectEdge);
  const edgeSettings = { settings, version, signIn, nonceKey: nonceKeyOf(settings), page };
  const edge = await startEdge(edgeSettings, link, exit, log, metrics, metricsText);
  const metricsServer = await listenForMetrics(settings, metricsText, log);
  const { url } = edge;
  const bots = VenueBots.start(settings, bridging, { url, isOurs: core.isFirst }, botLogOf(log));
  return {
    url,
    metricsUrl: metricsServer?.url,
    hasPage: page !== undefined,
    dataFolder: core.dataFolder,
    engineVersion: core.engineVersion,
    logKey: core.logKey,
    acceptsAnyDomain: signIn.domains === "any",
    index: settings.index,
    bridge: bridging,
    bots: bots.state,
    stopWithinMs: settings.http.drainGraceMs + CLOSE_MS,
    stop: async () => {
      // First: they cancel their orders through the gateway.
      await bots.stop(settings.http.drainGraceMs);
      await edge.drain();
      await core.stop();
      await metricsServer?.close();
      log.info("drained");
    },
  };
}

function botLogOf(log: Logger): BotLog {
  return {
    info: (message, fields) => log.info({ ...fields }, message),
    warn: (message, fields) => log.warn({ ...fields }, message),
  };
}
