/** The venue's log key and its witnesses, from the settings and the data folder. */

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { parseWitnessKey } from "@perpgate/protocol/receipts";
import {
  type LogKey,
  newLogKey,
  type PromiseOptions,
  readLogKey,
  refuseUnknownLog,
  UnknownToRelease,
} from "@perpgate/venue";
import { reasonOf, StartError } from "../cli/start-error.js";
import { journalFolderOf } from "../cluster/folders.js";
import { createPrivateFile, readPrivateFile } from "../trader/private-file.js";
import type { Settings } from "./settings.js";

/** In a data folder whose settings name no key. */
export const OWN_KEY = "log.key";

/** `isNew`: the key was made now, in the data folder. */
export function openPromises(
  settings: Settings,
  dataFolder: string,
): { readonly promises: PromiseOptions; readonly isNew: boolean } {
  const { file, isNew } = keyFileOf(settings, dataFolder);
  const witnesses = witnessesOf(settings);
  if (isNew) createPrivateFile(file, `${newLogKey().secret}\n`);
  const { issue: issueReceipts, checkpointMs } = settings.receipts;
  const required = requiredOf(settings);
  const promises = { logKey: logKeyIn(file), issueReceipts, witnesses, required, checkpointMs };
  return { promises, isNew };
}

/** What a start refuses; creates nothing. @throws {StartError} */
export function refuseUnusablePromises(settings: Settings, dataFolder: string): void {
  const { file, isNew } = keyFileOf(settings, dataFolder);
  witnessesOf(settings);
  requiredOf(settings);
  if (!isNew) logKeyIn(file);
}

/** `isNew`: it does not exist yet, and a start creates it. */
function keyFileOf({ receipts, log }: Settings, dataFolder: string) {
  if (receipts.logKey !== undefined) return { file: receipts.logKey, isNew: false };
  if (log !== undefined) {
    throw new StartError(
      "the gateways of one venue share its log key: set receipts.logKey; perpgate keygen log makes one",
    );
  }
  const file = join(dataFolder, OWN_KEY);
  const isNew = !existsSync(file);
  if (isNew) refuseLostKey(dataFolder);
  return { file, isNew };
}

function witnessesOf({ receipts }: Settings) {
  const seen = new Set<string>();
  return receipts.witnesses.map(({ url, key: text }) => {
    const key = parseWitnessKey(text);
    if (key === undefined) {
      throw new StartError(`receipts.witnesses: ${text} is not the verifier key of a witness`);
    }
    // One key under two names would count as two witnesses, and two of one name as one.
    for (const part of [key.name, Buffer.from(key.publicKey).toString("hex")]) {
      if (seen.has(part)) {
        throw new StartError(`receipts.witnesses: the name or key of ${text} is there twice`);
      }
      seen.add(part);
    }
    return { url, key };
  });
}

/** Cosignatures that a checkpoint needs before it is published. */
function requiredOf({ receipts: { policy, require, witnesses } }: Settings): number {
  if (policy !== "strict") {
    if (require === undefined) return 0;
    throw new StartError("receipts.require is for receipts.policy strict");
  }
  const required = require ?? witnesses.length;
  if (required > 0 && required <= witnesses.length) return required;
  throw new StartError(
    `receipts.policy strict requires ${Math.max(1, required)} of ${witnesses.length} witnesses: ` +
      "no checkpoint could be published",
  );
}

/** A new key would begin a new log without a word: only a new venue gets one. */
function refuseLostKey(dataFolder: string): void {
  const journal = journalFolderOf(dataFolder);
  if (!hasSegment(journal)) return;
  refuseOtherRelease(journal);
  throw new StartError(
    `there is no ${OWN_KEY} in ${dataFolder}, which has a log: restore it, or make another with ` +
      `perpgate keygen log ${join(dataFolder, OWN_KEY)}; receipts and checkpoints that exist stay ` +
      "those of the old key, and a new transparency log begins",
  );
}

/** No key helps where this release cannot read the log. */
function refuseOtherRelease(journal: string): void {
  try {
    refuseUnknownLog(journal);
  } catch (error) {
    throw error instanceof UnknownToRelease ? new StartError(error.message) : error;
  }
}

function hasSegment(journal: string): boolean {
  return existsSync(journal) && readdirSync(journal).some((name) => name.endsWith(".log"));
}

export function logKeyIn(file: string): LogKey {
  const text = readPrivateFile(file);
  if (text === undefined) {
    throw new StartError(
      `there is no log key in ${file}: copy that of the venue's other gateways, or make one for a ` +
        "new venue with perpgate keygen log",
    );
  }
  try {
    return readLogKey(text);
  } catch (error) {
    throw new StartError(`${file} cannot be used as log key: ${reasonOf(error)}`);
  }
}
