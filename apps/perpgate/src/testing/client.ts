/** A client that uses viem and node:crypto, written from the documentation. */

import { createHash, generateKeyPairSync, sign } from "node:crypto";
import { generatePrivateKey, type LocalAccount, privateKeyToAccount } from "viem/accounts";
import { createSiweMessage, generateSiweNonce } from "viem/siwe";

export interface ClientAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
}

export class ProcessClient {
  private readonly key = generateKeyPairSync("ed25519");
  token = "";

  constructor(
    public url: string,
    readonly wallet: LocalAccount = privateKeyToAccount(generatePrivateKey()),
  ) {}

  async signIn(): Promise<ClientAnswer> {
    const answer = await this.request("POST", "/v1/auth/siwe", await this.signInBody());
    if (answer.status === 200) this.token = String(answer.body.token);
    return answer;
  }

  async signInBody(): Promise<object> {
    const message = createSiweMessage({
      domain: "localhost",
      uri: "http://localhost",
      address: this.wallet.address,
      chainId: 1,
      nonce: generateSiweNonce(),
      version: "1",
    });
    const { x = "" } = this.key.publicKey.export({ format: "jwk" });
    return {
      message,
      signature: await this.wallet.signMessage({ message }),
      sessionKey: Buffer.from(x, "base64url").toString("hex"),
    };
  }

  /** The same trader at another gateway. */
  at(url: string): ProcessClient {
    return Object.assign(Object.create(this), { url });
  }

  place(order: object): Promise<ClientAnswer> {
    return this.request("POST", "/v1/orders", order, this.signatureOf(order));
  }

  /** The header that signs what `JSON.stringify` makes of the body. */
  signatureOf(body: object): Readonly<Record<string, string>> {
    const digest = createHash("sha256").update(JSON.stringify(body)).digest();
    return { "x-service-sig": sign(null, digest, this.key.privateKey).toString("hex") };
  }

  async request(
    method: string,
    path: string,
    body?: object,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<ClientAnswer> {
    const response = await fetch(this.url + path, {
      method,
      headers: {
        ...(this.token === "" ? {} : { authorization: `Bearer ${this.token}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer: Readonly<Record<string, unknown>> = JSON.parse(await response.text());
    return { status: response.status, headers: response.headers, body: answer };
  }
}
