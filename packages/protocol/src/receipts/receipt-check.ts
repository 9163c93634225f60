/** Checks a receipt without its venue: the certificate, the signature of its batch, its place in it. */

import { isSafePublicKey } from "../accounts/signing.js";
import { rootFromLeafHash, treeLeafHash } from "../blocks/merkle-path.js";
import { certifiedBytes, type Receipt, signedRoot, statementBytes } from "./receipt.js";
import type { VerifyEd25519 } from "./signed-note.js";

interface ReceiptTrust {
  /** The public key of the venue's log, 32 bytes: pinned by the one who checks. */
  readonly logKey: Uint8Array;
  readonly verify: VerifyEd25519;
}

/** Why the receipt does not hold, or null. */
export async function receiptProblem(
  receipt: Receipt,
  { logKey, verify }: ReceiptTrust,
): Promise<string | null> {
  const { statement, index, size, path, signature, receiptKey, certificate } = receipt;
  if (!isSafePublicKey(receiptKey))
    return "the key of the receipt is one under which anyone can sign";
  const certified = certifiedBytes(statement.venueId, receiptKey);
  if (!(await verify(logKey, certified, certificate))) {
    return "the log's key did not certify the key of the receipt";
  }
  const root = rootFromLeafHash(treeLeafHash(statementBytes(statement)), index, size, path);
  if (root === undefined) return "the path does not fit its place in the batch";
  if (!(await verify(receiptKey, signedRoot(size, root), signature))) {
    return "the signature is not over this statement";
  }
  return null;
}
