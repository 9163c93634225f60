/** The attestors' thread: polls, parses receipts and signs votes at a low priority, off the order path. */

import { setPriority } from "node:os";
import { parentPort, workerData } from "node:worker_threads";
import { Bridge } from "../attest/bridge.js";
import { dialectOf } from "../config/chain-config.js";
import type { FromThread, ThreadData, ToThread } from "./messages.js";
import { ThreadPort } from "./thread-port.js";

const LOW_PRIORITY = 10;

function run(data: ThreadData): void {
  const send = (message: FromThread): void => parentPort?.postMessage(message);
  const port = new ThreadPort(send, data);
  const chains = data.chains.map((chain) => ({ ...chain, dialect: dialectOf(chain.chain) }));
  const bridge = new Bridge({ ...data, chains }, port, {
    clock: () => port.nowMs(),
    observe: (event) => send({ kind: "event", event }),
  });
  parentPort?.on("message", (message: ToThread) => {
    if (message.kind !== "stop") port.onMessage(message);
    else void bridge.stop().finally(() => parentPort?.close());
  });
  bridge.start();
}

// On Linux this affects the thread only; elsewhere it would slow down the whole process.
if (process.platform === "linux") {
  try {
    setPriority(LOW_PRIORITY);
  } catch {
    // The priority stays.
  }
}
run(workerData);
