/** Edges whose cores are on other machines: started, started again, and ended together. */

import type { ChildProcess } from "node:child_process";
import { MetricsText, mergedMetrics } from "@perpgate/gateway/metrics";
import { Registry } from "prom-client";
import { writeError } from "../exit/write-error.js";
import type { OwnProcess } from "../process-metrics.js";
import { Edges } from "./edges.js";
import { measureEdges } from "./measure-edges.js";
import type { EdgeData } from "./messages.js";

/** Past the time that requests in flight have. */
const SLACK_MS = 5_000;

export class EdgeSupervisor {
  /** Of all processes. */
  readonly metricsText: MetricsText;
  private readonly edges: Edges;
  private isStopping = false;

  constructor(
    forked: readonly ChildProcess[],
    data: Omit<EdgeData, "name">,
    { log, metrics }: OwnProcess,
  ) {
    this.metricsText = new MetricsText({
      contentType: Registry.PROMETHEUS_CONTENT_TYPE,
      metrics: async () =>
        mergedMetrics([...(await this.edges.metrics()), await metrics.metrics()]),
    });
    this.edges = new Edges({
      forked,
      data,
      log,
      metricsPage: () => this.metricsText.read().then(String, () => undefined),
      onFailedStart: (text, exitCode) => {
        writeError(text);
        void this.stop(data.settings.http.drainGraceMs, exitCode);
      },
    });
    measureEdges(metrics, this.edges);
  }

  /** Resolves with the address once all listen, which they do once a core leads. */
  get listening(): Promise<string> {
    return this.edges.listening;
  }

  /** Ends the process once the requests in flight are answered. */
  async stop(graceMs: number, exitCode = 0): Promise<void> {
    if (this.isStopping) return;
    this.isStopping = true;
    await this.edges.stop(graceMs + SLACK_MS);
    process.exit(exitCode);
  }
}
