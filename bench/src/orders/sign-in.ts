/** Traders for the load: each a fresh wallet that signs in with a fresh Ed25519 session key. */
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";

export interface SignedIn {
  readonly address: string;
  readonly token: string;
  readonly privateKeyPem: string;
}

/** `site` is the page that the message names; by default the gateway itself. */
export async function signIn(origin: string, site = origin): Promise<SignedIn> {
  const wallet = privateKeyToAccount(generatePrivateKey());
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const raw = publicKey.export({ type: "spki", format: "der" }).subarray(-32);
  const { host } = new URL(site);
  const message = [
    `${host} wants you to sign in with your Ethereum account:`,
    wallet.address,
    "",
    "Trade on the testnet.",
    "",
    `URI: ${site}`,
    "Version: 1",
    "Chain ID: 1",
    `Nonce: ${randomBytes(12).toString("hex")}`,
    `Issued At: ${new Date().toISOString()}`,
  ].join("\n");
  const signature = await wallet.signMessage({ message });
  const response = await fetch(`${origin}/v1/auth/siwe`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ message, signature, sessionKey: raw.toString("hex") }),
  });
  const token = tokenIn(await response.json());
  const privateKeyPem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  return { address: wallet.address, token, privateKeyPem };
}

function tokenIn(body: unknown): string {
  if (typeof body === "object" && body !== null && "token" in body) return String(body.token);
  throw new Error(`sign-in: ${JSON.stringify(body)}`);
}
