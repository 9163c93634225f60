/** The Fastify instance and the Node server under it: limits, request ids, log lines, draining. */

import { createServer, type Server as HttpServer, type RequestListener } from "node:http";
import { clientKeyOf } from "@perpgate/link";
import { ApiError, POSITION_HEADER } from "@perpgate/protocol/core";
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from "fastify";
import type { Edge } from "../edge.js";
import { roundedMs } from "./client.js";
import { type ClientAddressOf, proxyTrustOf, type TrustedProxies } from "./client-address.js";
import { errorSender, requestPath } from "./errors.js";
import { type ConnectionsOptions, HttpConnections } from "./http-connections.js";
import type { LeanRequests } from "./lean-requests.js";
import type { HttpLimits } from "./limits.js";
import { type LogProgress, whenReached } from "./log-position.js";
import { MAX_HEADERS, retryAfterOf } from "./refuse-directly.js";
import { requestIdOf } from "./request-id.js";
import type { RequestLog } from "./request-log.js";

interface AppOptions
  extends Pick<
    ConnectionsOptions,
    "budgets" | "refusals" | "isTrustedProxy" | "exitOf" | "onRefused" | "onEvicted"
  > {
  readonly log: FastifyBaseLogger;
  readonly limits: HttpLimits;
  readonly trustProxy: TrustedProxies;
  readonly requestLog: RequestLog;
  readonly addressOf: ClientAddressOf;
  readonly edge: Edge | undefined;
  readonly lean: LeanRequests;
}

export function createApp(options: AppOptions): {
  app: FastifyInstance;
  connections: HttpConnections;
} {
  const { log, limits, trustProxy, requestLog, addressOf, lean, refusals, edge } = options;
  const sendError = errorSender(refusals);
  let toFastify: RequestListener = () => undefined;
  const connections = new HttpConnections({
    ...options,
    ...limits,
    progress: edge,
    keyOf: (request) => clientKeyOf(addressOf(request)),
    serve: (exchange) => {
      const { request, response, token } = exchange;
      const serve = (): void => {
        // The client may have left while its position, or its session, was awaited.
        if (response.destroyed) return;
        if (!lean.serve(exchange)) toFastify(request, response);
      };
      const refuse = (error: unknown): void => {
        if (response.destroyed) return;
        exchange.refusal = error instanceof ApiError ? error : new ApiError("internal_error", {});
        toFastify(request, response);
      };
      const learnSession = (): void => {
        if (edge === undefined || token === undefined || !edge.sessions.isUnknown(token)) serve();
        else edge.sessions.learn(token).then(serve, refuse);
      };
      whenReached(request, edge, learnSession, refuse);
    },
  });
  const app: FastifyInstance = Fastify({
    loggerInstance: log,
    // A slow machine must not keep a gateway from starting.
    pluginTimeout: 0,
    // The hook below writes one line per request, instead of Fastify's two.
    logController: new LogController({
      disableRequestLogging: true,
      requestIdLogLabel: "requestId",
    }),
    genReqId: requestIdOf,
    trustProxy: proxyTrustOf(trustProxy),
    bodyLimit: limits.bodyBytes,
    serverFactory: (handler) => {
      toFastify = handler;
      return createHttpServer(limits, connections);
    },
    // Fastify's response while closing has another shape than `stopped`.
    return503OnClosing: false,
    clientErrorHandler: (error, socket) => connections.onClientError(error, socket),
    frameworkErrors: sendError,
  });
  // An unknown expectation is ignored, as HTTP allows; Node's own response has no body.
  app.server.on("checkExpectation", (request, reply) => {
    app.server.emit("request", request, reply);
  });
  app.setErrorHandler(sendError);
  app.decorateRequest("exchange", null);
  addRequestHooks(app, connections, requestLog, edge);
  return { app, connections };
}

/** Hooks use callbacks: promises were visible in the profile of an order. */
function addRequestHooks(
  app: FastifyInstance,
  connections: HttpConnections,
  requestLog: RequestLog,
  progress: LogProgress | undefined,
): void {
  app.addHook("onSend", ({ raw, exchange }, reply, payload, done) => {
    if (progress !== undefined) void reply.header(POSITION_HEADER, String(progress.position));
    if (raw.method === "HEAD" && exchange !== null) exchange.unsentBytes = lengthOf(payload);
    done(null, payload);
  });
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
      path: requestPath(request),
      status: reply.statusCode,
      elapsedMs: roundedMs(reply.elapsedTime),
    });
    done();
  });
}

function lengthOf(payload: unknown): number {
  return typeof payload === "string" || Buffer.isBuffer(payload) ? payload.length : 0;
}

function createHttpServer(limits: HttpLimits, connections: HttpConnections): HttpServer {
  const options = {
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: limits.timeoutCheckIntervalMs,
    // Node would send 400 without a body; the onRequest hook sends an error body.
    requireHostHeader: false,
  };
  const server = createServer(options, (request, response) => {
    connections.receive(request, response);
  });
  server.maxHeadersCount = MAX_HEADERS;
  connections.attach(server);
  // Without it a client that ends its side after a request gets no response. Node reads this property,
  // but has neither an option nor a type for it.
  Object.assign(server, { httpAllowHalfOpen: true });
  return server.setTimeout(limits.idleTimeoutMs);
}

/** Answers the requests that were refused before Fastify, with the headers that every answer has. */
export function refuseUnserved(app: FastifyInstance): void {
  app.addHook("onRequest", ({ exchange }, reply, done) => {
    const refusal = exchange?.refusal;
    if (refusal === undefined) {
      done();
      return;
    }
    const retryAfter = retryAfterOf(refusal);
    if (retryAfter !== undefined) void reply.header("retry-after", retryAfter);
    done(refusal);
  });
}

/** After `begin`, requests on open connections get `stopped`, and every response closes its connection. */
export function refuseWhileStopping(app: FastifyInstance): { begin(): void } {
  let isStopping = false;
  app.addHook("onRequest", (_request, _reply, done) => {
    if (isStopping) done(new ApiError("stopped", {}));
    else done();
  });
  app.addHook("onSend", (_request, reply, payload, done) => {
    if (isStopping) void reply.header("connection", "close");
    done(null, payload);
  });
  return {
    begin: () => {
      isStopping = true;
    },
  };
}
