/** Traders for a load: each a fresh wallet that signs in with a fresh session key. */
import { generateKeyPairSync, type KeyObject, randomBytes } from "node:crypto";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";

export interface SignedIn {
  readonly address: string;
  readonly token: string;
  readonly privateKeyPem: string;
}

export interface SignInOptions {
  readonly keyKind?: "ed25519" | "secp256k1";
  /** Lines under `Resources:`; `{key}` stands for the session key in hex. */
  readonly resources?: readonly string[];
}

/** A sign-in that was signed and not sent. */
export interface SignInRequest {
  readonly address: string;
  readonly privateKeyPem: string;
  readonly body: string;
}

/** `site` is the page that the message names. */
export async function signInRequest(
  site: string,
  { keyKind = "ed25519", resources = [] }: SignInOptions = {},
): Promise<SignInRequest> {
  const wallet = privateKeyToAccount(generatePrivateKey());
  const { publicKey, privateKey } = newKeyPair(keyKind);
  const sessionKey = rawKey(publicKey).toString("hex");
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
    ...(resources.length === 0 ? [] : ["Resources:"]),
    ...resources.map((resource) => `- ${resource.replace("{key}", sessionKey)}`),
  ].join("\n");
  const signature = await wallet.signMessage({ message });
  const privateKeyPem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const body = JSON.stringify({ message, signature, sessionKey });
  return { address: wallet.address, privateKeyPem, body };
}

/** `site` is by default the gateway itself. */
export async function signIn(origin: string, site = origin): Promise<SignedIn> {
  const { address, privateKeyPem, body } = await signInRequest(site);
  const response = await fetch(`${origin}/v1/auth/siwe`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  return { address, token: tokenIn(await response.json()), privateKeyPem };
}

/** The token in the answer to a sign-in. */
export function tokenIn(body: unknown): string {
  if (typeof body === "object" && body !== null && "token" in body) return String(body.token);
  throw new Error(`sign-in: ${JSON.stringify(body)}`);
}

function newKeyPair(kind: "ed25519" | "secp256k1"): {
  publicKey: KeyObject;
  privateKey: KeyObject;
} {
  if (kind === "ed25519") return generateKeyPairSync("ed25519");
  return generateKeyPairSync("ec", { namedCurve: "secp256k1" });
}

/** 32 bytes of Ed25519, or x‖y of secp256k1: both end the DER encoding. */
function rawKey(publicKey: KeyObject): Buffer {
  const bytes = publicKey.asymmetricKeyType === "ed25519" ? 32 : 64;
  return publicKey.export({ type: "spki", format: "der" }).subarray(-bytes);
}
