/** What several kinds share: numbers of connections, and orders of an attacker's account, rightly signed or not. */
import { createPrivateKey, type KeyObject } from "node:crypto";
import { type BenchAccount, type BenchSignIn, signIn } from "../../harness/http.js";
import { message, orderRequest, signatureOf } from "../../harness/wire.js";
import type { Target } from "../attack.js";

export const FEW = { connections: 4 };
export const MANY = { connections: 16 };
/** As long as a signature, and valid for no key. */
export const WRONG_SIGNATURE = Buffer.alloc(64, 7).toString("base64");
/** 43 characters of base64url, as a token has. */
export const WRONG_TOKEN = "w".repeat(43);
/** A hundred client addresses of one network. */
export function hundredAddresses(network: string): string[] {
  return times(100, (i) => `${network}.${i + 1}`);
}

export const ORDER =
  '{"symbol":"BTCUSD","side":"long","type":"market","margin":2,"leverage":5,"nonce":1}';

export function times<T>(count: number, make: (i: number) => T): T[] {
  return Array.from({ length: count }, (_, i) => make(i));
}

/** Makes orders of one account, each with a new nonce unless the fields name one. */
export class OrderMaker {
  private readonly key: KeyObject;
  private nonce = Date.now();

  constructor(private readonly account: BenchAccount) {
    this.key = createPrivateKey(account.privateKeyPem);
  }

  static async of({ address }: Target, options: BenchSignIn = {}): Promise<OrderMaker> {
    return new OrderMaker(await signIn(address, options));
  }

  get token(): string {
    return this.account.token;
  }

  body(fields: Readonly<Record<string, unknown>> = {}): string {
    const nonce = ++this.nonce;
    const side = nonce % 2 === 0 ? "long" : "short";
    const order = { symbol: "BTCUSD", side, type: "market", margin: 2, leverage: 5, nonce };
    return JSON.stringify({ ...order, ...fields });
  }

  signature(body: string): string {
    return signatureOf(this.key, body);
  }

  /** `sig` replaces the right signature. */
  request(body: string, sig = this.signature(body)): Buffer {
    return orderRequest(this.token, body, sig);
  }

  message(body: string, sig = this.signature(body)): Buffer {
    return message({ op: "order", body, sig });
  }
}
