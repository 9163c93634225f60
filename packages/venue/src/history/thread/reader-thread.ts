/** The thread that reads the store for reads of the past; see store-reader.ts. */
import { parentPort, workerData } from "node:worker_threads";
import { lowerPriority } from "@perpgate/journal/worker";
import { type FetchAnswer, type FetchRequest, RowFetch } from "./row-fetch.js";

/** Orders come before the past. */
const NICENESS = 5;

function run(directory: string, post: (answer: FetchAnswer | "closed") => void): void {
  const rows = new RowFetch(directory);
  parentPort?.on("message", (request: FetchRequest | "close") => {
    if (request !== "close") {
      post(rows.take(request));
      return;
    }
    rows.close();
    post("closed");
    parentPort?.close();
  });
}

lowerPriority(NICENESS);
run(workerData, (answer) => {
  const hasRows = answer !== "closed" && answer.failure === undefined;
  parentPort?.postMessage(answer, hasRows ? [answer.bytes.buffer] : []);
});
