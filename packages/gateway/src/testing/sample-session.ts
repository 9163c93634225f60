/** The session of the sample venue, and what its client signs. */

import { hash } from "node:crypto";
import { ed25519 } from "@noble/curves/ed25519.js";
import { hexFromBytes } from "@perpgate/protocol/core";
import { privateKeyToAccount } from "viem/accounts";
import { siweText } from "../auth/testing/siwe-text.js";
import { SAMPLE_TOKEN } from "./running-gateway.js";

const SECRET = new Uint8Array(32).fill(9);
const WALLET = privateKeyToAccount(`0x${"01".repeat(32)}`);
/** The clock of a gateway in tests. */
const ISSUED_AT_MS = 1_700_000_000_000;

export const SAMPLE_KEY = ed25519.getPublicKey(SECRET);

export const SAMPLE_SESSION = {
  account: 1,
  tokenHash: hash("sha256", SAMPLE_TOKEN.split(".")[0] ?? "", "hex"),
  publicKey: SAMPLE_KEY,
  isKeyBound: false,
};

export function sampleSignature(text: string): string {
  return hexFromBytes(ed25519.sign(Buffer.from(text), SECRET));
}

export async function sampleSignIn() {
  const message = siweText({
    domain: "localhost",
    address: WALLET.address,
    uri: "http://localhost",
    version: "1",
    chainId: 1,
    nonce: "nonce0001",
    issuedAt: new Date(ISSUED_AT_MS).toISOString(),
  });
  const signature = await WALLET.signMessage({ message });
  return { message, signature, sessionKey: hexFromBytes(SAMPLE_KEY) };
}
