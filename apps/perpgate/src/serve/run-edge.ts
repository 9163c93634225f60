/** `perpgate edge`: edges for cores on other machines, until SIGTERM or SIGINT. */

import type { ChildProcess } from "node:child_process";
import { MetricsText, mergedMetrics } from "@perpgate/gateway/metrics";
import { getMarkets } from "@perpgate/protocol/operations";
import { Registry } from "prom-client";
import { StartError } from "../cli/start-error.js";
import { readVersion } from "../version.js";
import { readConfiguration } from "./configuration.js";
import { writeError } from "./exit/write-error.js";
import { coresOf, linkIdentityOf, placeText } from "./link-settings.js";
import { listenForMetrics } from "./metrics-listener.js";
import { flagSettings, type ServeOptions } from "./options.js";
import { pageFolderOf } from "./page-folder.js";
import { refuseTakenPorts } from "./ports.js";
import { type OwnProcess, openProcess } from "./process-metrics.js";
import { Edges, measureEdges } from "./processes/edges.js";
import { forkEdges } from "./processes/forked.js";
import type { EdgeData } from "./processes/messages.js";
import { edgesOf } from "./run.js";
import { isLoopback, nonceKeyOf, signInRulesOf } from "./sign-in-settings.js";
import { onStopSignal } from "./stop-signals.js";

export interface EdgeOptions extends ServeOptions {
  readonly core?: string;
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

export async function runEdge({ core, ca, cert, key, ...options }: EdgeOptions): Promise<void> {
  const tls = { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) };
  const link = { ...(core && { cores: core.split(",").map((each) => each.trim()) }), tls };
  const settings = readConfiguration({ ...flagSettings(options), link }, process.env);
  const cores = { places: coresOf(settings), identity: linkIdentityOf(settings) };
  if (cores.places.length === 0) {
    throw new StartError("no core is given: --core HOST:PORT, or link.cores in the file");
  }
  const version = readVersion();
  const data = {
    settings,
    version,
    signIn: signInRulesOf(settings, depositsOf(cores)),
    nonceKey: nonceKeyOf(settings),
    page: pageFolderOf(settings),
    cores,
    hasOwnCore: false,
  };
  await refuseTakenPorts(settings);
  const own = openProcess("supervisor", settings.logLevel);
  const supervisor = new EdgeSupervisor(forkEdges(edgesOf(settings)), data, own);
  const stop = (exitCode?: number) => supervisor.stop(settings.http.drainGraceMs, exitCode);
  onStopSignal(() => void stop());
  const url = await supervisor.listening;
  const metrics = await listenForMetrics(settings, supervisor.metricsText, own.log);
  const lines = [
    `Perpgate ${version} — edge of ${cores.places.map(placeText).join(", ")}`,
    `  interface  ${url}${getMarkets.path}`,
    ...(settings.region === undefined ? [] : [`  region     ${settings.region}`]),
    ...(metrics === undefined ? [] : [`  metrics    ${metrics.url}`]),
  ];
  process.stdout.write(`${lines.join("\n")}\n`);
}

/** What the venue credits is not known here: as if it were money, unless all is on this machine. */
function depositsOf({ places }: { readonly places: readonly { readonly host: string }[] }) {
  return places.every(({ host }) => isLoopback(host)) ? "dev" : "chain";
}

/** Past the time that requests in flight have. */
const SLACK_MS = 5_000;

/** Edges whose cores are on other machines: started, started again, and ended together. */
class EdgeSupervisor {
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
