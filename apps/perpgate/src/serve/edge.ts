/**
 * A running edge: HTTP, sockets, the page and the documentation, over a link to a core. It imports no
 * venue, engine or log.
 */

import {
  AddressLimits,
  buildGateway,
  Edge,
  NonceIssuer,
  RpcContractWallets,
  StreamServer,
} from "@perpgate/gateway";
import { CoreRouter, type ReadinessProbe, type RoutedCore } from "@perpgate/link";
import type { Logger } from "pino";
import { watchHeap } from "./exit/heap-watch.js";
import { guidesFolder, packageFilesFolder } from "./page-folder.js";
import { mainPortError } from "./ports.js";
import { openProcess } from "./process-metrics.js";
import type { EdgeData } from "./processes/messages.js";
import { measureEdgeQueues } from "./queue-metrics.js";
import { rpcAddressesOf } from "./sign-in-settings.js";

interface EdgeSettings extends EdgeData {
  readonly routed: readonly RoutedCore[];
}

export interface RunningEdge {
  readonly url: string;
  readonly log: Logger;
  /** The metrics of this process. */
  readonly metrics: () => Promise<string>;
  /** Answers the requests in flight, within the settings' time. */
  drain(): Promise<void>;
  /** No core is left: refuses what has no answer, within this time. */
  cut(graceMs: number): Promise<void>;
}

/** `page` collects the metrics of all processes of the venue; `onFull` ends this one, whose heap is full. */
export async function startEdge(
  { name, settings, version, signIn, nonceKey, page, routed }: EdgeSettings,
  metricsPage: () => Promise<Buffer>,
  onFull: (error: Error) => void,
): Promise<RunningEdge> {
  const { log, metrics } = openProcess(name, settings.logLevel);
  watchHeap({ onHigh: (fields, message) => log.warn(fields, message), onFull });
  const nonces = new NonceIssuer(nonceKey);
  const { limits } = settings;
  const contracts = new RpcContractWallets(rpcAddressesOf(settings));
  const link = new CoreRouter(routed, {
    switched: (core) => log.info({ core }, "linked to the core that leads"),
    lost: (core, { message }) => log.warn({ core, reason: message }, "a link to a core has ended"),
  });
  const edge = new Edge({ link, limits, signIn, services: { nonces, contracts } });
  const streams = new StreamServer({
    edge,
    seq: () => edge.position,
    log,
    limits: settings.sockets,
    release: version,
  });
  measureEdgeQueues(metrics, edge, link);
  const gateway = await buildGateway({
    version,
    region: settings.region,
    clock: () => Date.now(),
    log,
    metrics,
    metricsText: { contentType: metrics.contentType, read: metricsPage },
    nonces,
    limits: settings.http,
    trustProxy: settings.server.trustProxy,
    origins: settings.server.origins,
    udf: settings.server.udf,
    page,
    guides: guidesFolder(),
    pageGateways: settings.server.gateways,
    packageFiles: packageFilesFolder(),
    publicData: settings.server.data,
    addressLimits: new AddressLimits(limits),
    clientLimits: limits,
    edge,
    readiness: [linkProbe(link)],
    streams,
  });
  await link.ready;
  await streams.ready;
  const url = await gateway
    .listen({ host: settings.host, port: settings.port })
    .catch((error: unknown) => {
      throw mainPortError(settings, error);
    });
  return {
    url,
    log,
    metrics: () => metrics.metrics(),
    drain: async () => {
      await gateway.drain(settings.http.drainGraceMs);
      link.close();
    },
    cut: async (graceMs) => {
      link.close("the core has ended");
      await gateway.drain(graceMs);
    },
  };
}

function linkProbe(router: CoreRouter): ReadinessProbe {
  return {
    name: "link",
    notReadyReason: () => (router.leader === undefined ? "no core leads" : undefined),
  };
}
