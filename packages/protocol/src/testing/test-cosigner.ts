/** The key of a witness for tests: it cosigns any text. */

import { generateKeyPairSync, sign } from "node:crypto";
import { NOTE_KEY, type NoteKey, noteKeyText, signatureLine } from "../receipts/signed-note.js";

export class TestCosigner {
  readonly key: NoteKey;
  /** The verifier key. */
  readonly text: string;
  private readonly pair = generateKeyPairSync("ed25519");

  constructor(name = "witness.example/w1") {
    const raw = this.pair.publicKey.export({ format: "der", type: "spki" }).subarray(-32);
    this.key = { name, algorithm: NOTE_KEY.cosignature, publicKey: new Uint8Array(raw) };
    this.text = noteKeyText(this.key);
  }

  /** The signature line under the text of a note. With another `claimed` key it is a forgery. */
  line(text: string, claimed: NoteKey = this.key): string {
    const seconds = BigInt(Math.floor(Date.now() / 1_000));
    const timed = Buffer.alloc(8);
    timed.writeBigUInt64BE(seconds);
    const message = Buffer.from(`cosignature/v1\ntime ${seconds}\n${text}`);
    const signature = sign(null, message, this.pair.privateKey);
    return signatureLine(claimed, new Uint8Array(Buffer.concat([timed, signature])));
  }
}
