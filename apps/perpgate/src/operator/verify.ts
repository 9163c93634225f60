/**
 * `perpgate verify`: replays a data folder's log and reports whether everything in it agrees.
 *
 * The report goes to standard output, with `--json` as one object; progress goes to standard error.
 * Exit code 0 if everything agrees, 1 at the first difference. It changes nothing and may run while
 * the venue does.
 */

import {
  NothingToVerify,
  UnknownToRelease,
  type VerifyOptions as VerifyFolderOptions,
  type VerifyProgress,
  type VerifyReport,
  verify,
} from "@perpgate/venue";
import { isSystemError, StartError } from "../cli/start-error.js";
import { dataFolderOf } from "./data-option.js";
import { recoverWallet } from "./verify-wallet.js";

export interface VerifyOptions {
  readonly data?: string;
  readonly signatures?: boolean;
  readonly json?: boolean;
}

export async function verifyFolder(options: VerifyOptions): Promise<number> {
  const { signatures = false, json = false } = options;
  const report = await verified(
    dataFolderOf(options),
    signatures ? { signatures: recoverWallet } : {},
  );
  if (json) process.stdout.write(`${JSON.stringify(report)}\n`);
  else process.stdout.write(`${reportText(report, signatures)}\n`);
  return report.fault === null ? 0 : 1;
}

/** The report on a folder; shows the progress. @throws {StartError} if the folder cannot be read */
export async function verified(
  folder: string,
  options: Omit<VerifyFolderOptions, "onProgress">,
): Promise<VerifyReport> {
  try {
    return await verify(folder, { ...options, onProgress: showProgress });
  } catch (error) {
    const isKnown = error instanceof NothingToVerify || error instanceof UnknownToRelease;
    throw isKnown || isSystemError(error) ? new StartError(error.message) : error;
  } finally {
    endSteps();
  }
}

export function reportText(report: VerifyReport, signatures: boolean): string {
  const { fault } = report;
  if (fault !== null) return `position ${fault.position} differs: ${fault.reason}`;
  const lines = [`verified ${report.commands} commands, ${report.blocks} blocks`];
  if (report.from > 0) lines.push(`  the log was pruned: from position ${report.from + 1} on`);
  lines.push(
    `  agreeing: ${report.historyRows} rows of history, ` +
      `${report.acknowledgements} of them acknowledgements, ` +
      `${report.checkpoints} checkpoints, ${report.snapshots} snapshots`,
  );
  const { issued, sealed, notKept, sealedMs, givenUpBlocks } = report.receipts;
  const speed =
    sealedMs === null ? "" : `, within ${sealedMs.p50} ms (p50), ${sealedMs.max} ms (max)`;
  lines.push(`  promises: ${issued} receipts, ${sealed} sealed${speed}, ${notKept} not kept`);
  if (givenUpBlocks !== null) {
    lines.push(
      `  given up: the last signed checkpoint covers ${givenUpBlocks} blocks, some of which were lost ` +
        "and accepted as lost; receipts in those are broken",
    );
  }
  if (report.badCheckpointLines > 0) {
    lines.push(
      `  passed over: ${report.badCheckpointLines} lines of checkpoints.jsonl, not readable`,
    );
  }
  if (signatures) {
    lines.push(
      `  signatures: ${report.orderSignatures} orders, ${report.voteSignatures} votes, ` +
        `${report.sessions} sign-ins, ` +
        `${report.notRecheckable.length} of them by contract wallets, not re-checkable here`,
    );
  }
  return lines.join("\n");
}

function showProgress({ seq: position, record, records }: VerifyProgress): void {
  const percent = Number.isFinite(records) ? `${Math.floor((100 * record) / records)} %, ` : "";
  showStep(`${percent}position ${position}`);
}

/** Progress on standard error: one line that is overwritten in a terminal, one line per step elsewhere. */
export function showStep(text: string): void {
  process.stderr.write(process.stderr.isTTY ? `\r\x1b[K${text}` : `${text}\n`);
}

/** Before the result: clears the line of `showStep`. */
function endSteps(): void {
  if (process.stderr.isTTY) process.stderr.write("\r\x1b[K");
}
