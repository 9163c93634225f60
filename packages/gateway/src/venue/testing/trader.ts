/** A client written from the contract alone: a wallet, a session key, signed requests. */

import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import type { PlaceOrderBody } from "@perpgate/protocol";
import { generatePrivateKey, type LocalAccount, privateKeyToAccount } from "viem/accounts";
import { type SiweFields, siweText } from "../../auth/testing/siwe-text.js";
import { type Answer, ask } from "../../testing/running-gateway.js";
import type { RunningVenue } from "./running-venue.js";

export type SignaturePlan = "digest" | "body" | "none" | { readonly header: string };

let lastNonce = 0;

export class Trader {
  sessionKey = newSessionKey();
  token = "";

  /** The number of the session. */
  get session(): number {
    return Number(this.token.split(".")[1]);
  }

  expiresAt = 0;
  private orderNonce = 0;

  constructor(
    private readonly at: RunningVenue,
    readonly wallet: LocalAccount = privateKeyToAccount(generatePrivateKey()),
  ) {}

  /** A trader that has signed in. */
  static async enter(at: RunningVenue, fields: SiweFields = {}): Promise<Trader> {
    const trader = new Trader(at);
    const answer = await trader.signIn(fields);
    if (answer.status !== 200) throw new Error(`sign-in: ${answer.text}`);
    return trader;
  }

  /** Another session of the same account, with a key of its own. */
  async again(): Promise<Trader> {
    const trader = new Trader(this.at, this.wallet);
    const answer = await trader.signIn({ resources: [trader.resource()] });
    if (answer.status !== 200) throw new Error(`sign-in: ${answer.text}`);
    return trader;
  }

  message(fields: SiweFields = {}): string {
    lastNonce++;
    return siweText({
      domain: "localhost",
      address: this.wallet.address,
      uri: "http://localhost",
      version: "1",
      chainId: 1,
      nonce: `nonce${String(lastNonce).padStart(8, "0")}`,
      issuedAt: new Date(this.at.nowMs()).toISOString(),
      ...fields,
    });
  }

  /** The resource that binds this trader's key, with caps. */
  resource(caps = ""): string {
    return `urn:perpgate:session?key=${this.sessionKey.publicHex}${caps}`;
  }

  async signIn(fields: SiweFields = {}): Promise<Answer> {
    return this.submitSignIn(this.message(fields));
  }

  async submitSignIn(message: string, changes: object = {}): Promise<Answer> {
    const signature = await this.wallet.signMessage({ message });
    const sessionKey = this.sessionKey.publicHex;
    const body = JSON.stringify({ message, signature, sessionKey, ...changes });
    const answer = await this.post("/v1/auth/siwe", body, {});
    if (answer.status === 200) {
      this.token = String(answer.body.token);
      this.expiresAt = Number(answer.body.expiresAt);
    }
    return answer;
  }

  /** The same session at another gateway, or after a restart. */
  movedTo(at: RunningVenue): Trader {
    const moved = new Trader(at);
    moved.token = this.token;
    moved.sessionKey = this.sessionKey;
    return moved;
  }

  /** A body with the next nonce; by default a market order of 100 dollars at leverage 5. */
  order(changes: Partial<PlaceOrderBody> = {}): PlaceOrderBody {
    this.orderNonce++;
    return {
      symbol: "BTCUSD",
      side: "long",
      type: "market",
      margin: 100,
      leverage: 5,
      nonce: this.orderNonce,
      ...changes,
    };
  }

  limit(side: "long" | "short", price: number, changes: Partial<PlaceOrderBody> = {}) {
    return this.order({ side, type: "limit", price, ...changes });
  }

  place(body: object, plan: SignaturePlan = "digest"): Promise<Answer> {
    return this.placeText(JSON.stringify(body), plan);
  }

  placeText(text: string, plan: SignaturePlan = "digest"): Promise<Answer> {
    return this.post("/v1/orders", text, { ...this.bearer(), ...this.signatureOf(text, plan) });
  }

  signatureOf(text: string, plan: SignaturePlan = "digest"): Record<string, string> {
    if (plan === "none") return {};
    if (typeof plan === "object") return { "x-service-sig": plan.header };
    const bytes = Buffer.from(text);
    const message = plan === "body" ? bytes : createHash("sha256").update(bytes).digest();
    return { "x-service-sig": sign(null, message, this.sessionKey.privateKey).toString("hex") };
  }

  /** A signed request with this body. */
  signed(path: string, body: object): Promise<Answer> {
    const text = JSON.stringify(body);
    return this.post(path, text, { ...this.bearer(), ...this.signatureOf(text, "digest") });
  }

  rotate(newSessionKey: string, plan: SignaturePlan = "none"): Promise<Answer> {
    const text = JSON.stringify({ newSessionKey });
    const headers = { ...this.bearer(), ...this.signatureOf(text, plan) };
    return this.post("/v1/auth/rotate", text, headers);
  }

  get(path: string): Promise<Answer> {
    return ask(this.at.url + path, { headers: this.bearer() });
  }

  async list(path: string): Promise<readonly Record<string, unknown>[]> {
    const { text } = await this.get(path);
    return JSON.parse(text);
  }

  cancel(orderId: unknown): Promise<Answer> {
    return this.post(`/v1/orders/${orderId}/cancel`, undefined, this.bearer());
  }

  /** A POST with a JSON body, or with none. */
  send(path: string, body?: object): Promise<Answer> {
    return this.post(path, body === undefined ? undefined : JSON.stringify(body), this.bearer());
  }

  signOut(): Promise<Answer> {
    const init = { method: "DELETE", headers: this.bearer() };
    return ask(`${this.at.url}/v1/auth/session`, init);
  }

  /** A DELETE, signed as the plan says over its method and path. */
  delete(path: string, plan: SignaturePlan = "digest"): Promise<Answer> {
    const headers = { ...this.bearer(), ...this.signatureOf(`DELETE ${path}`, plan) };
    return ask(this.at.url + path, { method: "DELETE", headers });
  }

  bearer(): Record<string, string> {
    return { authorization: `Bearer ${this.token}` };
  }

  private post(path: string, body: string | undefined, headers: Record<string, string>) {
    const type: Record<string, string> =
      body === undefined ? {} : { "content-type": "application/json" };
    const init = { method: "POST", headers: { ...type, ...headers } };
    return ask(this.at.url + path, body === undefined ? init : { ...init, body });
  }
}

export interface SessionKeyPair {
  readonly publicHex: string;
  readonly raw: Buffer;
  readonly privateKey: KeyObject;
}

export function newSessionKey(): SessionKeyPair {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const { x = "" } = publicKey.export({ format: "jwk" });
  const raw = Buffer.from(x, "base64url");
  return { publicHex: raw.toString("hex"), raw, privateKey };
}
