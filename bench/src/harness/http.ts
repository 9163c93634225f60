/** Plain requests outside the measured load, from a chosen client address, and sign-ins. */
import { createPrivateKey, generateKeyPairSync, randomBytes } from "node:crypto";
import { type Agent, request } from "node:http";
import { text as textOf } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { createSiweMessage } from "viem/siwe";
import { signatureOf } from "./wire.js";

/** A server on this machine, and the client address that it sees. */
export interface GatewayAddress {
  readonly port: number;
  readonly localAddress?: string;
}

type Answer = { readonly status: number; readonly text: string };

interface Ask {
  readonly body?: string;
  readonly token?: string;
  readonly signature?: string;
  readonly agent?: Agent | false;
}

const LIMITED_PAUSE_MS = 250;
const MAX_TRIES = 40;

/** A request with a body is a POST unless the method is given. */
export function askOnce(
  address: GatewayAddress,
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
    sent.on("error", reject).on("response", (response) => {
      const status = response.statusCode ?? 0;
      textOf(response).then((text) => resolve({ status, text }), reject);
    });
    sent.end(body);
  });
}

/** Repeats a request that a rate limit refused. */
export async function ask(
  address: GatewayAddress,
  path: string,
  options: Ask = {},
): Promise<Answer> {
  for (let tries = 1; ; tries++) {
    const answer = await askOnce(address, path, options);
    if (answer.status !== 429 || tries === MAX_TRIES) return answer;
    await sleep(LIMITED_PAUSE_MS);
  }
}

export interface BenchAccount {
  readonly token: string;
  readonly privateKeyPem: string;
}

/** The answer to a signed request of an account; throws unless it is 200. */
export async function askSigned(
  address: GatewayAddress,
  { token, privateKeyPem }: BenchAccount,
  path: string,
  content: object,
): Promise<string> {
  const body = JSON.stringify(content);
  const signature = signatureOf(createPrivateKey(privateKeyPem), body);
  const { status, text } = await ask(address, path, { body, token, signature });
  if (status !== 200) throw new Error(`${path}: ${status} ${text}`);
  return text;
}

export interface BenchSignIn {
  readonly keyKind?: "ed25519" | "secp256k1";
  /** Lines below `Resources:`; `{key}` is replaced by the session key in hex. */
  readonly resources?: readonly string[];
}

/** A sign-in of a new wallet with a new session key, signed and not sent. */
export async function signInRequest(
  { port }: GatewayAddress,
  { keyKind = "ed25519", resources }: BenchSignIn = {},
): Promise<Omit<BenchAccount, "token"> & { readonly body: string }> {
  const wallet = privateKeyToAccount(generatePrivateKey());
  const isEd25519 = keyKind === "ed25519";
  const { publicKey, privateKey } = isEd25519
    ? generateKeyPairSync("ed25519")
    : generateKeyPairSync("ec", { namedCurve: "secp256k1" });
  // 32 bytes of Ed25519, or x‖y of secp256k1: both end the DER encoding.
  const der = publicKey.export({ type: "spki", format: "der" });
  const sessionKey = der.subarray(isEd25519 ? -32 : -64).toString("hex");
  const message = createSiweMessage({
    address: wallet.address,
    domain: `127.0.0.1:${port}`,
    statement: "Trade on the testnet.",
    uri: `http://127.0.0.1:${port}`,
    version: "1",
    chainId: 1,
    nonce: randomBytes(12).toString("hex"),
    resources: resources?.map((resource) => resource.replace("{key}", sessionKey)),
  });
  const signature = await wallet.signMessage({ message });
  const privateKeyPem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const body = JSON.stringify({ message, signature, sessionKey });
  return { privateKeyPem, body };
}

export async function signIn(
  server: GatewayAddress,
  options: BenchSignIn = {},
): Promise<BenchAccount> {
  const { body, ...account } = await signInRequest(server, options);
  const { text } = await ask(server, "/v1/auth/siwe", { body });
  const token = /"token":"([^"]+)"/.exec(text)?.[1];
  if (token === undefined) throw new Error(`sign-in: ${text}`);
  return { ...account, token };
}

export async function signInMany(server: GatewayAddress, count: number): Promise<BenchAccount[]> {
  const accounts: BenchAccount[] = [];
  for (let i = 0; i < count; i++) accounts.push(await signIn(server));
  return accounts;
}
