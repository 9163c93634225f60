/**
 * `perpgate backup`: copies a data folder, also while its venue runs, and verifies the copy.
 *
 * One line on standard output, or with `--json` one object; progress goes to standard error.
 * Exit code 0 if the copy is whole and everything in it agrees, otherwise 1.
 */

import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import { isNotThere, JournalError } from "@perpgate/journal";
import { type Backup, backUp, LogFollower, shownLoss } from "@perpgate/venue";
import { makeFolder } from "../cli/make-folder.js";
import { isSystemError, StartError, UsageError } from "../cli/start-error.js";
import { OWN_KEY } from "../serve/log-key-file.js";
import { onStopSignal } from "../serve/stop-signals.js";
import { dataFolderOf } from "./data-option.js";
import { folderError } from "./folder-error.js";
import { endSteps, showStep, verificationText, verified } from "./verify.js";

const STEP_MS = 1_000;
const KEY_REMARK = `  not copied: ${OWN_KEY}, a secret that the venue needs; keep a copy apart\n`;

interface BackupOptions {
  readonly to?: string;
  readonly follow?: string;
  readonly data?: string;
  readonly json?: boolean;
}

export async function backup(options: BackupOptions): Promise<number> {
  const { to, follow } = options;
  if ((to === undefined) === (follow === undefined)) {
    throw new UsageError("give --to DIR or --follow DIR");
  }
  const target = resolve(to ?? follow ?? "");
  const data = dataFolderOf(options);
  if (follow === undefined) return copyOnce(data, target, options);
  // An earlier follower made it.
  if (!existsSync(join(target, "journal"))) {
    const code = await copyOnce(data, target, options);
    if (code !== 0) return code;
  }
  return keepUp(data, target, options);
}

/** Until a signal: closed segments of the log as they are, the open one each second. */
async function keepUp(data: string, target: string, { json }: BackupOptions): Promise<number> {
  const stopped = new AbortController();
  onStopSignal(() => stopped.abort());
  let [bytes, records] = [0, 0];
  try {
    await refuseLoss(data);
    const follower = new LogFollower(data, target);
    while (!stopped.signal.aborted) {
      const added = follower.update();
      bytes += added.bytes;
      records = added.records;
      showStep(`followed ${bytes} bytes, up to record ${records}`);
      await setTimeout(STEP_MS, undefined, { signal: stopped.signal }).catch(() => undefined);
    }
  } catch (error) {
    throw folderError(error);
  } finally {
    endSteps();
  }
  const report = { folder: target, bytes, records };
  const text = `followed ${bytes} bytes to ${target}, up to record ${records}`;
  process.stdout.write(`${json === true ? JSON.stringify(report) : text}\n`);
  return 0;
}

async function copyOnce(data: string, target: string, options: BackupOptions): Promise<number> {
  await refuseLoss(data);
  const { bytes, signed } = await copy(data, target);
  // A signed checkpoint that is ahead of the log shows a loss too.
  const report = await verified(target, { signed });
  if (options.json === true) {
    process.stdout.write(`${JSON.stringify({ folder: target, bytes, ...report })}\n`);
  } else {
    process.stdout.write(`copied ${bytes} bytes to ${target}\n${verificationText(report)}\n`);
    if (existsSync(join(data, OWN_KEY))) process.stdout.write(KEY_REMARK);
  }
  return report.fault === null ? 0 : 1;
}

async function copy(data: string, target: string): Promise<Backup> {
  try {
    return await backUp(data, target, { onCopied: copyProgress(), makeFolder });
  } catch (error) {
    throw folderError(error);
  }
}

/** The copy would verify: it may leave out the history and checkpoints that show the loss. */
async function refuseLoss(data: string): Promise<void> {
  try {
    const loss = await shownLoss(data);
    if (loss !== undefined) throw new StartError(loss.message);
  } catch (error) {
    // The copy reports a damaged or missing log.
    if (error instanceof JournalError || isNotThere(error)) return;
    throw isSystemError(error) ? new StartError(error.message) : error;
  }
}

/** Prints the bytes copied so far, at most once a second. */
export function copyProgress(): (file: string, bytes: number) => void {
  let shownAtMs = performance.now();
  return (_file, bytes) => {
    if (performance.now() - shownAtMs < STEP_MS) return;
    shownAtMs = performance.now();
    showStep(`copied ${bytes} bytes`);
  };
}
