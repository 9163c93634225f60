/**
 * The attestors' thread: polls, reads receipts and signs votes where no order waits for it. It runs
 * at a low priority, since nothing it does is urgent to the millisecond.
 */

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

// Linux knows the priority of a thread; elsewhere the call would slow the whole process.
if (process.platform === "linux") {
  try {
    setPriority(LOW_PRIORITY);
  } catch {
    // It stays as it is.
  }
}
run(workerData);
