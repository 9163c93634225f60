/**
 * The edges of a venue: processes that share the listening socket, each accepting for itself
 * (`node:cluster`, `SCHED_NONE`). One that ends is started again, with a pause that grows; one that hangs
 * is killed, so that the system closes its clients' sockets and they go on at another.
 */

import type { ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { gauged, summedBy } from "@perpgate/gateway/metrics";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { forkEdge } from "./forked.js";
import type { EdgeData, FromEdge, ToEdge } from "./messages.js";
import { SupervisedProcess } from "./supervised-process.js";

interface EdgesOptions {
  /** Begun, and waiting for their data. */
  readonly forked: readonly ChildProcess[];
  readonly data: Omit<EdgeData, "name">;
  readonly log: Logger;
  /** Collects the metrics of all processes; undefined if that fails. */
  readonly metricsPage: () => Promise<string | undefined>;
  /** An edge could not listen at the start, or ended before. */
  readonly onFailedStart: (text: string, exitCode: number) => void;
}

interface Edge {
  readonly process: SupervisedProcess<ToEdge, FromEdge>;
  readonly startedAtMs: number;
  readonly hangWatch: HangWatch;
  isListening: boolean;
}

export class Edges {
  /** Resolves with the address once all listen. */
  readonly listening: Promise<string>;
  /** Started again since the start, by name. */
  readonly restarts = new Map<string, number>();
  private readonly edges = new Map<string, Edge>();
  private readonly restartPauses = new Map<string, RestartPause>();
  private readonly pauses = new Set<NodeJS.Timeout>();
  private readonly pings: NodeJS.Timeout;
  private port: number;
  private folder: string | undefined;
  private url: string | undefined;
  private isStopping = false;
  private onListening: (url: string) => void = () => undefined;

  constructor(private readonly options: EdgesOptions) {
    this.port = options.data.settings.port;
    this.listening = new Promise((resolve) => {
      this.onListening = resolve;
    });
    for (const [at, child] of options.forked.entries()) {
      this.restarts.set(`edge-${at + 1}`, 0);
      this.start(`edge-${at + 1}`, child);
    }
    this.pings = setInterval(() => this.ping(), PING_MS);
    this.pings.unref();
  }

  /** How many accept clients. */
  get running(): number {
    return [...this.edges.values()].filter(({ isListening }) => isListening).length;
  }

  /** The core that listens in the folder is ready. */
  connect(folder: string): void {
    this.folder = folder;
    for (const { process } of this.edges.values()) process.send({ kind: "connect", folder });
  }

  /** The metrics of each edge that answers. */
  async metrics(): Promise<readonly string[]> {
    const texts = await Promise.all(
      [...this.edges.values()].map(({ process }) => process.metrics()),
    );
    return texts.filter((text) => text !== undefined);
  }

  /** Resolves once all have answered their requests in flight and ended; those that have not are killed. */
  async stop(withinMs: number): Promise<void> {
    this.beginStop();
    const all = [...this.edges.values()];
    for (const { process } of all) process.send({ kind: "stop" });
    await Promise.all(all.map(({ process }) => process.endedWithin(withinMs)));
  }

  /** Their core has ended: resolves once all have refused what is left, and ended. */
  async coreEnded(withinMs: number): Promise<void> {
    this.beginStop();
    const all = [...this.edges.values()];
    for (const { process, isListening } of all) {
      if (isListening) process.send({ kind: "coreEnded" });
      else process.kill();
    }
    await Promise.all(all.map(({ process }) => process.endedWithin(withinMs)));
  }

  private beginStop(): void {
    this.isStopping = true;
    clearInterval(this.pings);
    for (const pause of this.pauses) clearTimeout(pause);
  }

  private start(name: string, child: ChildProcess): void {
    const { data } = this.options;
    const edge: Edge = {
      process: new SupervisedProcess<ToEdge, FromEdge>(
        name,
        child,
        { ...data, name, settings: { ...data.settings, port: this.port } },
        (message) => this.receive(edge, message),
      ),
      startedAtMs: performance.now(),
      hangWatch: new HangWatch(() => processorQueueMs(child.pid)),
      isListening: false,
    };
    this.edges.set(name, edge);
    if (this.folder !== undefined) edge.process.send({ kind: "connect", folder: this.folder });
    void edge.process.ended.then(({ code, signal }) => this.onEnd(edge, signal ?? `code ${code}`));
  }

  private receive(edge: Edge, message: FromEdge): void {
    switch (message.kind) {
      case "pong":
        edge.hangWatch.answered();
        return;
      case "page":
        void this.answerPage(edge, message.id);
        return;
      case "listening":
        this.onEdgeListening(edge, message.url);
        return;
      case "failed":
        if (this.url === undefined) this.options.onFailedStart(message.text, message.exitCode);
        else this.options.log.error({ edge: edge.process.name }, message.text.trimEnd());
        return;
      default:
    }
  }

  private async answerPage({ process }: Edge, id: number): Promise<void> {
    const text = await this.options.metricsPage();
    process.send({ kind: "page", id, ...(text === undefined ? {} : { text }) });
  }

  private onEdgeListening(edge: Edge, url: string): void {
    edge.isListening = true;
    if (this.url !== undefined || this.running < this.options.forked.length) return;
    this.url = url;
    this.onListening(url);
  }

  private onEnd({ process: { name }, startedAtMs }: Edge, how: string): void {
    this.edges.delete(name);
    if (this.isStopping) return;
    if (this.url === undefined) {
      this.options.onFailedStart(`perpgate: ${name} ended with ${how} before it listened\n`, 1);
      return;
    }
    // While another edge has it, the socket is known by the port that was asked for.
    if (this.port === 0 && this.edges.size === 0) this.port = Number(new URL(this.url).port);
    const restartPause = this.restartPauses.get(name) ?? new RestartPause();
    this.restartPauses.set(name, restartPause);
    this.restarts.set(name, (this.restarts.get(name) ?? 0) + 1);
    const pauseMs = restartPause.nextMs(performance.now() - startedAtMs);
    this.options.log.warn({ edge: name, how, pauseMs }, "an edge has ended; it is started again");
    const pause = setTimeout(() => {
      this.pauses.delete(pause);
      this.start(name, forkEdge());
    }, pauseMs);
    this.pauses.add(pause);
  }

  private ping(): void {
    for (const edge of this.edges.values()) {
      if (edge.hangWatch.tick(edge.isListening ? LOST_PINGS : LOST_PINGS_AT_START)) {
        this.options.log.warn({ edge: edge.process.name }, "an edge does not answer; it is killed");
        edge.process.kill();
      }
      edge.process.send({ kind: "ping" });
    }
  }
}

/** Own ticks, not time: a supervisor that was stopped counts one. */
export const PING_MS = 500;
const LOST_PINGS = 4;
/** Until it listens: it reads its program, perhaps from a cold disk, and answers nothing meanwhile. */
const LOST_PINGS_AT_START = 30;

/**
 * Whether a process that is pinged hangs. An edge under attack on a machine whose processors are all busy
 * may need seconds for a turn of its event loop, most of them in the queue for a processor. It is at work,
 * and killing it would end all of its clients' connections: that time does not count. A stopped process is
 * in no queue.
 */
export class HangWatch {
  private unansweredMs = 0;
  private isAnswered = true;
  private queuedMs = 0;

  /** `queuedMs`: how long the process has waited for a processor so far. */
  constructor(private readonly readQueuedMs: () => number) {}

  /** A ping was answered. */
  answered(): void {
    this.isAnswered = true;
    this.unansweredMs = 0;
  }

  /** Must be called every `PING_MS`, before the next ping; returns whether the process has hung for so many. */
  tick(lostPings = LOST_PINGS): boolean {
    const before = this.queuedMs;
    this.queuedMs = this.readQueuedMs();
    if (!this.isAnswered) this.unansweredMs += Math.max(0, PING_MS - (this.queuedMs - before));
    this.isAnswered = false;
    return this.unansweredMs >= lostPings * PING_MS;
  }
}

/** How long the main thread has waited for a processor; 0 where the system does not tell, as off Linux. */
export function processorQueueMs(pid: number | undefined): number {
  try {
    const [, queuedNs] = readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ");
    return Number(queuedNs) / 1e6 || 0;
  } catch {
    return 0;
  }
}

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 10_000;
/** A process that ran this long resets the pause. */
const RESET_AFTER_MS = 60_000;

/** Between the end of a process and its next start: it grows, unless the process has run for long. */
export class RestartPause {
  private failures = 0;

  /** After a process that ran for so long. */
  nextMs(ranMs: number): number {
    if (ranMs > RESET_AFTER_MS) this.failures = 0;
    return Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.failures++);
  }
}

export function measureEdges(registry: Registry, edges: Edges): void {
  gauged(registry, "perpgate_edges_listening", "Edges that accept clients.", () => edges.running);
  summedBy(
    registry,
    "perpgate_edge_restarts_total",
    "Edges that ended and were started again.",
    "edge",
    () => edges.restarts,
  );
}
