/** C2SP checkpoints: the signed note with the size and the root of a log. */

import { isCount } from "../numbers/integers.js";
import { base64, bytesFromBase64 } from "./bytes.js";
import { cosignersUnder, NO_WITNESSES, type WitnessPolicy } from "./cosignatures.js";
import {
  isNoteSignedBy,
  type NoteKey,
  parseNote,
  type SignedNote,
  type VerifyEd25519,
} from "./signed-note.js";
import { TREE_HASH_BYTES } from "./tree.js";

export interface Checkpoint {
  readonly origin: string;
  /** Number of entries: of sealed blocks. */
  readonly size: number;
  readonly root: Uint8Array;
}

/** The text that is signed. */
export function checkpointText({ origin, size, root }: Checkpoint): string {
  return `${origin}\n${size}\n${base64(root)}\n`;
}

/** The first three lines; more may follow. Undefined if they are no checkpoint. */
export function parseCheckpoint({ text }: SignedNote): Checkpoint | undefined {
  const [origin = "", digits = "", root = ""] = text.split("\n");
  const size = /^(?:0|[1-9][0-9]{0,15})$/.test(digits) ? Number(digits) : Number.NaN;
  const bytes = bytesFromBase64(root);
  if (origin === "" || !isCount(size) || bytes?.length !== TREE_HASH_BYTES) return undefined;
  return { origin, size, root: bytes };
}

export interface OpenedCheckpoint extends Checkpoint {
  readonly note: SignedNote;
  /** The key that signed it. */
  readonly logKey: NoteKey;
  /** Names of the witnesses of the policy whose cosignatures hold. */
  readonly cosigners: readonly string[];
}

/**
 * The checkpoint of a note that the log's key, or one of its keys, and enough witnesses signed, or why it
 * is none.
 */
export async function openCheckpoint(
  text: string,
  logKeys: NoteKey | readonly NoteKey[],
  verify: VerifyEd25519,
  policy: WitnessPolicy = NO_WITNESSES,
): Promise<OpenedCheckpoint | string> {
  const note = parseNote(text);
  const checkpoint = note === undefined ? undefined : parseCheckpoint(note);
  if (note === undefined || checkpoint === undefined) return "the checkpoint cannot be read";
  const keys = "name" in logKeys ? [logKeys] : logKeys;
  const named = keys.filter(({ name }) => name === checkpoint.origin);
  if (named.length === 0) {
    const names = keys.map(({ name }) => name).join(" or ");
    return `the checkpoint is of ${checkpoint.origin}, not of ${names}`;
  }
  for (const logKey of named) {
    if (!(await isNoteSignedBy(note, logKey, verify))) continue;
    const cosigners = await cosignersUnder(policy, note, verify);
    return typeof cosigners === "string" ? cosigners : { ...checkpoint, note, logKey, cosigners };
  }
  return "the log's key did not sign the checkpoint";
}
