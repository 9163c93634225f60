/**
 * Orders over the link alone, prepared as an edge hands them on, in a closed loop: what the core of a
 * venue takes from as many edges as it needs. A process.
 */
import { createHash, createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { connectToCore, EdgeLink, type RequestBodies } from "@perpgate/link";
import { serve } from "./child.js";
import type { BenchAccount } from "./http.js";
import { orderBody, signatureOf } from "./wire.js";

type Order = RequestBodies["placeOrder"];

interface Trader {
  readonly session: number;
  readonly key: KeyObject;
  /** By which the core knows the key that the edge has checked. */
  readonly fingerprint: string;
  nonce: number;
}

const RAW_KEY_BYTES = 32;

let link: EdgeLink | undefined;
let traders: readonly Trader[] = [];

function traderOf({ token, privateKeyPem }: BenchAccount): Trader {
  const key = createPrivateKey(privateKeyPem);
  const publicKey = createPublicKey(key).export({ type: "spki", format: "der" });
  const fingerprint = createHash("sha256").update(publicKey.subarray(-RAW_KEY_BYTES)).digest("hex");
  // The load over HTTP and sockets has used lower ones.
  return { session: Number(token.split(".")[1]), key, fingerprint, nonce: 1_000_000_000 };
}

/** In small parts: a link whose process is silent for long ends. */
async function prepared(count: number): Promise<Order[]> {
  const orders: Order[] = [];
  while (orders.length < count) {
    orders.push(prepare(traders[orders.length % traders.length]!));
    if (orders.length % 100 === 0) await setImmediate();
  }
  return orders;
}

function prepare(trader: Trader): Order {
  const text = orderBody(trader.nonce++);
  return {
    session: trader.session,
    key: trader.fingerprint,
    body: JSON.parse(text),
    bytes: Buffer.from(text),
    signature: Buffer.from(signatureOf(trader.key, text), "base64"),
  };
}

const handlers = {
  /** `folder`: the venue's, with the socket of its core. */
  connect: async (folder: string, accounts: readonly BenchAccount[]): Promise<void> => {
    link = new EdgeLink(await connectToCore(folder));
    await link.ready;
    traders = accounts.map(traderOf);
  },
  /** Has that many requests signed, then sends them with so many in flight; returns the seconds it took. */
  run: async (count: number, inFlight: number): Promise<number> => {
    const orders = await prepared(count);
    globalThis.gc?.();
    const started = performance.now();
    let next = 0;
    const repeat = async (): Promise<void> => {
      for (let order = orders[next++]; order !== undefined; order = orders[next++]) {
        const { result } = await link!.request("placeOrder", order);
        if (result === undefined) throw new Error("the core has not executed an order");
      }
    };
    await Promise.all(Array.from({ length: inFlight }, repeat));
    return (performance.now() - started) / 1_000;
  },
};
export type CoreLoad = typeof handlers;

serve(handlers);
