/**
 * `perpgate verify`: replays a data folder's log and says whether everything in it agrees.
 *
 * One line on standard output, or with `--json` one object; progress and detail go to standard
 * error. Exit code 0 if everything agrees, 1 at the first position that differs. It starts nothing
 * and changes nothing, and may run beside a live venue.
 */

import { parseArgs } from "node:util";
import { NothingToVerify, type VerifyProgress, type VerifyReport, verify } from "@perpgate/venue";
import { StartError } from "./start-error.js";
import { recoverWallet } from "./verify-wallet.js";

export const VERIFY_USAGE = "perpgate verify --data DIR [--signatures] [--json]";

/** Answers the exit code. */
export async function verifyCommand(args: readonly string[]): Promise<number> {
  const { data, signatures, json } = readArguments(args);
  let report: VerifyReport;
  try {
    report = await verify(data, {
      ...(signatures ? { signatures: recoverWallet } : {}),
      onProgress: showProgress,
    });
  } catch (error) {
    if (error instanceof NothingToVerify) throw new StartError(error.message);
    throw error;
  }
  if (process.stderr.isTTY) process.stderr.write("\r\x1b[K");
  if (json) process.stdout.write(`${JSON.stringify(report)}\n`);
  else process.stdout.write(`${reportText(report, signatures)}\n`);
  return report.fault === null ? 0 : 1;
}

interface VerifyArguments {
  readonly data: string;
  readonly signatures: boolean;
  readonly json: boolean;
}

function readArguments(args: readonly string[]): VerifyArguments {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        data: { type: "string", default: ".data" },
        signatures: { type: "boolean", default: false },
        json: { type: "boolean", default: false },
      },
    });
    return values;
  } catch (error) {
    const problem = error instanceof Error ? error.message.split(". ", 1)[0] : String(error);
    throw new StartError(`${problem}; usage: ${VERIFY_USAGE}`);
  }
}

export function reportText(report: VerifyReport, signatures: boolean): string {
  const { fault } = report;
  if (fault !== null) return `position ${fault.position} differs: ${fault.reason}`;
  const lines = [`verified ${report.commands} commands, ${report.blocks} blocks`];
  if (report.from > 0) lines.push(`  the log was pruned: from position ${report.from + 1} on`);
  lines.push(
    `  agreeing: ${report.acknowledgements} stored acknowledgements, ` +
      `${report.checkpoints} checkpoints, ${report.snapshots} snapshots`,
  );
  if (signatures) {
    lines.push(
      `  signatures: ${report.orderSignatures} orders, ${report.voteSignatures} votes, ` +
        `${report.sessions} sign-ins, ` +
        `${report.notRecheckable.length} of them by contract wallets, not re-checkable here`,
    );
  }
  return lines.join("\n");
}

function showProgress({ position, record, records }: VerifyProgress): void {
  const percent = Number.isFinite(records) ? `${Math.floor((100 * record) / records)} %, ` : "";
  const text = `${percent}position ${position}`;
  // A terminal shows one moving line, a file one line a step.
  process.stderr.write(process.stderr.isTTY ? `\r\x1b[K${text}` : `${text}\n`);
}
