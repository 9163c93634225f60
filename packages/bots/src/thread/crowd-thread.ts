/** The worker thread of the crowd: runs it until the stop message and forwards its log. */

import { parentPort, workerData } from "node:worker_threads";
import type { BotSettings, BotVenue } from "../bot-settings.js";
import { Crowd } from "../crowd.js";

export interface ThreadData {
  readonly venue: BotVenue;
  readonly settings: BotSettings;
}

export interface ToThread {
  readonly kind: "stop";
  readonly withinMs: number;
}

export interface FromThread {
  readonly kind: "log";
  readonly level: "info" | "warn";
  readonly message: string;
  readonly fields: object;
}

const { venue, settings }: ThreadData = workerData;

function send(level: FromThread["level"], message: string, fields: object = {}): void {
  const line: FromThread = { kind: "log", level, message, fields };
  parentPort?.postMessage(line);
}

const crowd = new Crowd(venue, settings, {
  info: (message, fields) => send("info", message, fields),
  warn: (message, fields) => send("warn", message, fields),
});

parentPort?.on("message", ({ withinMs }: ToThread) => {
  // Open handles of the crowd must not keep the thread alive.
  const end = () => process.exit(0);
  crowd.stop(withinMs).then(end, end);
});
