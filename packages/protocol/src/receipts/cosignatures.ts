/** Cosignatures of witnesses under a note: which ones hold under the keys that the reader has. */

import {
  isNoteSignedBy,
  NOTE_KEY,
  type NoteKey,
  type NoteSignature,
  parseNoteKey,
  type SignedNote,
  signaturesBy,
  type VerifyEd25519,
} from "./signed-note.js";

export interface Cosignatures {
  /** Names of the witnesses whose cosignatures hold. */
  readonly cosigners: readonly string[];
  /** Signatures by one of the keys that are not valid. */
  readonly invalid: readonly NoteSignature[];
}

/** The key of a witness's verifier key text; undefined if it is none, or the key of a log. */
export function parseWitnessKey(text: string): NoteKey | undefined {
  const key = parseNoteKey(text);
  return key?.algorithm === NOTE_KEY.cosignature ? key : undefined;
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
