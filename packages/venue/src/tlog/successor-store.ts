/**
 * The successor notes of a venue's log key, in its data folder: a JSON array of signed notes. They are
 * durable before the new key signs anything, and served for as long as the log is.
 */
import { existsSync, readFileSync, statSync } from "node:fs";
import {
  logKeyChain,
  MAX_SUCCESSOR_BYTES,
  MAX_SUCCESSORS,
  type NoteKey,
  noteKeyText,
  parseNotes,
  signatureLine,
  successorText,
} from "@perpgate/protocol/receipts";
import { type LogKey, signWith } from "../receipts/log-key.js";
import { verifyEd25519Now } from "../receipts/verify-ed25519.js";
import { dataFolder } from "../recovery/data-folder.js";
import { ConfigRefused } from "../venue-errors.js";
import { writeDurably } from "./durable-file.js";

/** @throws {ConfigRefused} if the file cannot be read as notes. */
export function readSuccessors(file: string): readonly string[] {
  if (!existsSync(file)) return [];
  const isBounded = statSync(file).size <= MAX_SUCCESSOR_BYTES;
  const notes = isBounded ? parseNotes(readFileSync(file, "utf8")) : undefined;
  if (notes !== undefined) return notes;
  throw new ConfigRefused("log_key_differs", `${file} is no list of successor notes`);
}

/** The log's keys, the newest last, which is the given one. @throws {ConfigRefused} otherwise */
export async function keysOfLog(
  key: NoteKey,
  notes: readonly string[],
): Promise<readonly NoteKey[]> {
  const chain = await logKeyChain(key, notes, verifyEd25519Now);
  if (typeof chain === "string") throw new ConfigRefused("log_key_differs", chain);
  const last = noteKeyText(chain.at(-1) ?? key);
  if (last === noteKeyText(key)) return chain;
  throw new ConfigRefused(
    "log_key_differs",
    `the log key ${noteKeyText(key)} was succeeded by ${last}: only that one may sign`,
  );
}

export function successorsFile(directory: string): string {
  return dataFolder(directory).logSuccessors;
}

/**
 * Announces that `to` succeeds `from`, durably; again, without any effect.
 *
 * @throws {ConfigRefused} where the chain forbids it
 */
export async function succeed(file: string, from: LogKey, to: LogKey): Promise<void> {
  const notes = readSuccessors(file);
  if (from.text === to.text) {
    throw new ConfigRefused("log_key_differs", `${to.text} is the present log key`);
  }
  const chain = await logKeyChain(from, notes, verifyEd25519Now);
  if (typeof chain !== "string" && noteKeyText(chain.at(-1) ?? from) === to.text) return;
  await keysOfLog(from, notes);
  const text = successorText({ from, to });
  const lines = [from, to].map((key) =>
    signatureLine(key, signWith(key.privateKey, Buffer.from(text))),
  );
  const all = [...notes, `${text}\n${lines.join("")}`];
  await keysOfLog(to, all);
  const json = `${JSON.stringify(all)}\n`;
  if (json.length > MAX_SUCCESSOR_BYTES) {
    throw new ConfigRefused("log_key_differs", `at most ${MAX_SUCCESSORS} successors are possible`);
  }
  await writeDurably(file, json);
}
