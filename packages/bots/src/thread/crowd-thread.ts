/** The thread of the crowd: runs it until told to stop, and passes on what it has to say. */

import { parentPort, workerData } from "node:worker_threads";
import { Crowd } from "../crowd.js";
import type { FromThread, ThreadData, ToThread } from "./messages.js";

const { venue, settings }: ThreadData = workerData;

function tell(level: FromThread["level"], message: string, fields: object = {}): void {
  const said: FromThread = { kind: "log", level, message, fields };
  parentPort?.postMessage(said);
}

const crowd = new Crowd(venue, settings, {
  info: (message, fields) => tell("info", message, fields),
  warn: (message, fields) => tell("warn", message, fields),
});

parentPort?.on("message", ({ withinMs }: ToThread) => {
  // Whatever the crowd still holds open must not keep the thread.
  const end = () => process.exit(0);
  crowd.stop(withinMs).then(end, end);
});
