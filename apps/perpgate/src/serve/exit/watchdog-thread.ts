/**
 * The watchdog: sleeps until the exit deadline and kills the process if it still runs. It uses neither
 * the event loop nor the main thread. The thread pool writes its line, because a write to a pipe that
 * nobody reads never returns.
 */

import { write } from "node:fs";
import { workerData } from "node:worker_threads";
import { ExitDeadline } from "@perpgate/journal";

/** For the pool to write the line. */
const WRITE_MS = 100;

const deadline = new ExitDeadline(workerData);
deadline.waitUntilPassed();
const reason = deadline.reason ?? "the process did not end in time";
write(2, `perpgate: ${reason}; killed, because a thread did not end\n`, () => undefined);
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WRITE_MS);
process.kill(process.pid, "SIGKILL");
