/**
 * The pruning thread: removes old segments, reports how many, and ends. It reads a whole snapshot and
 * syncs the directory after each removal, which would stop the thread that orders are executed in.
 */

import { parentPort, workerData } from "node:worker_threads";
import { pruneLog } from "../log-prune.js";
import { nodeDisk } from "../node-disk.js";
import { FileSnapshots } from "../snapshots.js";
import { lowerPriority } from "../worker.js";
import { type PruneAnswer, type PruneThreadData, toFailure } from "./messages.js";

/** Orders come before room on the disk. */
const NICENESS = 10;

function run({ directory, logId, below, readers, end }: PruneThreadData): PruneAnswer {
  try {
    const snapshots = new FileSnapshots(nodeDisk, directory, logId);
    return { removed: pruneLog(nodeDisk, directory, below, { snapshots, readers, end }) };
  } catch (error) {
    return { failure: toFailure(error) };
  }
}

lowerPriority(NICENESS);
parentPort?.postMessage(run(workerData));
