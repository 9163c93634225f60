/**
 * A running core: the venue, what feeds it prices and deposits, and what answers its edges and its
 * operator. It imports nothing that reads HTTP.
 *
 * It creates every part in order of dependence, and stops them in the reverse order: the venue last,
 * which answers the commands in flight before it unlocks its folder.
 */

import type { LogSeq } from "@perpgate/journal";
import {
  type Connect,
  KnownAddresses,
  listenForEdges,
  listenForRemoteEdges,
  type ReadinessProbe,
  type RemoteEdge,
  type TlsListener,
} from "@perpgate/link";
import { Core, MAX_LAG_MS, type Venue } from "@perpgate/venue";
import type { Logger } from "pino";
import { ArchiveReads } from "../archive/archive-reads.js";
import { reasonOf, StartError } from "../cli/start-error.js";
import { clusterProbe, clusterStatusOf, measureCluster } from "../cluster/cluster-probe.js";
import { ClusterLink, gatewayNameOf } from "../cluster/log-access.js";
import { BridgeControl } from "./bridge/bridge-control.js";
import { bridgeOf } from "./bridge/settings-bridge.js";
import { createVenueBridge } from "./bridge/venue-bridge.js";
import { CohortControl } from "./cohort-control.js";
import { configureVenue } from "./configure-control.js";
import { ControlSocket } from "./control-socket.js";
import { closeToOthers, prepareDataFolder } from "./data-folder.js";
import { heapNeedOf, heapProblem } from "./exit/heap-limit.js";
import { watchHeap } from "./exit/heap-watch.js";
import type { ProcessExit } from "./exit/process-exit.js";
import { linkListenerOf, otherCoresOf, placeText } from "./link-settings.js";
import { openPromises } from "./log-key-file.js";
import { MarketControl } from "./market-control.js";
import { openProcess } from "./process-metrics.js";
import type { CoreData, CoreFacts } from "./processes/messages.js";
import { measurePromises } from "./promise-metrics.js";
import { measureHistoryQueue } from "./queue-metrics.js";
import { watchRisk } from "./risk-watch.js";
import { stepDown } from "./step-down-control.js";
import { UpgradeControl } from "./upgrade-control.js";
import { createVenueIndex } from "./venue-index.js";
import { measureVenue } from "./venue-metrics.js";
import { openSettingsVenue } from "./venue-opening.js";

interface CoreSettings extends CoreData {
  /** An operator asks for an orderly stop. */
  readonly leave: () => void;
}

interface RunningCore {
  readonly facts: CoreFacts;
  /** Whether it is this core of its cluster that has what there is once: it leads, or joined first. */
  readonly isFirst: () => boolean;
  /** The metrics of this process. */
  readonly metrics: () => Promise<string>;
  /** Answers the commands in flight and unlocks the data folder. */
  stop(): Promise<void>;
}

export async function startCore(
  { settings, accepted, attestorKey, leave }: CoreSettings,
  exit: ProcessExit,
): Promise<RunningCore> {
  refuseSmallHeap(settings.data);
  // Before anything is opened.
  linkListenerOf(settings);
  const { log, metrics } = openProcess("core", settings.logLevel);
  const name = gatewayNameOf(settings);
  const cluster = settings.log === undefined ? undefined : new ClusterLink(settings.log, name, log);
  const bridging = bridgeOf(settings, attestorKey);
  const dataFolder = prepareDataFolder(settings.data);
  watchHeap({
    onHigh: (fields, message) => log.warn(fields, message),
    onFull: (error) => exit.fail(error),
  });
  const open = closeToOthers(dataFolder);
  if (open.length > 0) log.warn({ paths: open }, "other users may read parts of the data folder");
  const { promises, isNew } = openPromises(settings, dataFolder);
  const logKey = promises.logKey.text;
  const clock = () => Date.now();
  const start = new AbortController();
  const opening = openSettingsVenue(settings, bridging, dataFolder, log, exit.deadline, accepted, {
    promises,
    cluster,
    signal: start.signal,
  });
  // The log decides what was acknowledged; clients that still wait get 503.
  exit.onFailure(() => {
    start.abort();
    return opening.then((opened) => opened.abandon());
  });
  void opening.then(
    ({ failed }) =>
      failed.then((error) => exit.fail(new StartError(`the venue stopped: ${error.message}`))),
    () => undefined,
  );
  const venue = await opening;
  if (isNew) log.info({ logKey }, "a log key was made in the data folder; back it up");
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
    upgrade: new UpgradeControl(venue, cluster),
    prune: (below: LogSeq) => venue.pruneBelow(below),
    configure: (file: string) => configureVenue(venue, index, file, atStart),
    leave,
    stepDown: (to: string) => stepDown(venue, to),
  };
  const control = new ControlSocket(dataFolder, controls, log);
  const bridge = createVenueBridge(bridging, venue, log, metrics, otherCoresOf(settings));
  const attestors = bridge === undefined ? [] : [bridge.probe];
  const clustered = cluster === undefined ? [] : [clusterProbe(venue, cluster)];
  const readiness = [runningProbe(venue), clockProbe(venue), feed, ...attestors, ...clustered];
  if (cluster !== undefined) measureCluster(metrics, venue, cluster);
  measureVenue(metrics, venue, dataFolder, readiness);
  measureHistoryQueue(metrics, venue);
  watchRisk(venue, log, metrics);
  if (venue.promises !== null) measurePromises(metrics, venue.promises);
  const postgres = settings.archive?.postgres;
  const archive = postgres === undefined ? undefined : new ArchiveReads(postgres, log);
  const core = new Core({
    venue,
    archive: archive?.query,
    onArchiveLost: archive?.onLost,
    limits: settings.limits,
    attestation: bridge?.intake,
    readiness,
    ...(cluster === undefined
      ? {}
      : { clusterStatus: () => clusterStatusOf(name, venue, cluster) }),
    onFault: (error, request) => log.error({ err: error, request }, "a request failed"),
  });
  // Prices before clients: the first request must find an index price.
  await source.start?.();
  await feed.start(settings.index.intervalMs);
  await control.open();
  bridge?.start();
  const join = (transport: Connect, edge: object): void => {
    const link = core.connect(transport);
    void link.closed.then(({ message }) =>
      log.info({ ...edge, reason: message }, "a link to an edge ended"),
    );
  };
  const edges = await listenForEdges(dataFolder, (transport) => join(transport, {}));
  const remoteEdges = await listenForRemote(settings, dataFolder, join, log);
  return {
    facts: { dataFolder, engineVersion: venue.views.engineVersion, logKey },
    metrics: () => metrics.metrics(),
    isFirst: () => venue.isLeading,
    stop: async () => {
      // No more edges. Those of other machines keep their links, which end with the process: while another
      // core takes over they learn it there.
      void edges.close();
      void remoteEdges?.close();
      await control.close();
      await bridge?.stop();
      feed.stop();
      await source.stop?.();
      core.stop();
      await archive?.close();
      await venue.close();
    },
  };
}

/** Edges on other machines; undefined if the settings have none. */
async function listenForRemote(
  settings: CoreSettings["settings"],
  folder: string,
  join: (transport: Connect, edge: RemoteEdge) => void,
  log: Logger,
): Promise<TlsListener | undefined> {
  const wanted = linkListenerOf(settings);
  if (wanted === undefined) return undefined;
  const { place, identity } = wanted;
  const known = new KnownAddresses(folder, (error) =>
    log.warn({ err: error }, "addresses of edges are not kept for the next start"),
  );
  const listener = await listenForRemoteEdges(place, identity, known, {
    edge: (transport, edge) => {
      log.info({ ...edge }, "an edge on another machine has linked");
      join(transport, edge);
    },
    refused: (address, reason, count) =>
      log.warn({ address, reason, count }, "connections to link.listen were refused"),
  }).catch((error: unknown) => {
    throw new StartError(`cannot listen for edges on ${placeText(place)}: ${reasonOf(error)}`);
  });
  log.info({ host: place.host, port: listener.port }, "edges on other machines may link");
  return listener;
}

/** V8 would end the start, or the venue some minutes later, without a word about what to do. */
function refuseSmallHeap(dataFolder: string): void {
  const problem = heapProblem(heapNeedOf(dataFolder));
  if (problem !== undefined) throw new StartError(problem);
}

function runningProbe(venue: Venue): ReadinessProbe {
  return {
    name: "venue",
    notReadyReason: () => (venue.isStopped ? "the venue has stopped" : undefined),
  };
}

/**
 * Readiness by the clock: not ready while the venue's time is more than two seconds behind the wall
 * clock. The venue continues to trade by its own time, which is monotonic: with two clocks there is no
 * majority to decide which one is wrong, and refusing orders would turn a clock error of a second into
 * an outage.
 */
function clockProbe(venue: Pick<Venue, "clockLeadMs">): ReadinessProbe {
  return {
    name: "clock",
    notReadyReason: () => {
      const leadMs = venue.clockLeadMs;
      if (leadMs <= MAX_LAG_MS) return undefined;
      return (
        `the clock is ${Math.round(leadMs / 1_000)} s ahead of the venue's time and is not followed: ` +
        "correct it, or restart with --accept-clock"
      );
    },
  };
}
