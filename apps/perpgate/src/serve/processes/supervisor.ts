/**
 * The processes of a venue: a core and its edges, started together. The edges end with the core, and so
 * does the supervisor, the way the core has: with its exit code, or by the same signal. An orderly stop
 * ends the edges first.
 *
 * With other cores a core that was killed is started again: the edges keep their clients, and go on with
 * the core that leads. One that ends by itself has said why, and ends the others as above.
 */

import type { ChildProcess } from "node:child_process";
import { MetricsText, mergedMetrics, summed } from "@perpgate/gateway/metrics";
import type { Logger } from "pino";
import { Registry } from "prom-client";
import { writeError } from "../exit/write-error.js";
import type { OwnProcess } from "../process-metrics.js";
import { Edges, measureEdges, RestartPause } from "./edges.js";
import { type ForkedVenue, forkCore } from "./forked.js";
import type { CoreData, CoreFacts, EdgeData, FromCore, ToCore } from "./messages.js";
import { type Ending, SupervisedProcess } from "./supervised-process.js";

/** For all of a stop except the requests in flight: bots, attestors, history, log. */
const CLOSE_MS = 10_000;
/** Past the limit that a process has, for it to say so and end. */
const SLACK_MS = 5_000;
/** For edges to answer what the core has left, and end. */
const FAILURE_MS = 2_000;
const RESTARTS_HELP = "Times that the core was killed and started again, while other cores lead.";

/** What they begin with. */
interface Beginnings {
  readonly core: CoreData;
  readonly edge: Omit<EdgeData, "name">;
}

export interface Started extends CoreFacts {
  readonly url: string;
}

export class Supervisor {
  /** Of all processes. */
  readonly metricsText: MetricsText;
  /** Whether the core joined before the others of its cluster that run. */
  isFirst = false;
  private core: SupervisedProcess<ToCore, FromCore>;
  private coreStartedAtMs = 0;
  /** Whether the core that runs is ready. */
  private isReady = false;
  private coreRestarts = 0;
  private readonly corePause = new RestartPause();
  /** While no core runs: its next start. */
  private restart: NodeJS.Timeout | undefined;
  private readonly hasOtherCores: boolean;
  private readonly edges: Edges;
  private readonly log: Logger;
  private readonly drainGraceMs: number;
  private facts: CoreFacts | undefined;
  private onReady: (facts: CoreFacts) => void = () => undefined;
  private readonly ready = new Promise<CoreFacts>((resolve) => {
    this.onReady = resolve;
  });
  private failedWith: number | undefined;
  private isStopping = false;
  /** Resolves once what uses the edges as a client has stopped. */
  private beforeEdges: () => Promise<void> = async () => undefined;

  constructor(
    forked: ForkedVenue,
    private readonly beginnings: Beginnings,
    { log, metrics }: OwnProcess,
  ) {
    const { core, edge } = beginnings;
    this.log = log;
    this.drainGraceMs = core.settings.http.drainGraceMs;
    this.hasOtherCores = edge.cores !== undefined;
    this.core = this.startCore(forked.core, core);
    this.edges = new Edges({
      forked: forked.edges,
      data: edge,
      log,
      metricsPage: () => this.metricsText.read().then(String, () => undefined),
      onFailedStart: (text, exitCode) => this.fail(text, exitCode),
    });
    measureEdges(metrics, this.edges);
    summed(metrics, "perpgate_core_restarts_total", RESTARTS_HELP, () => this.coreRestarts);
    this.metricsText = new MetricsText({
      contentType: Registry.PROMETHEUS_CONTENT_TYPE,
      metrics: () => this.metricsOfAll(metrics),
    });
  }

  /** Resolves once the edges listen; a start that fails ends this process. */
  async started(): Promise<Started> {
    const [facts, url] = await Promise.all([this.ready, this.edges.listening]);
    return { ...facts, url };
  }

  /** `stop` runs before the edges end; it uses them. */
  stopFirst(stop: (withinMs: number) => Promise<void>): void {
    this.beforeEdges = () => stop(this.drainGraceMs);
  }

  /** Ends the process with this reason, after an orderly stop of the others. */
  fail(text: string, exitCode: number): void {
    if (this.failedWith !== undefined) return;
    this.failedWith = exitCode;
    writeError(text);
    this.stop();
  }

  /** The edges answer the requests in flight, then the core ends, then this process. */
  stop(): void {
    if (this.isStopping) return;
    this.isStopping = true;
    if (this.restart !== undefined) {
      clearTimeout(this.restart);
      void this.stopEdges().then(() => process.exit(this.failedWith ?? 0));
      return;
    }
    const withinMs = this.drainGraceMs + CLOSE_MS;
    // It knows its limit from the beginning, and says so if it passes.
    this.core.send({ kind: "stop", withinMs });
    void this.core.endedWithin(withinMs + SLACK_MS);
    void this.stopEdges();
  }

  private async stopEdges(): Promise<void> {
    await this.beforeEdges();
    await this.edges.stop(this.drainGraceMs + SLACK_MS);
    this.core.send({ kind: "edgesEnded" });
  }

  private startCore(child: ChildProcess, data: CoreData): SupervisedProcess<ToCore, FromCore> {
    this.coreStartedAtMs = performance.now();
    const core = new SupervisedProcess<ToCore, FromCore>("core", child, data, (message) =>
      this.receive(message),
    );
    void core.ended.then((ending) => this.onCoreEnd(ending));
    return core;
  }

  private receive(message: FromCore): void {
    switch (message.kind) {
      case "ready":
        this.isReady = true;
        this.facts = message.facts;
        if (!this.isStopping) this.edges.connect(message.facts.dataFolder);
        this.onReady(message.facts);
        return;
      case "first":
        this.isFirst = message.isFirst;
        return;
      case "leave":
        this.stop();
        return;
      default:
    }
  }

  private async onCoreEnd(ending: Ending): Promise<void> {
    if (this.goesOnWithout(ending)) {
      this.startCoreAgain(ending);
      return;
    }
    await this.edges.coreEnded(FAILURE_MS);
    if (this.failedWith !== undefined) process.exit(this.failedWith);
    const { code, signal } = this.isStartStopped(ending) ? { code: 0, signal: null } : ending;
    if (signal !== null) endBy(signal);
    if (code === 0 && this.isReady) this.log.info("drained");
    process.exit(code ?? 1);
  }

  private goesOnWithout({ signal }: Ending): boolean {
    const wasEverReady = this.facts !== undefined;
    return this.hasOtherCores && wasEverReady && signal !== null && !this.isStopping;
  }

  private startCoreAgain({ signal }: Ending): void {
    this.isFirst = false;
    this.isReady = false;
    this.coreRestarts++;
    const pauseMs = this.corePause.nextMs(performance.now() - this.coreStartedAtMs);
    this.log.warn({ signal, pauseMs }, "the core was killed; it is started again");
    const { core } = this.beginnings;
    this.restart = setTimeout(() => {
      this.restart = undefined;
      // What the operator has accepted was for the first start.
      this.core = this.startCore(forkCore(), { ...core, accepted: { loss: false, clock: false } });
    }, pauseMs);
  }

  /** A signal to all processes can end a core that has not begun to take signals. */
  private isStartStopped({ signal }: Ending): boolean {
    const isStop = signal === "SIGTERM" || signal === "SIGINT";
    return this.isStopping && !this.isReady && isStop;
  }

  private async metricsOfAll(own: Registry): Promise<string> {
    const [core, edges, text] = await Promise.all([
      this.core.metrics(),
      this.edges.metrics(),
      own.metrics(),
    ]);
    if (core === undefined) throw new Error("the core does not answer");
    return mergedMetrics([core, ...edges, text]);
  }
}

function endBy(signal: NodeJS.Signals): void {
  writeError(`perpgate: the core was ended by ${signal}\n`);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}
