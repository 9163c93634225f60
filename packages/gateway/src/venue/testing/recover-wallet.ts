/** Which wallet signed a sign-in message, for `verify` in tests. */

import { keySignatureOf, messageHash, recoverSigner } from "../../auth/wallet-signature.js";

export async function recoverWallet(
  message: Uint8Array,
  signature: Uint8Array,
): Promise<string | null> {
  const parts = keySignatureOf(signature);
  if (parts === undefined) return null;
  const hash = messageHash(Buffer.from(message).toString("utf8"));
  return recoverSigner(hash, parts)?.slice(2) ?? null;
}
