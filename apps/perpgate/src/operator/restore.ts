/**
 * `perpgate restore`: a data folder from a backup, up to a position or a time, and verified. Exit code 0 if
 * everything in it agrees, otherwise 1.
 */

import { resolve } from "node:path";
import { type RestoreTarget, restore } from "@perpgate/venue";
import { makeFolder } from "../cli/make-folder.js";
import { copyProgress } from "./backup.js";
import { dataFolderOf } from "./data-option.js";
import { folderError } from "./folder-error.js";
import { endSteps, showProgress, verificationText, verified } from "./verify.js";

interface RestoreOptions {
  readonly from: string;
  readonly to?: RestoreTarget;
  readonly data?: string;
  readonly json?: boolean;
}

export async function restoreFolder(options: RestoreOptions): Promise<number> {
  const data = dataFolderOf(options);
  const { position, timeMs, bytes, signed } = await copied(resolve(options.from), data, options.to);
  const report = await verified(data, { signed });
  if (options.json === true) {
    process.stdout.write(
      `${JSON.stringify({ folder: data, position, timeMs, bytes, ...report })}\n`,
    );
  } else {
    const place = `position ${position}, ${new Date(timeMs).toISOString()}`;
    process.stdout.write(`restored ${data} up to ${place}\n${verificationText(report)}\n`);
  }
  return report.fault === null ? 0 : 1;
}

async function copied(from: string, data: string, to: RestoreTarget = {}) {
  try {
    const more = { onCopied: copyProgress(), makeFolder, onProgress: showProgress };
    return await restore(from, data, to, more);
  } catch (error) {
    throw folderError(error);
  } finally {
    endSteps();
  }
}
