/**
 * The thread that writes the history. Slices come in by message and in order; what waits while one
 * commits is the next transaction, so a slow disk makes transactions larger, not a queue longer.
 * Each also holds the position it reaches: the store is never half a command ahead or behind.
 *
 * A failure is told once, and nothing is written after it: a later slice without an earlier one
 * would be a gap that nobody looks for.
 */
import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { openEnvironment, openTables, TABLES, writeHeld } from "../history-environment.js";
import { eachEntry } from "../slice.js";
import { DiskProbe } from "./disk-probe.js";
import type { FromWriter, ToWriter, WriterData, WriteSlice } from "./messages.js";

/** Slices of one transaction at most: it should end some time also when the log is replayed. */
const SLICES_PER_TRANSACTION = 16;

function run(
  { directory, logId }: WriterData,
  port: NonNullable<typeof parentPort>,
  tell: (message: FromWriter) => void,
): void {
  const environment = openEnvironment(directory, false);
  const stored = openTables(environment, false);
  const tables = TABLES.map((name) => stored[name]);
  const probe = new DiskProbe(directory);
  let hasFailed = false;

  const write = (slices: readonly WriteSlice[]): void => {
    const last = slices.at(-1);
    if (last === undefined || hasFailed) return;
    try {
      probe.check();
      environment.transactionSync(() => {
        for (const { memory, length } of slices) {
          // A copy: lmdb takes no memory that is shared.
          eachEntry(Buffer.from(new Uint8Array(memory, 0, length)), (table, key, value) => {
            tables[table]!.putSync(key, value);
          });
        }
        writeHeld(environment, logId, last.held);
      });
      tell({ kind: "written", number: last.number });
    } catch (error) {
      hasFailed = true;
      tell({ kind: "failed", message: error instanceof Error ? error.message : String(error) });
    }
  };

  port.on("message", (first: ToWriter) => {
    const slices: WriteSlice[] = [];
    let message: ToWriter | undefined = first;
    while (message?.kind === "write") {
      slices.push(message);
      if (slices.length === SLICES_PER_TRANSACTION) break;
      message = receiveMessageOnPort(port)?.message;
    }
    write(slices);
    if (message?.kind !== "close") return;
    port.close();
    probe.close();
    void environment.close();
  });
}

if (parentPort !== null) {
  const port = parentPort;
  run(workerData, port, (message) => port.postMessage(message));
}
