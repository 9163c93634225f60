/**
 * The venue's side of the attestors' thread: answers its questions from the port, in parts so that
 * no thousand deposits hold up an order, and tells the observer what it noticed. A thread that ends
 * by itself loses nothing (an attestor keeps nothing), so it is started again after a pause.
 */

import { setImmediate as nextTurn } from "node:timers/promises";
import type { Worker } from "node:worker_threads";
import { startWorker, stopWorker, type WorkerThread } from "@perpgate/journal/worker";
import type { BridgeSurroundings } from "../attest/bridge.js";
import type { ChainBridgeConfig } from "../config/bridge-config.js";
import type { DepositPort } from "../venue-port.js";
import type { AnswerRows, FromThread, Question, ThreadData, ToThread } from "./messages.js";

export interface BridgeThreadParts extends Omit<BridgeSurroundings, "uniform"> {
  readonly config: ChainBridgeConfig;
  /** The hash of the venue's Genesis. */
  readonly venueId: string;
  /** The thread has checked the signatures of what it submits. */
  readonly port: DepositPort;
  /** The thread ended by itself; another one follows. */
  readonly onEnded: (error: Error) => void;
}

const ROWS_AT_A_TIME = 64;
const RESTART_AFTER_MS = 5_000;
/** A thread that does not let go by then is ended: what it had to say is said again later. */
const STOP_WITHIN_MS = 5_000;

export class BridgeThread {
  private thread: WorkerThread | undefined;
  private restart: NodeJS.Timeout | undefined;
  private isStopping = false;

  constructor(private readonly parts: BridgeThreadParts) {}

  start(): void {
    if (this.thread !== undefined) return;
    const { config, venueId, clock } = this.parts;
    const chains = config.chains.map(({ dialect: _, ...chain }) => chain);
    const workerData: ThreadData = { ...config, chains, venueId, nowMs: clock() };
    const thread = startWorker("attestor", "./attestor-thread.js", import.meta.url, { workerData });
    const { worker, exited } = thread;
    this.thread = thread;
    worker.on("message", (message: FromThread) => this.onMessage(worker, message));
    void exited.then((reason) => this.onExit(reason));
    // The venue's own work keeps the process alive, not this.
    worker.unref();
  }

  /** Votes in flight are answered; then no thread is left. */
  async stop(): Promise<void> {
    this.isStopping = true;
    clearTimeout(this.restart);
    if (this.thread === undefined) return;
    const message: ToThread = { kind: "stop" };
    await stopWorker(this.thread, message, STOP_WITHIN_MS);
  }

  private onExit(reason: Error): void {
    this.thread = undefined;
    if (this.isStopping) return;
    this.parts.onEnded(reason);
    this.restart = setTimeout(() => this.start(), RESTART_AFTER_MS);
    this.restart.unref();
  }

  private onMessage(worker: Worker, message: FromThread): void {
    if (message.kind === "event") this.parts.observe(message.event);
    else void this.answer(worker, message.id, message.question);
  }

  private async answer(worker: Worker, id: number, question: Question): Promise<void> {
    try {
      const { rows, next } = await this.pageOf(question);
      for (let at = 0; ; at += ROWS_AT_A_TIME) {
        const isLast = at + ROWS_AT_A_TIME >= rows.length;
        const part = rows.slice(at, at + ROWS_AT_A_TIME);
        tell(worker, { kind: "answer", id, rows: part, isLast, next, nowMs: this.parts.clock() });
        if (isLast) return;
        await nextTurn();
      }
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      tell(worker, { kind: "failure", id, message: text });
    }
  }

  private async pageOf(question: Question): Promise<{ rows: AnswerRows; next: number | null }> {
    const { port } = this.parts;
    switch (question.kind) {
      case "pending": {
        const { chain, attestor, order, after } = question;
        return port.pending(chain, attestor, order, after);
      }
      case "credited": {
        const { chain, attestor, sinceMs, after } = question;
        return port.credited(chain, attestor, sinceMs, after);
      }
      case "submit":
        return { rows: await port.submit(question.votes), next: null };
    }
  }
}

function tell(worker: Worker, message: ToThread): void {
  worker.postMessage(message);
}
