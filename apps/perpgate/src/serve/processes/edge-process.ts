/**
 * An edge's process: HTTP, sockets and the page, over links to cores, started by the supervisor. It ends
 * with the supervisor, and when that says that the core has ended.
 */

import { connectToCore, type RoutedCore } from "@perpgate/link";
import { StartError } from "../../cli/start-error.js";
import type { RunningEdge } from "../edge.js";
import { stackOf, writeError, writeStack } from "../exit/write-error.js";
import { routedTo } from "../link-settings.js";
import type { EdgeData, FromEdge, ToEdge } from "./messages.js";
import { runSupervised } from "./supervised.js";

/** For the last answers to be sent. */
const FAILURE_GRACE_MS = 1_000;
/** Then whatever hangs is left. */
const FAILURE_MS = 1_500;

class EdgeProcess {
  private running: RunningEdge | undefined;
  private isEnding = false;
  private readonly pages = new Map<number, (text: string | undefined) => void>();
  private lastPage = 0;
  private onFolder: (folder: string) => void = () => undefined;
  private readonly folder = new Promise<string>((resolve) => {
    this.onFolder = resolve;
  });

  constructor(
    private readonly data: EdgeData,
    private readonly send: (message: FromEdge) => void,
  ) {
    // Unhandled rejections arrive here too.
    process.on("uncaughtException", (error) => this.fail(error));
    this.run().catch((error) => this.fail(error));
  }

  receive(message: ToEdge): void {
    switch (message.kind) {
      case "connect":
        this.onFolder(message.folder);
        return;
      case "coreEnded":
        if (!this.isEnding) this.end();
        return;
      case "ping":
        this.send({ kind: "pong" });
        return;
      case "stop":
        void this.stop();
        return;
      case "page":
        this.pages.get(message.id)?.(message.text);
        this.pages.delete(message.id);
        return;
      case "metrics":
        void this.sendMetrics(message.id);
    }
  }

  private async run(): Promise<void> {
    const { startEdge } = await loaded;
    const edge = await startEdge(
      { ...this.data, routed: this.routed() },
      () => this.page(),
      (error) => this.fail(error),
    );
    this.running = edge;
    this.send({ kind: "listening", url: edge.url });
  }

  private routed(): readonly RoutedCore[] {
    const { cores, hasOwnCore } = this.data;
    const own = { name: "core", connect: () => this.folder.then(connectToCore) };
    return [...(hasOwnCore ? [own] : []), ...(cores === undefined ? [] : routedTo(cores))];
  }

  /** The metrics of all processes. */
  private async page(): Promise<Buffer> {
    const id = ++this.lastPage;
    const text = await new Promise<string | undefined>((resolve) => {
      this.pages.set(id, resolve);
      this.send({ kind: "page", id });
    });
    if (text === undefined) throw new Error("the core's metrics could not be read");
    return Buffer.from(text);
  }

  private async sendMetrics(id: number): Promise<void> {
    const text = await this.running?.metrics().catch(writeStack);
    this.send({ kind: "metrics", id, ...(typeof text === "string" ? { text } : {}) });
  }

  /** Answers the requests in flight first. */
  private async stop(): Promise<void> {
    if (this.isEnding) return;
    this.isEnding = true;
    await this.running?.drain().catch(writeStack);
    // In the next turn the link has sent why it ends.
    setImmediate(() => setImmediate(() => process.exit(0)));
  }

  private fail(error: unknown): void {
    if (this.isEnding) return;
    const text = error instanceof StartError ? error.text : `${stackOf(error)}\n`;
    const exitCode = error instanceof StartError ? error.exitCode : 1;
    if (this.running === undefined) this.send({ kind: "failed", text, exitCode });
    else writeError(text);
    this.end();
  }

  private end(): void {
    this.isEnding = true;
    setTimeout(() => process.exit(1), FAILURE_MS);
    const drained = this.running?.cut(FAILURE_GRACE_MS) ?? Promise.resolve();
    // Not immediately: the channel sends the last message in a later turn.
    drained.catch(() => undefined).then(() => setImmediate(() => process.exit(1)));
  }
}

runSupervised<EdgeData, ToEdge, FromEdge>((data, send) => {
  const edge = new EdgeProcess(data, send);
  return {
    receive: (message) => edge.receive(message),
    lost: () => process.exit(1),
  };
});

/** Before the first message. */
const loaded = import("../edge.js");
