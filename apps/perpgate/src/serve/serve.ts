/**
 * The composition root: settings in, a running gateway out.
 *
 * It creates every part in order of dependence, starts them, and returns how to stop them in the
 * reverse order: the bots, new requests, new votes and prices, then the venue, which answers the
 * commands in flight before it unlocks its folder.
 */

import { availableParallelism } from "node:os";
import type { BotLog } from "@perpgate/bots/settings";
import type { BridgeConfig } from "@perpgate/bridge";
import {
  AddressLimits,
  buildGateway,
  Edge,
  MetricsText,
  NonceIssuer,
  ProofThread,
  type ReadinessProbe,
  StreamServer,
  ThreadVerifier,
} from "@perpgate/gateway";
import type { LogSeq } from "@perpgate/journal";
import { EdgeLink, memoryTransport } from "@perpgate/link";
import { Core, type Venue } from "@perpgate/venue";
import type { Logger } from "pino";
import { collectDefaultMetrics, Registry } from "prom-client";
import { StartError } from "../cli/start-error.js";
import { clusterProbe, clusterStatusOf, measureCluster } from "../cluster/cluster-probe.js";
import { ClusterLink, gatewayNameOf } from "../cluster/log-access.js";
import { BridgeControl } from "./bridge/bridge-control.js";
import { bridgeOf } from "./bridge/settings-bridge.js";
import { createVenueBridge } from "./bridge/venue-bridge.js";
import { clockProbe } from "./clock-probe.js";
import { CohortControl } from "./cohort-control.js";
import { configureVenue } from "./configure-control.js";
import { ControlSocket } from "./control-socket.js";
import { closeToOthers, prepareDataFolder } from "./data-folder.js";
import { heapNeedOf, heapProblem } from "./exit/heap-limit.js";
import { watchHeap } from "./exit/heap-watch.js";
import type { ProcessExit } from "./exit/process-exit.js";
import { refuseMissingFeeds } from "./index-source.js";
import { promisesOf } from "./log-key-file.js";
import { MarketControl } from "./market-control.js";
import { listenForMetrics } from "./metrics-listener.js";
import type { Accepted } from "./options.js";
import { guidesFolder, packageFilesFolder, pageFolderOf } from "./page-folder.js";
import { mainPortError, refuseTakenPorts } from "./ports.js";
import { measureProcessLog, openProcessLog } from "./process-log.js";
import { measurePromises } from "./promise-metrics.js";
import { measureQueues } from "./queue-metrics.js";
import { watchRisk } from "./risk-watch.js";
import type { Settings } from "./settings.js";
import { nonceKeyOf, rpcAddressesOf, signInRulesOf } from "./sign-in-settings.js";
import { UpgradeControl } from "./upgrade-control.js";
import { type BotsState, VenueBots } from "./venue-bots.js";
import { createVenueIndex } from "./venue-index.js";
import { measureVenue } from "./venue-metrics.js";
import { openSettingsVenue } from "./venue-opening.js";

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

/** For the last answers of a failed venue to be sent. */
const FAILURE_GRACE_MS = 1_000;
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
  refuseSmallHeap(settings.data);
  await refuseTakenPorts(settings);
  const dataFolder = prepareDataFolder(settings.data);
  // Standard output is for the banner.
  const processLog = openProcessLog(settings.logLevel);
  const { log } = processLog;
  watchHeap({
    onHigh: (fields, message) => log.warn(fields, message),
    onFull: (error) => exit.fail(error),
  });
  const open = closeToOthers(dataFolder);
  if (open.length > 0) log.warn({ paths: open }, "other users may read parts of the data folder");
  const { promises, isNew } = promisesOf(settings, dataFolder);
  const logKey = promises.logKey.text;
  const clock = () => Date.now();
  const cluster =
    settings.log === undefined
      ? undefined
      : new ClusterLink(settings.log, gatewayNameOf(settings), log);
  const start = new AbortController();
  const opening = openSettingsVenue(settings, bridging, dataFolder, log, exit.deadline, accepted, {
    promises,
    cluster,
    signal: start.signal,
  });
  exit.onFailure(() => {
    start.abort();
    return opening.then((opened) => opened.abandon());
  });
  void opening.then(
    (opened) => opened.failed.then((error) => exit.fail(stopped(error))),
    () => undefined,
  );
  // The threads load their code while the venue opens.
  const [venue, signatures, proofs] = await Promise.all([
    opening,
    ThreadVerifier.start(verifyThreadsOf(availableParallelism())),
    ProofThread.start(rpcAddressesOf(settings)),
  ]);
  if (isNew) log.info({ logKey }, "a log key was made in the data folder; back it up");
  for (const { failed } of [signatures, proofs]) {
    void failed.then((error) => exit.fail(stopped(error)));
  }
  const index = createVenueIndex(settings, venue, clock, {
    onProblem: (problem) => log.warn({ ...problem }, "an index feed failed"),
    onFailure: (error) => log.error({ err: error }, "the index source failed"),
    onReplaced: (source, markets) => log.info({ source, markets }, "the index source was replaced"),
    onOtherTick: (symbol, tickSize, listed) =>
      log.warn(
        { symbol, tickSize, listed },
        "a market was listed with another tick than the configuration's; its index is not fed",
      ),
  });
  const { source, feed } = index;
  const atStart = { bridge: bridging, attestorKey };
  const controls = {
    cohort: new CohortControl(venue),
    bridge: new BridgeControl(venue),
    market: new MarketControl(venue),
    upgrade: new UpgradeControl(venue),
    prune: (below: LogSeq) => venue.pruneBelow(below),
    configure: (file: string) => configureVenue(venue, index, file, atStart),
    leave: () => process.kill(process.pid, "SIGTERM"),
  };
  const control = new ControlSocket(dataFolder, controls, log);
  const nonces = new NonceIssuer(nonceKeyOf(settings));
  const metrics = new Registry();
  collectDefaultMetrics({ register: metrics });
  measureProcessLog(metrics, processLog);
  const bridge = createVenueBridge(bridging, venue, log, metrics);
  const attestors = bridge === undefined ? [] : [bridge.probe];
  const clustered = cluster === undefined ? [] : [clusterProbe(venue, cluster)];
  const readiness = [runningProbe(venue), clockProbe(venue), feed, ...attestors, ...clustered];
  if (cluster !== undefined) measureCluster(metrics, venue, cluster);
  measureVenue(metrics, venue, dataFolder, readiness);
  watchRisk(venue, log, metrics);
  if (venue.promises !== null) measurePromises(metrics, venue.promises);
  const core = new Core({
    venue,
    limits: settings.limits,
    attestation: bridge?.intake,
    ...(cluster === undefined
      ? {}
      : { clusterStatus: () => clusterStatusOf(gatewayNameOf(settings), venue, cluster) }),
    onFault: (error, request) => log.error({ err: error, request }, "a request failed"),
  });
  const transport = memoryTransport();
  core.connect(transport.connectCore);
  const link = new EdgeLink(transport.connectEdge);
  const { limits } = settings;
  const edge = new Edge({ link, limits, signIn, services: { nonces, proofs }, signatures });
  await link.ready;
  measureQueues(metrics, { venue, edge, signatures, proofs });
  const metricsText = new MetricsText(metrics);
  const gateway = await buildGateway({
    version,
    clock,
    log,
    metrics,
    metricsText,
    nonces,
    limits: settings.http,
    trustProxy: settings.server.trustProxy,
    origins: settings.server.origins,
    udf: settings.server.udf,
    page,
    guides: guidesFolder(),
    pageGateways: settings.server.gateways,
    packageFiles: packageFilesFolder(),
    addressLimits: new AddressLimits(settings.limits),
    clientLimits: settings.limits,
    edge,
    readiness,
    streams: await StreamServer.open({
      edge,
      seq: () => venue.seq,
      log,
      limits: settings.sockets,
      release: version,
    }),
  });
  // The log decides what was acknowledged; clients that still wait get 503.
  exit.onFailure(() => Promise.allSettled([venue.abandon(), gateway.drain(FAILURE_GRACE_MS)]));
  // Prices before clients: the first request must find an index price.
  await source.start?.();
  await feed.start(settings.index.intervalMs);
  const metricsServer = await listenForMetrics(settings, metricsText, log);
  const url = await gateway
    .listen({ host: settings.host, port: settings.port })
    .catch((error: unknown) => {
      throw mainPortError(settings, error);
    });
  await control.open();
  bridge?.start();
  const botsPlace = { url, isOurs: () => venue.rank === 0 };
  const bots = VenueBots.start(settings, bridging, botsPlace, botLogOf(log));
  return {
    url,
    metricsUrl: metricsServer?.url,
    hasPage: page !== undefined,
    dataFolder,
    engineVersion: venue.views.engineVersion,
    logKey,
    acceptsAnyDomain: signIn.domains === "any",
    index: settings.index,
    bridge: bridging,
    bots: bots.state,
    stopWithinMs: settings.http.drainGraceMs + CLOSE_MS,
    stop: async () => {
      // First: they cancel their orders through the gateway.
      await bots.stop(settings.http.drainGraceMs);
      await gateway.drain(settings.http.drainGraceMs);
      await control.close();
      await bridge?.stop();
      feed.stop();
      await source.stop?.();
      core.stop();
      await venue.close();
      await Promise.all([signatures.close(), proofs.close()]);
      await metricsServer?.close();
      log.info("drained");
    },
  };
}

/** V8 would end the start, or the venue some minutes later, without a word about what to do. */
function refuseSmallHeap(dataFolder: string): void {
  const problem = heapProblem(heapNeedOf(dataFolder));
  if (problem !== undefined) throw new StartError(problem);
}

function stopped(error: Error): StartError {
  return new StartError(`the venue stopped: ${error.message}`);
}

function botLogOf(log: Logger): BotLog {
  return {
    info: (message, fields) => log.info({ ...fields }, message),
    warn: (message, fields) => log.warn({ ...fields }, message),
  };
}

/** One core is for the event loop; a single event loop cannot keep more than four threads busy. */
function verifyThreadsOf(cores: number): number {
  return Math.min(4, Math.max(1, cores - 1));
}

function runningProbe(venue: Venue): ReadinessProbe {
  return {
    name: "venue",
    notReadyReason: () => (venue.isStopped ? "the venue has stopped" : undefined),
  };
}
