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
  type SignInRules,
  StreamServer,
} from "@perpgate/gateway";
import type { MetricsText } from "@perpgate/gateway/metrics";
import type { EdgeLink } from "@perpgate/link";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { ProcessExit } from "./exit/process-exit.js";
import { guidesFolder, packageFilesFolder } from "./page-folder.js";
import { mainPortError } from "./ports.js";
import { measureEdgeQueues } from "./queue-metrics.js";
import type { Settings } from "./settings.js";
import { rpcAddressesOf } from "./sign-in-settings.js";

export interface EdgeSettings {
  readonly settings: Settings;
  readonly version: string;
  readonly signIn: SignInRules;
  /** The same at all edges of a venue. */
  readonly nonceKey: Uint8Array;
  /** Folder of the trading page. */
  readonly page: string | undefined;
}

export interface RunningEdge {
  readonly url: string;
  /** Answers the requests in flight. */
  drain(): Promise<void>;
}

/** For the last answers of a failed venue to be sent. */
const FAILURE_GRACE_MS = 1_000;

export async function startEdge(
  { settings, version, signIn, nonceKey, page }: EdgeSettings,
  link: EdgeLink,
  exit: ProcessExit,
  log: Logger,
  metrics: Registry,
  metricsText: MetricsText,
): Promise<RunningEdge> {
  const nonces = new NonceIssuer(nonceKey);
  const { limits } = settings;
  const contracts = new RpcContractWallets(rpcAddressesOf(settings));
  const edge = new Edge({ link, limits, signIn, services: { nonces, contracts } });
  await link.ready;
  measureEdgeQueues(metrics, edge);
  const gateway = await buildGateway({
    version,
    clock: () => Date.now(),
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
    addressLimits: new AddressLimits(limits),
    clientLimits: limits,
    edge,
    readiness: [],
    streams: await StreamServer.open({
      edge,
      seq: () => edge.position,
      log,
      limits: settings.sockets,
      release: version,
    }),
  });
  exit.onFailure(() => gateway.drain(FAILURE_GRACE_MS));
  const url = await gateway
    .listen({ host: settings.host, port: settings.port })
    .catch((error: unknown) => {
      throw mainPortError(settings, error);
    });
  return {
    url,
    drain: async () => {
      await gateway.drain(settings.http.drainGraceMs);
      link.close();
    },
  };
}
