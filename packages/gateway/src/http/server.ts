/**
 * The HTTP side of the gateway, put together in the order a request passes it.
 *
 *   connection → budget → request id → 404/405 → token → body → operation → schema → answer
 *
 * Every stage has one error exit, the shape of `ErrorBody`. The server is built without listening,
 * listens once, and drains once: it stops accepting, lets requests in flight finish, and cuts what
 * is left when the grace period ends.
 */

import {
  createServer as createNodeServer,
  type Server as HttpServer,
  type RequestListener,
} from "node:http";
import { setImmediate } from "node:timers/promises";
import { ApiError } from "@perpgate/protocol";
import { OPERATIONS } from "@perpgate/protocol/operations";
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from "fastify";
import type { Registry } from "prom-client";
import { clientKeyOf } from "../limits/client-key.js";
import { CostBudgets } from "../limits/cost-budget.js";
import type { LimitSettings } from "../limits/limit-settings.js";
import { HANDLERS } from "../operations/index.js";
import {
  type ClientAddressOf,
  clientAddressOf,
  type ProxyTrust,
  trustedPeer,
} from "../ws/client-address.js";
import type { StreamServer } from "../ws/stream-server.js";
import { AllowedMethods } from "./allowed-methods.js";
import { roundedMs } from "./client.js";
import { answerClientError } from "./client-errors.js";
import type { GatewayContext } from "./context.js";
import { type AllowedOrigins, allowOrigins } from "./cors.js";
import { serveDocs } from "./docs.js";
import { pathOf, sendError } from "./errors.js";
import { compileGuardsSoon } from "./guard.js";
import { hasTooManyHeaders, KEPT_HEADERS, tooManyHeaders } from "./header-count.js";
import { type ConnectionsOptions, HttpConnections } from "./http-connections.js";
import { readJsonBodies } from "./json-body.js";
import { LeanOrders } from "./lean-orders.js";
import type { HttpLimits } from "./limits.js";
import { RequestMetrics, serveMetrics } from "./metrics.js";
import { MetricsText } from "./metrics-text.js";
import { openApiDocument } from "./openapi.js";
import { servePage } from "./page.js";
import { refuseDirectly } from "./refuse-directly.js";
import { requestIdOf } from "./request-id.js";
import { RequestLog } from "./request-log.js";
import { mayUseReserve } from "./reserve.js";
import { routeHandlers } from "./routes.js";

export interface GatewayOptions
  extends Omit<GatewayContext, "openApi" | "budgets" | "signedBytes"> {
  readonly log: FastifyBaseLogger;
  readonly metrics: Registry;
  /** The same for `/metrics`; one of its own unless it is shared with another listener. */
  readonly metricsText?: MetricsText;
  readonly limits: HttpLimits;
  /** What each client may use up. */
  readonly clientLimits: LimitSettings;
  readonly trustProxy: TrustedProxies;
  /** Pages that may call from a browser. */
  readonly origins: AllowedOrigins;
  /** Streams on the same port; undefined serves REST alone. */
  readonly streams?: StreamServer | undefined;
  /** The folder of the built trading page, served at `/`; undefined serves none. */
  readonly page?: string | undefined;
}

/**
 * Whose word about a client's address is believed: nobody's, that of so many hops in front of this
 * process, or that of the listed addresses and networks. There is no way to believe everyone.
 */
export type TrustedProxies = false | number | readonly string[];

export interface Gateway {
  /** Resolves with the address that clients use; port 0 picks a free one. */
  listen(address: { host: string; port: number }): Promise<string>;
  /** Stops accepting, finishes what is in flight, cuts the rest after the grace period. */
  drain(graceMs: number): Promise<void>;
}

export async function buildGateway(options: GatewayOptions): Promise<Gateway> {
  const document = openApiDocument(OPERATIONS, options.version);
  const metrics = new RequestMetrics(options.metrics);
  const budgets = new CostBudgets(options.clientLimits, metrics);
  const { signedBytes } = options.clientLimits;
  const context = { ...options, budgets, signedBytes, openApi: JSON.stringify(document) };
  const trust = proxyTrustOf(options.trustProxy);
  const addressOf = clientAddressOf(trust);
  const requestLog = new RequestLog(options.log);
  const lean = new LeanOrders({
    ...options,
    context,
    metrics,
    addressOf,
    requestLog,
  });
  const { app, connections } = createServer({
    options,
    budgets,
    requestLog,
    addressOf,
    isTrustedProxy: trustedPeer(trust),
    mayUseReserve: (request) => mayUseReserve(request, context),
    onRefused: () => metrics.onConnectionRefused(),
    lean,
  });
  allowOrigins(app, options.origins);
  const stopping = refuseWhileStopping(app);
  readJsonBodies(app, budgets);
  answerUnknownRoutes(app);
  const metricsText = options.metricsText ?? new MetricsText(options.metrics);
  serveMetrics(app, metrics, metricsText, options.addressLimits);
  await serveDocs(app, document, options.addressLimits);
  routeHandlers(app, HANDLERS, context);
  if (options.page !== undefined) await servePage(app, options.page);
  options.streams?.attach(app.server, context, addressOf, options.origins, (request) =>
    connections.mayUpgrade(request),
  );
  await app.ready();
  return {
    listen: async (address) => {
      const url = await app.listen(address);
      compileGuardsSoon();
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

/**
 * Reads what has come before this call, on every connection: one that looks idle may hold a request
 * that nobody has read yet, and closing it would reset the client where an answer was possible.
 */
async function nextTurn(): Promise<void> {
  // The first is still of the present turn, whose sockets may have been looked at already.
  await setImmediate();
  await setImmediate();
}

/** A hop count is written out as a function, counted from this process outwards. */
function proxyTrustOf(trusted: TrustedProxies): ProxyTrust {
  if (typeof trusted === "number") return (_address, hop) => hop < trusted;
  return trusted === false ? false : [...trusted];
}

interface ServerParts
  extends Pick<ConnectionsOptions, "budgets" | "isTrustedProxy" | "mayUseReserve" | "onRefused"> {
  readonly options: GatewayOptions;
  readonly requestLog: RequestLog;
  readonly addressOf: ClientAddressOf;
  readonly lean: LeanOrders;
}

function createServer(parts: ServerParts): { app: FastifyInstance; connections: HttpConnections } {
  const { options, requestLog, addressOf, lean } = parts;
  const { log, limits, trustProxy } = options;
  let toFramework: RequestListener = () => undefined;
  const connections = new HttpConnections({
    ...parts,
    ...limits,
    keyOf: (request) => clientKeyOf(addressOf(request)),
    serve: (exchange) => {
      const { request, response } = exchange;
      if (hasTooManyHeaders(request)) refuseDirectly(exchange, tooManyHeaders());
      else if (!lean.serve(exchange)) toFramework(request, response);
    },
  });
  const app: FastifyInstance = Fastify({
    loggerInstance: log,
    // One line a request, written by the hook below, in place of Fastify's two.
    logController: new LogController({
      disableRequestLogging: true,
      requestIdLogLabel: "requestId",
    }),
    genReqId: requestIdOf,
    trustProxy: proxyTrustOf(trustProxy),
    bodyLimit: limits.bodyBytes,
    serverFactory: (handler) => {
      toFramework = handler;
      return createHttpServer(limits, connections);
    },
    // Fastify's own answer while closing has another shape; ours is `stopped`.
    return503OnClosing: false,
    clientErrorHandler: answerClientError,
    frameworkErrors: sendError,
  });
  app.server.maxConnections = limits.maxConnections;
  // An expectation nobody knows is ignored, as HTTP allows; Node's own answer has no body.
  app.server.on("checkExpectation", (request, reply) => {
    app.server.emit("request", request, reply);
  });
  app.setErrorHandler(sendError);
  app.decorateRequest("exchange", null);
  // Hooks call back instead of returning promises: each promise is seen in the profile of an order.
  app.addHook("onRequest", (request, reply, done) => {
    request.exchange = connections.exchangeOf(request.raw);
    void reply.header("x-request-id", request.id);
    void reply.header("x-content-type-options", "nosniff");
    if (request.headers.host === undefined && request.raw.httpVersion === "1.1") {
      done(new ApiError("malformed_request", { problem: "the Host header is missing" }));
    } else {
      done();
    }
  });
  app.addHook("onResponse", (request, reply, done) => {
    requestLog.write({
      requestId: request.id,
      method: request.method,
      path: pathOf(request),
      status: reply.statusCode,
      elapsedMs: roundedMs(reply.elapsedTime),
    });
    done();
  });
  return { app, connections };
}

function createHttpServer(limits: HttpLimits, connections: HttpConnections): HttpServer {
  const options = {
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: limits.timeoutCheckIntervalMs,
    // Node would answer 400 with an empty body; a hook below refuses it in our shape.
    requireHostHeader: false,
  };
  const server = createNodeServer(options, (request, response) => {
    connections.receive(request, response);
  });
  server.maxHeadersCount = KEPT_HEADERS;
  connections.attach(server);
  // Otherwise a client that ends its side after a request never gets the answer. It is no option of
  // the server, and no type knows it.
  Object.assign(server, { httpAllowHalfOpen: true });
  return server.setTimeout(limits.idleTimeoutMs);
}

/** A request that arrives on an open connection after the end began is refused, not dropped. */
function refuseWhileStopping(app: FastifyInstance): { begin(): void } {
  let stopping = false;
  app.addHook("onRequest", (_request, _reply, done) => {
    if (!stopping) {
      done();
      return;
    }
    done(new ApiError("stopped", {}));
  });
  // Also of what was begun before: nothing follows it on its connection.
  app.addHook("onSend", (_request, reply, payload, done) => {
    if (stopping) void reply.header("connection", "close");
    done(null, payload);
  });
  return {
    begin: () => {
      stopping = true;
    },
  };
}

/** Decided before the body is read: an unknown path has no body worth reading. */
function answerUnknownRoutes(app: FastifyInstance): void {
  const allowedMethods = new AllowedMethods();
  allowedMethods.watch(app);
  // Reached by a route that gives up, such as a static file that does not exist.
  app.setNotFoundHandler((request) => {
    throw new ApiError("not_found", { path: pathOf(request) });
  });
  app.addHook("onRequest", (request, reply, done) => {
    if (!request.is404) {
      done();
      return;
    }
    const path = pathOf(request);
    const allowed = allowedMethods.of(path).join(", ");
    if (allowed === "") {
      done(new ApiError("not_found", { path }));
      return;
    }
    void reply.header("allow", allowed);
    done(new ApiError("method_not_allowed", { method: request.method, allowed }));
  });
}
