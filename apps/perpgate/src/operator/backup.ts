/**
 * `perpgate backup`: copies a data folder, also beside a live venue, and verifies the copy.
 *
 * One line on standard output, or with `--json` one object; progress goes to standard error.
 * Exit code 0 if the copy is whole and everything in it agrees, otherwise 1.
 */

import { resolve } from "node:path";
import { isNotThere, JournalError } from "@perpgate/journal";
import { shownLoss, verify } from "@perpgate/venue";
import { backUp } from "../backup.js";
import type { Arguments, Command } from "../cli/command.js";
import { endSteps, showStep } from "../cli/moving-line.js";
import { StartError } from "../cli/start-error.js";
import { reportText, showProgress } from "./verify.js";

const STEP_MS = 1_000;

export const BACKUP: Command = {
  usage: ["backup --to DIR [--data DIR] [--json]"],
  about: `Copies a data folder, also while its venue runs, and verifies the copy. Exit code 0 only if
everything in it agrees.`,
  options: {
    to: { kind: "text", value: "DIR", help: "where to; missing or empty" },
    data: { kind: "text", value: "DIR", help: "the data folder (.data)" },
    json: { kind: "flag", help: "JSON for programs" },
  },
  examples: [["backup --data .data --to /backup/today", "copy and verify"]],
  run: backup,
};

async function backup(args: Arguments): Promise<number> {
  args.atMost(0);
  const to = args.text("to");
  if (to === undefined) throw args.fail("--to is missing");
  const target = resolve(to);
  const data = resolve(args.text("data") ?? ".data");
  await refuseLoss(data);
  const { bytes } = backUp(data, target, copyProgress());
  const report = await verify(target, { onProgress: showProgress });
  endSteps();
  if (args.has("json")) {
    process.stdout.write(`${JSON.stringify({ folder: target, bytes, ...report })}\n`);
  } else {
    process.stdout.write(`copied ${bytes} bytes to ${target}\n${reportText(report, false)}\n`);
  }
  return report.fault === null ? 0 : 1;
}

/** A copy leaves out what shows the loss, and would pass for whole. */
async function refuseLoss(data: string): Promise<void> {
  try {
    const loss = await shownLoss(data);
    if (loss !== undefined) throw new StartError(loss.message);
  } catch (error) {
    // A log that is damaged, or not there, is refused by the copying itself, which looks again.
    if (!(error instanceof JournalError) && !isNotThere(error)) throw error;
  }
}

/** Says how much is copied, once a second at most. */
function copyProgress(): (file: string, bytes: number) => void {
  let shownAtMs = performance.now();
  return (_file, bytes) => {
    if (performance.now() - shownAtMs < STEP_MS) return;
    shownAtMs = performance.now();
    showStep(`copied ${bytes} bytes`);
  };
}
