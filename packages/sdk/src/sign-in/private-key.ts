/** A local account from a private key, for programs without a wallet library. */

import { secp256k1 } from "@noble/curves/secp256k1.js";
import { keccak_256 } from "@noble/hashes/sha3.js";
import { bytesFromHex, checksumAddress, hexFromBytes } from "@perpgate/protocol/core";
import type { MessageSigner } from "./wallet.js";

const SECRET_BYTES = 32;
const ADDRESS_BYTES = 20;
/** EIP-191: what a signed text begins with. */
const PREFIX = "\x19Ethereum Signed Message:\n";
/** `v` of a signature for the first of the possible keys. */
const FIRST_V = 27;

/**
 * The account of an Ethereum private key (hex, `0x` optional), which signs in `client.signIn`.
 *
 * @throws RangeError if the text is not a private key.
 * @example
 * const account = privateKeyAccount(newPrivateKey());
 * const session = await client.signIn({ account });
 * console.log(session.address === account.address);
 */
export function privateKeyAccount(privateKey: string): MessageSigner {
  const secret = bytesFromHex(privateKey);
  if (secret?.length !== SECRET_BYTES || !secp256k1.utils.isValidSecretKey(secret)) {
    throw new RangeError("a private key is 32 bytes of hex, and not zero");
  }
  const point = secp256k1.getPublicKey(secret, false).subarray(1);
  const address = checksumAddress(`0x${hexFromBytes(keccak_256(point).subarray(-ADDRESS_BYTES))}`);
  return {
    address,
    signMessage: async ({ message }) => {
      const bytes = new TextEncoder().encode(message);
      const prefix = new TextEncoder().encode(`${PREFIX}${bytes.length}`);
      const digest = keccak_256(Uint8Array.from([...prefix, ...bytes]));
      const signed = secp256k1.sign(digest, secret, { prehash: false, format: "recovered" });
      const [recovery = 0] = signed;
      return `0x${hexFromBytes(signed.subarray(1))}${(FIRST_V + recovery).toString(16)}`;
    },
  };
}

/**
 * A new random private key, hex with `0x`.
 *
 * @example
 * const account = privateKeyAccount(newPrivateKey());
 * console.log(account.address);
 */
export function newPrivateKey(): string {
  return `0x${hexFromBytes(secp256k1.utils.randomSecretKey())}`;
}
