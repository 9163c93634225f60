/**
 * `perpgate verify`: replays a data folder's log and reports whether everything in it agrees.
 *
 * The report goes to standard output, with `--json` as one object; progress goes to standard error.
 * Exit code 0 if everything agrees, 1 at the first difference. It changes nothing and may run while
 * the venue does.
 */

import { readFileSync } from "node:fs";
import { hexFromBytes } from "@perpgate/protocol/core";
import {
  type NoteKey,
  parseLogKey,
  parseOrderProof,
  type WitnessPolicy,
  witnessPolicy,
} from "@perpgate/protocol/receipts";
import {
  type RecoverWallet,
  type VerifyOptions as VerifyFolderOptions,
  type VerifyProgress,
  type VerifyReport,
  verify,
} from "@perpgate/venue";
import { type Hex, hashMessage, recoverAddress } from "viem";
import { reasonOf, StartError } from "../cli/start-error.js";
import { dataFolderOf } from "./data-option.js";
import { folderError } from "./folder-error.js";

/** The address in lower-case hex, or null where no key can have made the signature. */
const recoverWallet: RecoverWallet = async (message, signature) => {
  const parts = partsOf(signature);
  if (parts === undefined) return null;
  try {
    const hash = hashMessage({ raw: message });
    const address = await recoverAddress({ hash, signature: parts });
    return address.slice(2).toLowerCase();
  } catch {
    // No point has this r, or r or s is out of range.
    return null;
  }
};

/** 65 bytes with v 0, 1, 27 or 28, or the 64 bytes of EIP-2098. */
function partsOf(
  bytes: Uint8Array,
): { readonly r: Hex; readonly s: Hex; readonly yParity: number } | undefined {
  const r: Hex = `0x${hexFromBytes(bytes.subarray(0, 32))}`;
  const s = bytes.slice(32, 64);
  if (bytes.length === 64) {
    const yParity = (s[0] ?? 0) >> 7;
    s[0] = (s[0] ?? 0) & 0x7f;
    return { r, s: `0x${hexFromBytes(s)}`, yParity };
  }
  const v = bytes[64];
  if (bytes.length !== 65 || v === undefined || ![0, 1, 27, 28].includes(v)) return undefined;
  return { r, s: `0x${hexFromBytes(s)}`, yParity: v === 1 || v === 28 ? 1 : 0 };
}

/** Printed at most; `--json` has all. */
const MAX_POSITIONS = 20;
const CLEAR_LINE = "\r\x1b[K";

interface VerifyOptions {
  readonly data?: string;
  readonly signatures?: boolean;
  readonly key?: string;
  readonly checkpoint?: readonly string[];
  readonly witness?: readonly string[];
  readonly require?: number;
  readonly json?: boolean;
}

export async function verifyFolder(options: VerifyOptions): Promise<number> {
  const { signatures = false, json = false, key, checkpoint = [] } = options;
  const report = await verified(dataFolderOf(options), {
    ...(signatures ? { signatures: recoverWallet } : {}),
    ...(key === undefined ? {} : { logKey: logKeyOf(key) }),
    checkpoints: checkpoint.map(checkpointIn),
    witnesses: witnessesOf(options),
  });
  if (json) process.stdout.write(`${JSON.stringify(report)}\n`);
  else process.stdout.write(`${verificationText(report, options)}\n`);
  return report.fault === null ? 0 : 1;
}

function logKeyOf(text: string): NoteKey {
  const key = parseLogKey(text);
  if (key === undefined) throw new StartError(`--key: ${text} is no verifier key of a log`);
  return key;
}

/** The folder keeps its checkpoint without cosignatures: only kept ones can have them. */
function witnessesOf({
  key,
  checkpoint = [],
  witness = [],
  require,
}: VerifyOptions): WitnessPolicy {
  const policy = witnessPolicy({ witnessKeys: witness, require });
  if (typeof policy === "string") throw new StartError(`--witness: ${policy}`);
  if (policy.keys.length > 0 && (key === undefined || checkpoint.length === 0)) {
    throw new StartError("--witness needs --key and --checkpoint");
  }
  return policy;
}

/** The signed note in a file, or in a proof of an order. */
function checkpointIn(file: string): string {
  try {
    const text = readFileSync(file, "utf8");
    return parseOrderProof(text)?.checkpoint ?? text;
  } catch (error) {
    throw new StartError(`--checkpoint: cannot read ${file}: ${reasonOf(error)}`);
  }
}

/** The report on a folder; shows the progress. @throws {StartError} if the folder cannot be read */
export async function verified(
  folder: string,
  options: Omit<VerifyFolderOptions, "onProgress">,
): Promise<VerifyReport> {
  try {
    return await verify(folder, { ...options, onProgress: showProgress });
  } catch (error) {
    throw folderError(error);
  } finally {
    endSteps();
  }
}

/** `asked`: the options of `verify` that the report is about; undefined for another command's report. */
export function verificationText(
  report: VerifyReport,
  asked?: Pick<VerifyOptions, "signatures" | "key">,
): string {
  const { fault } = report;
  if (fault !== null) {
    const { position, reason } = fault;
    return position === null ? reason : `position ${position} differs: ${reason}`;
  }
  const lines = [`verified ${report.commands} commands, ${report.blocks} blocks`];
  if (report.from > 0) lines.push(`  the log was pruned: from position ${report.from + 1} on`);
  lines.push(
    `  agreeing: ${report.historyRows} rows of history, ` +
      `${report.acknowledgements} of them acknowledgements, ` +
      `${report.checkpoints} checkpoints, ${report.snapshots} snapshots`,
  );
  const { issued, sealed, notKept, sealedMs, givenUpBlocks, checkpoint } = report.receipts;
  const speed =
    sealedMs === null ? "" : `, within ${sealedMs.p50} ms (p50), ${sealedMs.max} ms (max)`;
  lines.push(`  promises: ${issued} receipts, ${sealed} sealed${speed}, ${notKept} not kept`);
  if (checkpoint !== null) {
    const { size, count, isSignatureChecked, uncoveredBlocks } = checkpoint;
    const hint = asked === undefined ? "" : " (--key)";
    const signature = isSignatureChecked ? "by the pinned key" : `signature not checked${hint}`;
    const others = count === 1 ? "" : `, and ${count - 1} more`;
    lines.push(`  last signed checkpoint: ${size} blocks, ${signature}${others}`);
    if (uncoveredBlocks > 0) {
      lines.push(`  signed by nobody: the last ${uncoveredBlocks} blocks, after that checkpoint`);
    }
  }
  const { commitments, roots } = report.reserves;
  if (commitments > 0) {
    lines.push(`  reserves: ${commitments} commitments, ${roots} of them also by their root`);
  }
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
  if (asked?.signatures === true) {
    lines.push(
      `  signatures: ${report.orderSignatures} orders, ${report.voteSignatures} votes, ` +
        `${report.sessions} sign-ins`,
    );
    lines.push(...repeatedLines(report), ...notCheckedLines(report));
  }
  return lines.join("\n");
}

function repeatedLines({ repeatedMessages }: VerifyReport): string[] {
  if (repeatedMessages.length === 0) return [];
  return [
    `  repeated: ${repeatedMessages.length} sign-ins use a message again, ` +
      `${positionsText(repeatedMessages)}; an honest venue accepts one again only if a gateway's clock ` +
      "was behind the log's time: ask its operator",
  ];
}

/** What of the signatures could not be checked: nobody who reads the report should take it for checked. */
function notCheckedLines({ notRecheckable, prunedKeySignatures }: VerifyReport): string[] {
  const lines: string[] = [];
  if (notRecheckable.length > 0) {
    lines.push(
      `  not checked: ${notRecheckable.length} sign-ins signed by no key of the address, by a contract ` +
        `wallet or forged, ${positionsText(notRecheckable)}`,
    );
  }
  if (prunedKeySignatures > 0) {
    lines.push(
      `  not checked: ${prunedKeySignatures} signatures by session keys from before the log's beginning`,
    );
  }
  return lines;
}

function positionsText(positions: readonly number[]): string {
  const more = positions.length - MAX_POSITIONS;
  const shown = positions.slice(0, MAX_POSITIONS).join(", ");
  return `positions ${shown}${more > 0 ? ` and ${more} more` : ""}`;
}

export function showProgress({ seq: position, record, records }: VerifyProgress): void {
  const percent = Number.isFinite(records) ? `${Math.floor((100 * record) / records)} %, ` : "";
  showStep(`${percent}position ${position}`);
}

/** Progress: one line that is overwritten, on a terminal alone. A file or a pipe gets the result. */
export function showStep(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`${CLEAR_LINE}${text}`);
}

/** Before the result: clears the line of `showStep`. */
export function endSteps(): void {
  showStep("");
}
