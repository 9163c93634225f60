/** What Prometheus reads from this gateway; labels are operations and statuses, never clients. */

import type { FastifyInstance } from "fastify";
import { Counter, Histogram, type Registry } from "prom-client";

/** What is counted of every request, by whichever way it is answered. */
export class RequestMetrics {
  private readonly durations;
  private readonly aborted;
  private readonly handedOver;

  constructor(readonly registry: Registry) {
    this.durations = new Histogram({
      name: "perpgate_http_request_seconds",
      help: "Time from the first byte of a request to the last of its answer.",
      labelNames: ["route", "method", "status"],
      buckets: [0.0005, 0.001, 0.002, 0.005, 0.01, 0.05, 0.25, 1, 5],
      registers: [registry],
    });
    this.aborted = new Counter({
      name: "perpgate_http_requests_aborted_total",
      help: "Requests whose client went away before the answer.",
      registers: [registry],
    });
    this.handedOver = new Counter({
      name: "perpgate_http_connections_handed_over_total",
      help: "Connections that left the front for Node's parser with their first unusual bytes.",
      registers: [registry],
    });
  }

  /** `route` is the pattern and not the path: a value per symbol or id would never stop growing. */
  onAnswered(route: string, method: string, status: number, elapsedMs: number): void {
    this.durations.observe({ route, method, status }, elapsedMs / 1_000);
  }

  onAborted(): void {
    this.aborted.inc();
  }

  onHandedOver(): void {
    this.handedOver.inc();
  }
}

export function serveMetrics(app: FastifyInstance, metrics: RequestMetrics): void {
  const { registry } = metrics;
  app.addHook("onResponse", (request, reply, done) => {
    const route = request.is404 ? "unknown" : (request.routeOptions.url ?? "unknown");
    metrics.onAnswered(route, request.method, reply.statusCode, reply.elapsedTime);
    done();
  });
  app.addHook("onRequestAbort", async (_request) => metrics.onAborted());

  app.get("/metrics", async (_request, reply) => {
    void reply.header("content-type", registry.contentType);
    return registry.metrics();
  });
}
