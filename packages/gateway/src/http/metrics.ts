/** Prometheus metrics of requests; labels are routes and statuses, never clients. */

import { ApiError } from "@perpgate/protocol/core";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { Counter, type Registry } from "prom-client";
import type { AddressLimits } from "../limits/limits.js";
import { RefusalCounts } from "../metrics/refusal-counts.js";
import { gauged, increment, summed, summedBy } from "../metrics/registered.js";
import { TimesByStatus, TimeTable } from "../metrics/time-table.js";
import { isForwarded, RequestClient } from "./client.js";
import type { MetricsPage } from "./metrics-text.js";

/** The part of `CostBudgets` that is measured. */
interface CostQueue {
  readonly totalWaiting: number;
}

export class RequestMetrics {
  readonly refusals = new RefusalCounts();
  private readonly times = new TimeTable();
  /** By route, then by method. */
  private readonly routes = new Map<string, Map<string, TimesByStatus>>();
  private readonly aborted;
  private chargedMicros = 0;
  private parsedBytes = 0;
  private readonly held;
  /** From the beginning: Prometheus sees a counter rise only if it was there before. */
  private readonly refusedConnections = new Map<string, number>([
    ["address", 0],
    ["full", 0],
  ]);
  private readonly evictedConnections = new Map<string, number>([
    ["silent", 0],
    ["idle", 0],
    ["unread", 0],
  ]);

  constructor(readonly registry: Registry) {
    this.times.register(
      registry,
      "perpgate_http_request_seconds",
      "Time from the first byte of a request to the last of its answer.",
    );
    this.refusals.register(registry);
    this.aborted = new Counter({
      name: "perpgate_http_requests_aborted_total",
      help: "Requests whose client went away before the answer.",
      registers: [registry],
    });
    // Updated several times per request, so kept as numbers and copied when collected.
    summed(
      registry,
      "perpgate_cost_seconds_total",
      "Processor time charged to clients, by the table of costs.",
      () => this.chargedMicros / 1e6,
    );
    summed(
      registry,
      "perpgate_parsed_bytes_total",
      "Bytes of clients that were given to the JSON parser.",
      () => this.parsedBytes,
    );
    this.held = new Counter({
      name: "perpgate_cost_held_total",
      help: "Requests, connections and messages that waited for the budget of their address.",
      registers: [registry],
    });
    summedBy(
      registry,
      "perpgate_http_connections_refused_total",
      "Connections closed on arrival; address: it had too many, full: no place was left.",
      "reason",
      () => this.refusedConnections,
    );
    summedBy(
      registry,
      "perpgate_http_connections_evicted_total",
      "Connections closed for a newcomer (silent, idle), or because the peer does not read (unread).",
      "reason",
      () => this.evictedConnections,
    );
  }

  /** What waits for a budget now. */
  measureBudgets(budgets: CostQueue): void {
    gauged(
      this.registry,
      "perpgate_cost_waiting",
      "Requests, connections and messages that wait for the budget of their address now.",
      () => budgets.totalWaiting,
    );
  }

  /** `route` is the pattern, not the path: a label per symbol or id would grow without bound. */
  onAnswered(route: string, method: string, status: number, elapsedMs: number): void {
    let methods = this.routes.get(route);
    if (methods === undefined) {
      methods = new Map();
      this.routes.set(route, methods);
    }
    let times = methods.get(method);
    if (times === undefined) {
      times = new TimesByStatus(this.times, { route, method });
      methods.set(method, times);
    }
    times.observe(status, elapsedMs);
  }

  onAborted(): void {
    this.aborted.inc();
  }

  onCharged(micros: number): void {
    this.chargedMicros += micros;
  }

  onParsed(bytes: number): void {
    this.parsedBytes += bytes;
  }

  onHeld(): void {
    this.held.inc();
  }

  onConnectionRefused(why: string): void {
    increment(this.refusedConnections, why);
  }

  onConnectionEvicted(why: string): void {
    increment(this.evictedConnections, why);
  }

  measureConnections(connections: { readonly size: number }): void {
    gauged(
      this.registry,
      "perpgate_http_connections_open",
      "Open connections, sockets included.",
      () => connections.size,
    );
  }
}

/**
 * Counts Fastify's responses, and serves `/metrics` on the main port to loopback clients only;
 * `metrics-server.ts` serves all others.
 */
export function serveMetrics(
  app: FastifyInstance,
  metrics: RequestMetrics,
  text: MetricsPage,
  addressLimits: AddressLimits,
): void {
  app.addHook("onResponse", (request, reply, done) => {
    const route = request.is404 ? "unknown" : (request.routeOptions.url ?? "unknown");
    metrics.onAnswered(route, request.method, reply.statusCode, reply.elapsedTime);
    done();
  });
  app.addHook("onRequestAbort", async (_request) => metrics.onAborted());

  app.get("/metrics", async (request, reply) => {
    const { address, header } = new RequestClient(request, reply);
    addressLimits.takeRead(address, header);
    if (!isThisMachine(request)) throw new ApiError("not_found", { path: "/metrics" });
    void reply.header("content-type", text.contentType);
    return text.read();
  });
}

/** A loopback peer without forwarding headers. */
function isThisMachine({ headers, socket }: FastifyRequest): boolean {
  return LOOPBACK.test(socket.remoteAddress ?? "") && !isForwarded(headers);
}

const LOOPBACK = /^(?:::1|(?:::ffff:)?127(?:\.\d{1,3}){3})$/;
