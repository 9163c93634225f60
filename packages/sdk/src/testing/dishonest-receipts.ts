/** Receipts that a venue signs with its own keys about something that did not happen. */

import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import {
  certifiedBytes,
  encodeReceipt,
  type NoteKey,
  noteKeyText,
  openReceiptFile,
  type ReceiptFile,
  type ReceiptStatement,
  receiptFile,
  signedRoot,
  statementBytes,
  treeLeafHash,
} from "@perpgate/protocol/receipts";

/** The receipt of a file with some of its statement changed, and the request and leaf of its file. */
export function signedAgain(
  file: ReceiptFile,
  changes: Partial<ReceiptStatement>,
  logKey: NoteKey & { readonly privateKey: KeyObject },
  more: Pick<ReceiptFile, "request" | "leaf" | "ack" | "market"> = {},
): ReceiptFile {
  const opened = openReceiptFile(file);
  if (typeof opened === "string") throw new Error(opened);
  const statement = { ...opened.receipt.statement, ...changes };
  const pair = generateKeyPairSync("ed25519");
  const der = pair.publicKey.export({ format: "der", type: "spki" });
  const receiptKey = new Uint8Array(der.subarray(-32));
  const certified = certifiedBytes(statement.venueId, receiptKey);
  const root = treeLeafHash(statementBytes(statement));
  const text = encodeReceipt({
    statement,
    index: 0,
    size: 1,
    path: [],
    signature: sign(null, signedRoot(1, root), pair.privateKey),
    receiptKey,
    certificate: sign(null, certified, logKey.privateKey),
  });
  return receiptFile(noteKeyText(logKey), statement, text, more);
}
