/**
 * `perpgate prune`: removes the oldest segments of a log, next to a live venue or without one.
 *
 * What is removed is what no restart needs any more. It can then be verified by nobody, so nothing
 * does this by itself. A live venue removes the segments itself; without one this process does, and
 * holds the folder's lock meanwhile. Exit code 0 if the log is as small as it can be, otherwise 1.
 */

import { basename, join, resolve } from "node:path";
import {
  isNotThere,
  JournalError,
  type LogPosition,
  nodeDisk,
  pruneClosedLog,
} from "@perpgate/journal";
import { type PrunePlan, planPrune } from "@perpgate/venue";
import type { Arguments, Command } from "../cli/command.js";
import { StartError } from "../cli/start-error.js";
import { askControl, NotRunning } from "../serve/control-socket.js";
import { DEFAULT_SETTINGS } from "../serve/settings.js";

const DEFAULT_KEEP = 2;
const MOST_KEPT = 1_000;

export const PRUNE: Command = {
  usage: ["prune [--data DIR] [--keep-snapshots N] [--dry-run] [--json]"],
  about: `Removes the segments of the log that no restart needs: those wholly before the oldest of the
newest N snapshots that are intact and that the history has reached. It may run while the venue
does. What is removed can no longer be verified by anyone, and a history cannot be rebuilt from
what is left: back the folder up first. Refuses where a restart could not recover afterwards.`,
  options: {
    data: { kind: "text", value: "DIR", help: "the data folder (.data)  [PERPGATE_DATA]" },
    "keep-snapshots": {
      kind: "text",
      value: "N",
      help: `snapshots that a restart must be able to begin from (${DEFAULT_KEEP})`,
    },
    "dry-run": { kind: "flag", help: "say what would be removed, and remove nothing" },
    json: { kind: "flag", help: "JSON for programs" },
  },
  examples: [
    ["prune --data .data --dry-run", "what could go"],
    ["prune --data .data", "remove it"],
  ],
  run: prune,
};

async function prune(args: Arguments): Promise<number> {
  args.atMost(0);
  const folder = resolve(args.text("data") ?? process.env.PERPGATE_DATA ?? DEFAULT_SETTINGS.data);
  const plan = await known(() => planPrune(folder, keepOf(args)));
  const isDry = args.has("dry-run");
  if (!isDry && plan.files.length > 0) await remove(folder, plan.below);
  const { files, bytes, keptSegments, below } = plan;
  if (args.has("json")) {
    const removed = files.map((file) => basename(file));
    const report = { dryRun: isDry, removed, bytes, keptSegments, snapshot: below };
    process.stdout.write(`${JSON.stringify(report)}\n`);
  } else {
    process.stdout.write(reportText(plan, isDry));
  }
  return 0;
}

function reportText({ files, bytes, keptSegments, below }: PrunePlan, isDry: boolean): string {
  const place = `the snapshot at batch ${below.batch}, record ${below.record}`;
  if (files.length === 0) return `nothing to remove: every segment is needed from ${place} on\n`;
  const names = `${basename(files[0] ?? "")} to ${basename(files.at(-1) ?? "")}`;
  return (
    `${isDry ? "would remove" : "removed"} ${files.length} segments, ${bytes} bytes (${names})\n` +
    `  kept: ${keptSegments} segments, from ${place} on\n`
  );
}

/** By the venue that has the log open, or else by this process. */
async function remove(folder: string, below: LogPosition): Promise<void> {
  try {
    await askControl(folder, { prune: below });
  } catch (error) {
    if (!(error instanceof NotRunning)) throw error;
    await known(async () => pruneClosedLog(nodeDisk, join(folder, "journal"), below));
  }
}

function keepOf(args: Arguments): number {
  const text = args.text("keep-snapshots") ?? String(DEFAULT_KEEP);
  const count = /^[0-9]{1,4}$/.test(text) ? Number(text) : 0;
  if (count < 1 || count > MOST_KEPT) {
    throw args.fail(`--keep-snapshots must be a number from 1 to ${MOST_KEPT}`);
  }
  return count;
}

/** Reasons of the log, in one line. */
async function known<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof JournalError) throw new StartError(error.message);
    if (isNotThere(error)) throw new StartError("nothing was pruned: there is no log");
    throw error;
  }
}
