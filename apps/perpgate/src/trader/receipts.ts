/** `perpgate proof`, `check` and `judge`: an order's proof, evidence, and what became of a receipt. */

import { closeSync, existsSync, openSync, readFileSync, unlinkSync, writeFileSync } from "node:fs";
import { join, parse } from "node:path";
import { setTimeout } from "node:timers/promises";
import {
  type CheckedReservesFile,
  equalBytes,
  evidenceSummary,
  isEvidenceText,
  isReservesText,
  openReceiptFile,
  parseOrderProof,
  proofHeading,
  proofSummary,
  reservesSummary,
  reservesText,
  signersOf,
} from "@perpgate/protocol/receipts";
import {
  type CheckedEvidence,
  checkEvidence,
  checkOrderProof,
  checkReservesFile,
  type JudgeOptions,
  judgeReceipt,
  LogReader,
  PerpgateError,
  type ProofKeys,
  type Session,
  type Verdict,
} from "@perpgate/sdk";
import { Output } from "../cli/output.js";
import { reasonOf, StartError } from "../cli/start-error.js";
import { urlsOf, withSession, withVenue } from "./connection.js";
import { Interruption } from "./interruption.js";
import type { VenueCommandOptions } from "./venue-command.js";

/** A checkpoint covers a block within a second or two. */
const PROOF_TRIES = 20;
const PROOF_PAUSE_MS = 500;

export function printProof(ackNonce: number, options: VenueCommandOptions): Promise<number> {
  return withSession(options, async ({ session }) => {
    process.stdout.write(await proofOf(session, String(ackNonce)));
    return 0;
  });
}

async function proofOf(session: Session, ackNonce: string): Promise<string> {
  for (let tries = 1; ; tries++) {
    try {
      return await session.preconfirmProof(ackNonce);
    } catch (error) {
      const isEarly =
        error instanceof PerpgateError && /^not_(sealed|in_checkpoint)$/.test(error.code);
      if (!isEarly || tries === PROOF_TRIES) throw error;
      await setTimeout(PROOF_PAUSE_MS);
    }
  }
}

interface KeyOptions {
  readonly key?: string;
  readonly witness: readonly string[];
  readonly require?: number;
}

function keysOf({ key, witness, require }: KeyOptions): ProofKeys {
  return { logKey: key, witnessKeys: witness, require };
}

interface CheckOptions extends KeyOptions {
  readonly receipt?: string;
  readonly address?: string;
  readonly json?: boolean;
}

/** Checks the proof of an order or of reserves, or evidence. */
export async function check(file: string, options: CheckOptions): Promise<number> {
  const output = new Output(options.json === true);
  const text = textOf(file);
  const keys = keysOf(options);
  if (isReservesText(text)) {
    return printReserves(await checkReservesFile(text, keys, options.address), keys, output);
  }
  if (isEvidenceText(text)) return printEvidence(await checkEvidence(text, keys), keys, output);
  const checked = await checkOrderProof(text, keys);
  const problem =
    typeof checked === "string" ? checked : receiptDifference(options.receipt, checked.leafHash);
  if (typeof checked === "string" || problem !== null) return printProblem(problem, output);
  const { leaf, block, cosigners } = checked;
  if (output.isJson) {
    const { number, timeMs } = block;
    const witnesses = signersOf(checked.checkpoint);
    const isProven = keys.logKey !== undefined;
    output.json({
      isProven,
      isConsistent: true,
      leaf,
      block: number,
      time: timeMs,
      witnesses,
      cosigners,
    });
    return 0;
  }
  printHeading(`acknowledgement ${leaf.ackNonce} is sealed`, keys, output);
  output.list(proofSummary(checked, keys));
  return 0;
}

function printEvidence(checked: CheckedEvidence | string, keys: ProofKeys, output: Output): number {
  if (typeof checked === "string") return printProblem(checked, output);
  const { verdict, statement } = checked;
  const { position, block } = statement;
  if (output.isJson) {
    const isProven = keys.logKey !== undefined;
    output.json({ isProven, isConsistent: true, verdict, position, block });
    return 0;
  }
  printHeading(`the promise of position ${position} is broken: ${verdict}`, keys, output);
  output.list(evidenceSummary(checked, keys));
  return 0;
}

function printReserves(
  checked: CheckedReservesFile | string,
  keys: ProofKeys,
  output: Output,
): number {
  if (typeof checked === "string") return printProblem(checked, output);
  const { leaf, liability, block, checkpoint } = checked;
  if (output.isJson) {
    output.json({
      isProven: keys.logKey !== undefined,
      isConsistent: true,
      reserves: leaf,
      liability,
      block: block.number,
      time: block.timeMs,
      witnesses: signersOf(checkpoint),
      cosigners: checkpoint.cosigners,
    });
    return 0;
  }
  printHeading(reservesText(checked), keys, output);
  output.list(reservesSummary(checked, keys));
  return 0;
}

function printProblem(problem: string | null, output: Output): number {
  if (output.isJson) output.json({ isProven: false, isConsistent: false, problem });
  else output.line(`${output.paint("not proven", "bad")}  ${problem}`);
  return 1;
}

function printHeading(text: string, keys: ProofKeys, output: Output): void {
  const isPinned = keys.logKey !== undefined;
  const heading = proofHeading(isPinned).toLowerCase();
  output.line(`${isPinned ? output.paint(heading, "good") : heading}  ${text}`);
}

/** Null if there is no receipt, or it is about the same leaf. */
function receiptDifference(file: string | undefined, leafHash: Uint8Array): string | null {
  if (file === undefined) return null;
  const opened = openReceiptFile(jsonOf(file));
  if (typeof opened === "string") return opened;
  const isSame = equalBytes(opened.receipt.statement.leafHash, leafHash);
  return isSame ? null : "the receipt is about another acknowledgement";
}

interface JudgeCommandOptions extends VenueCommandOptions, KeyOptions {
  readonly proof: readonly string[];
  readonly evidence?: string;
}

export function judgeCommand(
  files: readonly string[],
  options: JudgeCommandOptions,
): Promise<number> {
  return withVenue(options, async ({ url, output }) => {
    const checkpoints = options.proof.map((file) => {
      const text = textOf(file);
      return parseOrderProof(text)?.checkpoint ?? text;
    });
    // One for each gateway: receipts of neighbouring blocks need the same tiles.
    const readers = urlsOf(url).map((each) => new LogReader(each));
    const receipts = files.map(jsonOf);
    let code = 0;
    let proven = 0;
    for (const [i, file] of files.entries()) {
      // One time for all gateways, so that they agree on whether the block is due.
      const given = { checkpoints, receipts, nowMs: Date.now(), ...keysOf(options) };
      const verdict = await verdictOn(receipts[i], readers, given);
      const isWell = verdict.verdict === "kept" || verdict.verdict === "pending";
      if (!isWell) code = 1;
      if (output.isJson) output.json({ file, ...verdict });
      else {
        const name = verdict.verdict === "broken" ? `broken: ${verdict.kind}` : verdict.verdict;
        const why =
          verdict.verdict === "kept"
            ? `in block ${verdict.block}, under a checkpoint of ${verdict.checkpointSize}${cosignedBy(verdict.cosigners)}`
            : verdict.reason;
        output.line(`${output.paint(name, isWell ? "good" : "bad")}  ${file}: ${why}`);
      }
      if (verdict.verdict === "broken" && options.evidence !== undefined) {
        save(evidencePath(options.evidence, ++proven), verdict.evidence, "evidence", output);
      }
    }
    return code;
  });
}

function cosignedBy(witnesses: readonly string[]): string {
  return witnesses.length === 0 ? "" : `, cosigned by ${witnesses.join(", ")}`;
}

/** By the first gateway that decides: one may be down, or behind the others. */
async function verdictOn(
  file: unknown,
  [reader = new LogReader(""), ...others]: readonly LogReader[],
  options: Omit<JudgeOptions, "url" | "reader">,
): Promise<Verdict> {
  const verdict = await judgeReceipt(file, { url: reader.url, reader, ...options });
  const isDecided = /^(kept|broken|differs|invalid)$/.test(verdict.verdict);
  if (isDecided || others.length === 0) return verdict;
  const next = await verdictOn(file, others, options);
  return next.verdict === "withheld" ? verdict : next;
}

/** The file for the evidence of the nth broken promise: a number before the ending, from the second on. */
function evidencePath(path: string, nth: number): string {
  if (nth === 1) return path;
  const { dir, name, ext } = parse(path);
  return join(dir, `${name}-${nth}${ext}`);
}

/** Resolves once the receipts that arrived are checked, which may take a read of the log's key; or on Ctrl-C. */
export async function receiptsChecked({ receipts }: Session): Promise<void> {
  const interruption = new Interruption();
  await Promise.race([receipts.settled().catch(() => undefined), interruption.wait()]);
  interruption.end();
}

/** Saves the receipt of an acknowledgement; says so if there is none. */
export function saveReceipt(
  session: Session,
  ackNonce: string,
  path: string,
  output: Output,
): void {
  const file = session.receipts.of(ackNonce);
  if (file === undefined) output.remark("the answer had no receipt that holds; nothing was saved");
  else save(path, file, "receipt", output);
}

/** A failure is a remark: what was printed before holds without the file. */
export function save(path: string, content: unknown, what: string, output: Output): void {
  try {
    writeFileSync(path, `${JSON.stringify(content, null, 1)}\n`);
  } catch (error) {
    output.remark(`the ${what} was not saved: ${reasonOf(error)}`);
  }
}

/** @throws StartError if the file cannot be written; else it is as it was. */
export function requireWritable(path: string): void {
  const isNew = !existsSync(path);
  try {
    closeSync(openSync(path, "a", 0o666));
  } catch (error) {
    throw new StartError(`cannot write ${path}: ${reasonOf(error)}`);
  }
  if (isNew) unlinkSync(path);
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new StartError(`cannot read ${file}: ${reasonOf(error)}`);
  }
}

function jsonOf(file: string): unknown {
  try {
    return JSON.parse(textOf(file));
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError(`${file} is no JSON: ${reasonOf(error)}`);
  }
}
