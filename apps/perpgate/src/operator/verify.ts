/**
 * `perpgate verify`: replays a data folder's log and says whether everything in it agrees.
 *
 * One line on standard output, or with `--json` one object; progress and detail go to standard
 * error. Exit code 0 if everything agrees, 1 at the first position that differs. It starts nothing
 * and changes nothing, and may run next to a live venue.
 */

import { NothingToVerify, type VerifyProgress, type VerifyReport, verify } from "@perpgate/venue";
import type { Arguments, Command } from "../cli/command.js";
import { endSteps, showStep } from "../cli/moving-line.js";
import { StartError } from "../cli/start-error.js";
import { recoverWallet } from "./verify-wallet.js";

export const VERIFY: Command = {
  usage: ["verify [--data DIR] [--signatures] [--json]"],
  about: `Replays the log of a data folder and compares every record, block, checkpoint, snapshot and
row of history with it; with --signatures every order, sign-in and vote too. It changes nothing and
may run next to a live venue. Exit code 1 at the first position that differs, and if anything shows
that the log has lost its end.`,
  options: {
    data: { kind: "text", value: "DIR", help: "the data folder (.data)" },
    signatures: { kind: "flag", help: "check every signature too" },
    json: { kind: "flag", help: "JSON for programs" },
  },
  examples: [["verify --data .data --signatures", "everything that can be checked"]],
  run: verifyFolder,
};

async function verifyFolder(args: Arguments): Promise<number> {
  args.atMost(0);
  const [signatures, json] = [args.has("signatures"), args.has("json")];
  let report: VerifyReport;
  try {
    report = await verify(args.text("data") ?? ".data", {
      ...(signatures ? { signatures: recoverWallet } : {}),
      onProgress: showProgress,
    });
  } catch (error) {
    if (error instanceof NothingToVerify) throw new StartError(error.message);
    throw error;
  }
  endSteps();
  if (json) process.stdout.write(`${JSON.stringify(report)}\n`);
  else process.stdout.write(`${reportText(report, signatures)}\n`);
  return report.fault === null ? 0 : 1;
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

export function showProgress({ position, record, records }: VerifyProgress): void {
  const percent = Number.isFinite(records) ? `${Math.floor((100 * record) / records)} %, ` : "";
  showStep(`${percent}position ${position}`);
}
