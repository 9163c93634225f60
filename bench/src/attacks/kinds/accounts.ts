/** Accounts that an attacker opens for itself, and orders that they sign. */
import { createHash, createPrivateKey, type KeyObject, sign } from "node:crypto";
import { type SignedIn, type SignInOptions, signInRequest, tokenIn } from "../../orders/sign-in.js";
import type { Target } from "../attack.js";
import { message } from "../wire/frames.js";
import { request } from "../wire/requests.js";

export async function attackerAccount(
  target: Target,
  options: SignInOptions = {},
): Promise<SignedIn> {
  const { address, privateKeyPem, body } = await signInRequest(target.origin, options);
  const { text } = await target.post("/v1/auth/siwe", body);
  const answer: unknown = JSON.parse(text);
  return { address, privateKeyPem, token: tokenIn(answer) };
}

export async function attackerAccounts(target: Target, count: number): Promise<SignedIn[]> {
  const accounts: SignedIn[] = [];
  for (let i = 0; i < count; i++) accounts.push(await attackerAccount(target));
  return accounts;
}

/** By either kind of key, as `X-Service-Sig` wants it. */
export function sessionSignature(key: KeyObject, body: string): string {
  const digest = createHash("sha256").update(body).digest();
  if (key.asymmetricKeyType === "ed25519") return sign(null, digest, key).toString("base64");
  return sign("sha256", Buffer.from(body), { key, dsaEncoding: "ieee-p1363" }).toString("base64");
}

/** Makes orders of one account, each with a new nonce unless the fields name one. */
export class OrderMaker {
  private readonly key: KeyObject;
  private nonce = Date.now();

  constructor(private readonly account: SignedIn) {
    this.key = createPrivateKey(account.privateKeyPem);
  }

  body(fields: Readonly<Record<string, unknown>> = {}): string {
    this.nonce++;
    const order = {
      symbol: "BTCUSD",
      side: this.nonce % 2 === 0 ? "long" : "short",
      type: "market",
      margin: 2,
      leverage: 5,
      nonce: this.nonce,
      ...fields,
    };
    return JSON.stringify(order);
  }

  /** `sig` replaces the right signature. */
  request(body: string, sig = sessionSignature(this.key, body)): Buffer {
    const { token } = this.account;
    return request({ path: "/v1/orders", token, headers: { "x-service-sig": sig }, body });
  }

  message(body: string, sig = sessionSignature(this.key, body)): Buffer {
    return message({ op: "order", body, sig });
  }
}

/** As long as a signature of the same kind, and of nobody. */
export const WRONG_SIGNATURE = Buffer.alloc(64, 7).toString("base64");
/** 43 characters of base64url, as a token has. */
export const WRONG_TOKEN = "w".repeat(43);
