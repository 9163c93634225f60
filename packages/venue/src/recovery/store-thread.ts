/** The thread that makes the store's rows; it ends when it has failed or was closed. */
import { parentPort, workerData } from "node:worker_threads";
import { ExitDeadline } from "@perpgate/journal";
import { lowerPriority } from "@perpgate/journal/worker";
import {
  type FollowerData,
  type FromFollower,
  StoreFollower,
  type ToFollower,
} from "./store-follower.js";

/** Orders come before the past. Still gets about a seventh of a core when other threads want all of them. */
const NICENESS = 5;

function run(data: FollowerData, post: (message: FromFollower) => void): void {
  const follower = new StoreFollower(data, (message) => {
    // Before the message: the main thread may be blocked and never read it.
    if (message.kind === "failed" && data.exitDeadline !== undefined) {
      new ExitDeadline(data.exitDeadline).fail(message.message);
    }
    post(message);
  });
  parentPort?.on("message", (message: ToFollower) => follower.take(message));
  void follower.run().finally(() => parentPort?.close());
}

lowerPriority(NICENESS);
run(workerData, (message) => {
  parentPort?.postMessage(message, message.kind === "made" ? [message.bytes.buffer] : []);
});
