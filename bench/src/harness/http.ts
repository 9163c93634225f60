/** Plain requests outside the measured load, from a chosen client address, and sign-ins. */
import { generateKeyPairSync, type KeyObject, randomBytes } from "node:crypto";
import { type Agent, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";

/** A server on this machine, and the client address that it sees. */
export interface Address {
  readonly port: number;
  readonly localAddress?: string;
}

export interface Answer {
  readonly status: number;
  readonly text: string;
}

export interface Ask {
  readonly body?: string;
  readonly token?: string;
  readonly signature?: string;
  readonly agent?: Agent | false;
}

const LIMITED_PAUSE_MS = 250;
const MAX_TRIES = 40;

/** A request with a body is a POST unless the method is given. */
export function askOnce(
  address: Address,
  path: string,
  { body, token, signature, agent }: Ask = {},
  method = body === undefined ? "GET" : "POST",
): Promise<Answer> {
  const headers = {
    ...(body === undefined ? {} : { "content-type": "application/json" }),
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(signature === undefined ? {} : { "x-service-sig": signature }),
  };
  return new Promise((resolve, reject) => {
    const sent = request({ ...address, host: "127.0.0.1", method, path, headers, agent });
    sent.on("error", reject);
    sent.on("response", (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("error", reject);
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
    });
    sent.end(body);
  });
}

/** Repeats a request that a rate limit refused. */
export async function ask(address: Address, path: string, options: Ask = {}): Promise<Answer> {
  for (let tries = 1; ; tries++) {
    const answer = await askOnce(address, path, options);
    if (answer.status !== 429 || tries === MAX_TRIES) return answer;
    await sleep(LIMITED_PAUSE_MS);
  }
}

/** The value of a metric without labels; NaN if there is none. Collected at most once a second. */
export async function metric(address: Address, name: string): Promise<number> {
  await sleep(1_100);
  const { text } = await askOnce(address, "/metrics");
  return Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, "m").exec(text)?.[1] ?? Number.NaN);
}

export interface Account {
  readonly address: string;
  readonly token: string;
  readonly privateKeyPem: string;
}

export interface SignInOptions {
  /** The origin that the message names; by default the server itself. */
  readonly site?: string;
  readonly keyKind?: "ed25519" | "secp256k1";
  /** Lines below `Resources:`; `{key}` is replaced by the session key in hex. */
  readonly resources?: readonly string[];
}

/** A sign-in of a new wallet with a new session key, signed and not sent. */
export async function signInRequest(
  { port }: Address,
  { site = `http://127.0.0.1:${port}`, keyKind = "ed25519", resources = [] }: SignInOptions = {},
): Promise<Omit<Account, "token"> & { readonly body: string }> {
  const wallet = privateKeyToAccount(generatePrivateKey());
  const { publicKey, privateKey } = newKeyPair(keyKind);
  // 32 bytes of Ed25519, or x‖y of secp256k1: both end the DER encoding.
  const keyBytes = keyKind === "ed25519" ? 32 : 64;
  const der = publicKey.export({ type: "spki", format: "der" });
  const sessionKey = der.subarray(-keyBytes).toString("hex");
  const message = [
    `${new URL(site).host} wants you to sign in with your Ethereum account:`,
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

export async function signIn(server: Address, options: SignInOptions = {}): Promise<Account> {
  const { address, privateKeyPem, body } = await signInRequest(server, options);
  const { text } = await ask(server, "/v1/auth/siwe", { body });
  const token = /"token":"([^"]+)"/.exec(text)?.[1];
  if (token === undefined) throw new Error(`sign-in: ${text}`);
  return { address, token, privateKeyPem };
}

export async function signInMany(
  server: Address,
  count: number,
  options: SignInOptions = {},
): Promise<Account[]> {
  const accounts: Account[] = [];
  for (let i = 0; i < count; i++) accounts.push(await signIn(server, options));
  return accounts;
}

function newKeyPair(kind: "ed25519" | "secp256k1"): {
  publicKey: KeyObject;
  privateKey: KeyObject;
} {
  if (kind === "ed25519") return generateKeyPairSync("ed25519");
  return generateKeyPairSync("ec", { namedCurve: "secp256k1" });
}
