/**
 * The log's keys as a folder shows them: `log.key`, and the successors of a key. Neither is trusted: a
 * pinned key leads to the others, and the folder's own key must be the last of its chain, because a start
 * signs with it.
 */
import { existsSync, readFileSync } from "node:fs";
import {
  logKeyChain,
  type NoteKey,
  noteKeyText,
  openCheckpoint,
} from "@perpgate/protocol/receipts";
import { LogKeyUnreadable, readLogKey } from "../receipts/log-key.js";
import { verifyEd25519Now } from "../receipts/verify-ed25519.js";
import type { DataFolder } from "../recovery/data-folder.js";
import { readSuccessors } from "../tlog/successor-store.js";
import { ConfigRefused } from "../venue-errors.js";
import type { SignedClaim } from "./stored-claims.js";

export interface FolderKeys {
  /** The pinned key and the others of its chain, the oldest first; empty without a pinned one. */
  readonly pinned: readonly NoteKey[];
  readonly fault: string | null;
}

export async function folderKeys(
  folder: DataFolder,
  pinned: NoteKey | undefined,
  signed: SignedClaim,
): Promise<FolderKeys> {
  const keys: NoteKey[] = [];
  const fault = await keyFault(folder, pinned, signed, keys);
  return { pinned: pinned === undefined ? [] : keys, fault };
}

/** Puts the chain of the pinned key, or else of the folder's own, into `keys`. */
async function keyFault(
  folder: DataFolder,
  pinned: NoteKey | undefined,
  { logCheckpoint }: SignedClaim,
  keys: NoteKey[],
): Promise<string | null> {
  const own = ownKey(folder.logKey);
  if (typeof own === "string") return own;
  const from = pinned ?? own;
  if (from === undefined) return null;
  const notes = successorsIn(folder.logSuccessors);
  if (typeof notes === "string") return notes;
  const chain = await logKeyChain(from, notes, verifyEd25519Now);
  if (typeof chain === "string") return chain;
  keys.push(...chain);
  const last = noteKeyText(chain.at(-1) ?? from);
  if (own !== undefined && noteKeyText(own) !== last) {
    return `log.key is ${noteKeyText(own)}; the log's key is ${last}`;
  }
  if (pinned !== undefined || logCheckpoint === undefined) return null;
  const opened = await openCheckpoint(logCheckpoint, chain, verifyEd25519Now);
  return typeof opened === "string" ? `log-checkpoint and log.key: ${opened}` : null;
}

function ownKey(file: string): NoteKey | undefined | string {
  if (!existsSync(file)) return undefined;
  try {
    return readLogKey(readFileSync(file, "utf8"));
  } catch (error) {
    if (error instanceof LogKeyUnreadable) return `log.key: ${error.message}`;
    throw error;
  }
}

function successorsIn(file: string): readonly string[] | string {
  try {
    return readSuccessors(file);
  } catch (error) {
    if (error instanceof ConfigRefused) return error.message;
    throw error;
  }
}
