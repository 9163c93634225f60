/** What Prometheus reads from this gateway; labels are operations and statuses, never clients. */

import type { FastifyInstance } from "fastify";
import { Counter, Histogram, type Registry } from "prom-client";

export function serveMetrics(app: FastifyInstance, registry: Registry): void {
  const durations = new Histogram({
    name: "perpgate_http_request_seconds",
    help: "Time from the first byte of a request to the last of its answer.",
    labelNames: ["route", "method", "status"],
    buckets: [0.0005, 0.001, 0.002, 0.005, 0.01, 0.05, 0.25, 1, 5],
    registers: [registry],
  });
  const aborted = new Counter({
    name: "perpgate_http_requests_aborted_total",
    help: "Requests whose client went away before the answer.",
    registers: [registry],
  });

  app.addHook("onResponse", (request, reply, done) => {
    // The pattern and not the path: a label value per symbol or id would never stop growing.
    const route = request.is404 ? "unknown" : (request.routeOptions.url ?? "unknown");
    durations.observe(
      { route, method: request.method, status: reply.statusCode },
      reply.elapsedTime / 1000,
    );
    done();
  });
  app.addHook("onRequestAbort", async (_request) => aborted.inc());

  app.get("/metrics", async (_request, reply) => {
    void reply.header("content-type", registry.contentType);
    return registry.metrics();
  });
}
