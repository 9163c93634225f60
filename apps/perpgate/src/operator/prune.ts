/**
 * `perpgate prune`: removes the oldest segments of a log, with its venue running or stopped.
 *
 * It removes what no restart needs. Nobody can verify that part afterwards, so no venue prunes without
 * this command. A running venue removes the segments; otherwise this process does, under the folder's
 * lock. Exit code 0 if the log is as small as it can be, otherwise 1.
 */

import { basename, join, resolve } from "node:path";
import { isNotThere, type LogSeq, nodeDisk, pruneClosedLog } from "@perpgate/journal";
import { compareWithBackup, type PrunePlan, planPrune } from "@perpgate/venue";
import { StartError } from "../cli/start-error.js";
import { askControl, Unreachable } from "../serve/control-socket.js";
import { dataFolderOf } from "./data-option.js";
import { folderError } from "./folder-error.js";

const DEFAULT_KEEP = 2;
interface PruneOptions {
  readonly data?: string;
  readonly keepSnapshots?: number;
  readonly backup?: string;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

export async function prune(options: PruneOptions): Promise<number> {
  const { keepSnapshots = DEFAULT_KEEP, dryRun: isDry = false } = options;
  const folder = dataFolderOf(options);
  const plan = await withReason(() => planPrune(folder, keepSnapshots));
  const backup = options.backup === undefined ? undefined : resolve(options.backup);
  if (backup !== undefined) await withReason(() => compareWithBackup(plan.files, backup));
  if (!isDry && plan.files.length > 0) await remove(folder, plan.below);
  const { files, bytes, keptSegments, below, position } = plan;
  if (options.json === true) {
    const removed = files.map((file) => basename(file));
    const about = { bytes, keptSegments, snapshot: below, position, backup: backup ?? null };
    const report = { dryRun: isDry, removed, ...about };
    process.stdout.write(`${JSON.stringify(report)}\n`);
  } else {
    process.stdout.write(reportText(plan, isDry, backup));
  }
  return 0;
}

function reportText(
  { files, bytes, keptSegments, below, position }: PrunePlan,
  isDry: boolean,
  backup: string | undefined,
): string {
  const place = `the snapshot at batch ${below.batch}, record ${below.record}`;
  if (files.length === 0) return `nothing to remove: every segment is needed from ${place} on\n`;
  const names = `${basename(files[0] ?? "")} to ${basename(files.at(-1) ?? "")}`;
  return (
    `${isDry ? "would remove" : "removed"} ${files.length} segments, ${bytes} bytes (${names})\n` +
    `  kept: ${keptSegments} segments, from ${place} on\n` +
    `  no longer replayed from this folder: positions up to ${position}, by verify, store verify, restore and ` +
    "a rebuild of the history\n" +
    (backup === undefined
      ? "  not compared with a backup: give --backup DIR\n"
      : `  ${backup} has all of them, byte for byte\n`)
  );
}

/** By the venue that has the log open, otherwise by this process. */
async function remove(folder: string, below: LogSeq): Promise<void> {
  try {
    await askControl(folder, { prune: below });
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error;
    // Refused while a venue has the log open.
    await withReason(async () => pruneClosedLog(nodeDisk, join(folder, "journal"), below));
  }
}

/** Errors of the log become one line for the operator. */
async function withReason<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isNotThere(error)) throw new StartError("nothing was pruned: there is no log");
    throw folderError(error);
  }
}
