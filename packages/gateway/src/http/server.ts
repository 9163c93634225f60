/**
 * The HTTP server of the gateway. A request passes these stages, each of which may end it with an
 * `ErrorBody`:
 *
 *   connection → budget → request id → 404/405 → token → body → schemas → handler → response
 *
 * `drain` stops accepting, lets requests in flight finish, and destroys the remaining connections after
 * the grace period.
 */

import { setImmediate } from "node:timers/promises";
import { OPERATIONS, SOCKET_OPERATIONS, STREAM_CHANNELS } from "@perpgate/protocol/operations";
import type { FastifyBaseLogger } from "fastify";
import type { Registry } from "prom-client";
import type { EdgeSession } from "../auth/edge-sessions.js";
import type { PossibleExit } from "../limits/charge-operation.js";
import { CostBudgets } from "../limits/cost-budget.js";
import type { LimitSettings } from "../limits/limit-settings.js";
import type { Monotonic } from "../limits/limits.js";
import { AddressChecksums } from "../operations/address-checksums.js";
import { HANDLERS } from "../operations/index.js";
import type { StreamServer } from "../ws/stream-server.js";
import { asyncApiDocument } from "./asyncapi.js";
import { clientAddressOf, type TrustedProxies, trustedPeer } from "./client-address.js";
import { compileSoon } from "./compiled-later.js";
import type { GatewayContext } from "./context.js";
import { type AllowedOrigins, allowOrigins } from "./cors.js";
import { serveDocs } from "./docs/docs.js";
import { createApp, refuseUnserved, refuseWhileStopping } from "./fastify-app.js";
import type { Exchange } from "./http-connection.js";
import { readJsonBodies } from "./json-body.js";
import { LeanRequests } from "./lean-requests.js";
import type { HttpLimits } from "./limits.js";
import { RequestMetrics, serveMetrics } from "./metrics.js";
import { type MetricsPage, MetricsText } from "./metrics-text.js";
import { openApiDocument } from "./openapi.js";
import { servePackageFiles } from "./package-files.js";
import { type PageSandbox, servePage } from "./page.js";
import { servePublicData } from "./public-data.js";
import { RequestLog } from "./request-log.js";
import { routeHandlers } from "./routes.js";
import type { Json } from "./schema-components.js";
import { serveTransparencyLog } from "./tlog.js";
import { serveUdf } from "./udf/udf.js";
import { answerUnknownRoutes } from "./unknown-routes.js";

export interface GatewayOptions
  extends Omit<
    GatewayContext,
    "openApi" | "asyncApi" | "budgets" | "refusals" | "signedBytes" | "batchBytes" | "checksums"
  > {
  readonly log: FastifyBaseLogger;
  readonly metrics: Registry;
  /** Shared with `MetricsServer` if there is one. */
  readonly metricsText?: MetricsPage;
  readonly limits: HttpLimits;
  readonly clientLimits: LimitSettings;
  /** The clock by which cost budgets refill; the process's own by default. */
  readonly monotonic?: Monotonic;
  readonly trustProxy: TrustedProxies;
  readonly origins: AllowedOrigins;
  /** Undefined: REST only. */
  readonly streams?: StreamServer | undefined;
  /** Folder of the built trading page, served at `/`. */
  readonly page?: string | undefined;
  /** Whether TradingView's data feed is served under `/udf`. */
  readonly udf?: boolean;
  /** Folder of the guides, served under `/docs/guides`. */
  readonly guides?: string | undefined;
  /** Addresses of the venue's gateways, which the page may use. */
  readonly pageGateways?: readonly string[] | undefined;
  /** Given by a sandbox alone: its page says so, and may call its control API. */
  readonly pageSandbox?: PageSandbox | undefined;
  /** Folder of the client packages, served as `/sdk.tgz` and the like. */
  readonly packageFiles?: string | undefined;
  /** Folder of daily files of public data, served under `/data`. */
  readonly publicData?: string | undefined;
}

export interface Gateway {
  /** Resolves with the URL; port 0 picks a free one. */
  listen(address: { host: string; port: number }): Promise<string>;
  drain(graceMs: number): Promise<void>;
}

/**
 * Connections that may wait to be accepted; the kernel lowers it to `net.core.somaxconn`. If the queue
 * is full, the kernel drops the next client's SYN, and that client waits a second before it retries.
 */
const BACKLOG = 65_535;

export async function buildGateway(options: GatewayOptions): Promise<Gateway> {
  const { openApi, asyncApi } = documentsOf(options.version);
  const metrics = new RequestMetrics(options.metrics);
  const { refusals } = metrics;
  const budgets = new CostBudgets(options.clientLimits, metrics, options.monotonic);
  metrics.measureBudgets(budgets);
  options.streams?.measure(options.metrics);
  const { signedBytes, batchBytes } = options.clientLimits;
  const context = {
    ...options,
    budgets,
    refusals,
    signedBytes,
    batchBytes,
    checksums: new AddressChecksums(),
    openApi,
    asyncApi: JSON.stringify(asyncApi),
  };
  const addressOf = clientAddressOf(options.trustProxy);
  const requestLog = new RequestLog(options.log);
  const lean = new LeanRequests({
    ...options,
    handlers: HANDLERS,
    context,
    metrics,
    addressOf,
    requestLog,
  });
  const { app, connections } = createApp({
    ...options,
    budgets,
    refusals,
    requestLog,
    addressOf,
    isTrustedProxy: trustedPeer(options.trustProxy),
    exitOf: (exchange) => exitOf(exchange, context),
    onRefused: (why) => metrics.onConnectionRefused(why),
    onEvicted: (why) => metrics.onConnectionEvicted(why),
    lean,
  });
  metrics.measureConnections(connections);
  allowOrigins(app, options.origins);
  refuseUnserved(app);
  const stopping = refuseWhileStopping(app);
  readJsonBodies(app, budgets);
  answerUnknownRoutes(app, budgets);
  const metricsText = options.metricsText ?? new MetricsText(options.metrics);
  serveMetrics(app, metrics, metricsText, options.addressLimits);
  await serveDocs(app, {
    asyncApi,
    guides: options.guides,
    addressLimits: options.addressLimits,
  });
  routeHandlers(app, HANDLERS, context);
  const { edge, addressLimits } = options;
  if (edge !== undefined) {
    serveTransparencyLog(app, { link: edge.link, addressLimits, budgets });
  }
  if (options.udf === true) serveUdf(app, context);
  if (options.page !== undefined) {
    await servePage(app, options.page, options.pageGateways, options.pageSandbox);
  }
  if (options.packageFiles !== undefined) {
    await servePackageFiles(app, options.packageFiles, options.addressLimits);
  }
  if (options.publicData !== undefined) {
    servePublicData(app, options.publicData, options.addressLimits);
  }
  options.streams?.attach(app.server, context, addressOf, options.origins, (request) =>
    connections.mayUpgrade(request),
  );
  await app.ready();
  return {
    listen: async (address) => {
      const url = await app.listen({ ...address, backlog: BACKLOG });
      compileSoon();
      return url;
    },
    drain: async (graceMs) => {
      lean.close();
      stopping.begin();
      budgets.close();
      connections.close();
      const cut = setTimeout(() => {
        options.streams?.cut();
        app.server.closeAllConnections();
      }, graceMs);
      try {
        await nextTurn();
        await Promise.all([options.streams?.stop(), app.close()]);
      } finally {
        clearTimeout(cut);
      }
    },
  };
}

interface Documents {
  readonly openApi: string;
  readonly asyncApi: Json;
}

/** By release, on which alone they depend. */
const documents = new Map<string, Documents>();

function documentsOf(version: string): Documents {
  const made = documents.get(version) ?? {
    openApi: JSON.stringify(openApiDocument(OPERATIONS, version)),
    asyncApi: asyncApiDocument(SOCKET_OPERATIONS, STREAM_CHANNELS, version),
  };
  documents.set(version, made);
  return made;
}

/**
 * Waits until every connection has been read once: one that looks idle may have an unread request, and
 * closing it would reset the client instead of answering.
 */
async function nextTurn(): Promise<void> {
  // The first resolves in the current turn, whose sockets may have been polled already.
  await setImmediate();
  await setImmediate();
}

const ORDERS = /^\/v1\/orders(?:\/batch)?$/;
const CANCELS = /^\/v1\/orders\/(?:cancel|cancel-all|cancel-after|[0-9]{1,16}\/cancel)$/;

/**
 * What a request of an address over its budget may use the reserve for: cancels and orders of a live
 * session, as short as over the socket. An order that turns out not to reduce waits in its handler.
 */
function exitOf(
  { request: { method, url = "", headers }, token }: Exchange,
  { edge, signedBytes }: GatewayContext,
): PossibleExit | undefined | Promise<PossibleExit | undefined> {
  const isOrder = ORDERS.test(url);
  if (method !== "POST" || !(isOrder || CANCELS.test(url))) return undefined;
  const { "content-length": length, "transfer-encoding": encoding } = headers;
  if (encoding !== undefined || Number(length) > signedBytes * 2) return undefined;
  if (edge === undefined || token === undefined) return undefined;
  const exit = ({ account }: EdgeSession): PossibleExit => ({ account, isOrder });
  try {
    const session = edge.sessions.of(token);
    return session instanceof Promise ? session.then(exit, () => undefined) : exit(session);
  } catch {
    return undefined;
  }
}
