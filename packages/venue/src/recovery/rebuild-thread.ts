/** The thread that rebuilds the store; it ends when it has finished, failed or was closed. */
import { parentPort, workerData } from "node:worker_threads";
import { ExitDeadline } from "@perpgate/journal";
import { lowerPriority } from "@perpgate/journal/worker";
import { type FromRebuild, Rebuild, type RebuildData, type ToRebuild } from "./rebuild.js";

/** Orders come before the past. */
const NICENESS = 10;

function run(data: RebuildData, post: (message: FromRebuild) => void): void {
  const rebuild = new Rebuild(data, (message) => {
    // Before the message: the main thread may be blocked and never read it.
    if (message.kind === "failed" && data.exitDeadline !== undefined) {
      new ExitDeadline(data.exitDeadline).fail(`the history cannot be rebuilt: ${message.message}`);
    }
    post(message);
  });
  parentPort?.on("message", (message: ToRebuild) => rebuild.take(message));
  void rebuild.run().finally(() => parentPort?.close());
}

lowerPriority(NICENESS);
run(workerData, (message) => parentPort?.postMessage(message));
