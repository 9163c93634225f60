/** The thread that writes the history; see store-writer.ts. */
import { parentPort, workerData } from "node:worker_threads";
import { lowerPriority } from "@perpgate/journal/worker";
import type { ThreadData, ToWriter } from "./messages.js";
import { StoreWriter } from "./store-writer.js";

/** Still gets about a seventh of a core when other threads want all of them. */
const NICENESS = 5;

function run(data: ThreadData, port: NonNullable<typeof parentPort>): void {
  const writer = new StoreWriter(data, (message) => port.postMessage(message));
  port.on("message", (message: ToWriter) => {
    writer.take(message);
    if (message.kind === "close") port.close();
  });
}

if (parentPort !== null) {
  lowerPriority(NICENESS);
  run(workerData, parentPort);
}
