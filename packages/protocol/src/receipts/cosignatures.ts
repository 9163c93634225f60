/** Cosignatures of witnesses under a note: which ones hold, and whether they suffice for its reader. */

import { equalBytes } from "./bytes.js";
import {
  isNoteSignedBy,
  type NoteKey,
  type NoteSignature,
  noteKeyText,
  parseWitnessKey,
  type SignedNote,
  signaturesBy,
  type VerifyEd25519,
} from "./signed-note.js";

interface Cosignatures {
  /** Names of the witnesses whose cosignatures hold. */
  readonly cosigners: readonly string[];
  /** Signatures by one of the keys that are not valid. */
  readonly invalid: readonly NoteSignature[];
}

/** The witnesses that a reader knows, and how many of them must have cosigned a checkpoint. */
export interface WitnessPolicy {
  /** Each once. */
  readonly keys: readonly NoteKey[];
  /** A checkpoint with fewer cosignatures counts as none. */
  readonly required: number;
}

export const NO_WITNESSES: WitnessPolicy = { keys: [], required: 0 };

export interface WitnessOptions {
  /** Verifier keys of witnesses, from the witnesses themselves. */
  readonly witnessKeys?: readonly string[] | undefined;
  /**
   * A checkpoint counts only if this number of them have cosigned it. Default: all. Cosignatures by these keys
   * that do not hold are refused also with 0; those by other keys are not checked.
   */
  readonly require?: number | undefined;
}

/** The policy of keys as text, or what is wrong with them. */
export function witnessPolicy({
  witnessKeys = [],
  require,
}: WitnessOptions): WitnessPolicy | string {
  const keys: NoteKey[] = [];
  for (const text of new Set(witnessKeys.map((each) => each.trim()))) {
    const key = parseWitnessKey(text);
    if (key === undefined) return `${text} is not the verifier key of a witness`;
    const same = keys.find((known) => isSameWitness(known, key));
    if (same !== undefined) return `${noteKeyText(same)} and ${text} are one witness`;
    keys.push(key);
  }
  const required = require ?? keys.length;
  if (Number.isSafeInteger(required) && required >= 0 && required <= keys.length) {
    return { keys, required };
  }
  return `${required} cosignatures cannot be required of ${keys.length} witnesses`;
}

/** Two names of one key, or two keys of one name, would be counted as two witnesses. */
function isSameWitness(one: NoteKey, other: NoteKey): boolean {
  return one.name === other.name || equalBytes(one.publicKey, other.publicKey);
}

/** The names of those who cosigned, or why the note does not count for a reader with that policy. */
export async function cosignersUnder(
  { keys, required }: WitnessPolicy,
  note: SignedNote,
  verify: VerifyEd25519,
): Promise<readonly string[] | string> {
  const { cosigners, invalid } = await checkCosignatures(note, keys, verify);
  if (invalid[0] !== undefined) return `the cosignature of ${invalid[0].name} does not hold`;
  if (cosigners.length >= required) return cosigners;
  return `the checkpoint has ${cosigners.length} of the ${required} cosignatures that are required`;
}

/** Signatures by other keys are ignored, also those that name a witness of one of these keys. */
export async function checkCosignatures(
  note: SignedNote,
  witnessKeys: readonly NoteKey[],
  verify: VerifyEd25519,
): Promise<Cosignatures> {
  const cosigners = new Set<string>();
  const invalid: NoteSignature[] = [];
  for (const key of witnessKeys) {
    if (await isNoteSignedBy(note, key, verify)) cosigners.add(key.name);
    else {
      for (const signature of signaturesBy(note, key)) {
        const alone = { text: note.text, signatures: [signature] };
        if (!(await isNoteSignedBy(alone, key, verify))) invalid.push(signature);
      }
    }
  }
  return { cosigners: [...cosigners], invalid };
}
