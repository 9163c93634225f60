/**
 * The thread that writes the history; see slice-transactions.ts. Entries are put a few at a time, spread
 * over most of the interval between two transactions.
 */
import { parentPort, workerData } from "node:worker_threads";
import { lowerPriority } from "@perpgate/journal/worker";
import { openEnvironment, openTables } from "../history-environment.js";
import { DiskProbe } from "./disk-probe.js";
import type { ThreadData, ToWriter } from "./messages.js";
import { slicesInto } from "./slice-transactions.js";

/** Still gets about a seventh of a core when other threads want all of them. */
const NICENESS = 5;
/** The part of the interval between two transactions over which entries are spread. */
const SPREAD_MS = 200;

function run(data: ThreadData, port: NonNullable<typeof parentPort>): void {
  const environment = openEnvironment(data.directory, false);
  const tables = openTables(environment, false);
  const probe = new DiskProbe(data.directory);
  const store = { environment, tables, probe, spreadMs: SPREAD_MS };
  const take = slicesInto(store, data, (message) => port.postMessage(message));
  port.on("message", (message: ToWriter) => {
    take(message);
    if (message.kind !== "close") return;
    port.close();
    probe.close();
    void environment.close();
  });
}

if (parentPort !== null) {
  lowerPriority(NICENESS);
  run(workerData, parentPort);
}
