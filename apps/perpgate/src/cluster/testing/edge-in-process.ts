/**
 * An edge reduced to its links: traders that sign in, place orders and cancel them all, one after the other,
 * through a `CoreRouter`. Every answer is kept.
 */

import { createHash, randomBytes } from "node:crypto";
import { until } from "@perpgate/journal/testing";
import {
  type AnswerBodies,
  CoreRouter,
  type RequestBodies,
  type RequestName,
  type RoutedCore,
} from "@perpgate/link";
import { ApiError } from "@perpgate/protocol/core";
import type { Acknowledged, Answers, Sent } from "./audit.js";

const DAY_MS = 86_400_000;
/** Cancels of all, among so many requests of a trader. */
const CANCEL_EVERY = 20;

export class EdgeInProcess implements Answers {
  readonly acknowledged: (Acknowledged & Sent)[] = [];
  readonly notExecuted: Sent[] = [];
  /** Codes of the errors that orders were answered with, and how many. */
  readonly refused = new Map<string, number>();
  /** Orders that a cancel-all has named. */
  readonly canceled: string[] = [];
  readonly router: CoreRouter;
  private isOver = false;
  private traders: Promise<void>[] = [];

  constructor(cores: readonly RoutedCore[]) {
    this.router = new CoreRouter(cores, { switched: () => undefined, lost: () => undefined });
  }

  /** Resolves once they are signed in, and trade. */
  async trade(traders: number): Promise<void> {
    await until(() => this.router.leader !== undefined, { withinMs: 30_000 });
    for (let each = 0; each < traders; each++) {
      const trader = await this.signedIn();
      this.traders.push(this.run(trader));
    }
  }

  /** Resolves once `count` more orders are acknowledged. */
  async more(count: number): Promise<void> {
    const target = this.acknowledged.length + count;
    await until(() => this.acknowledged.length >= target);
  }

  async end(): Promise<void> {
    this.isOver = true;
    await Promise.all(this.traders);
    this.router.close();
  }

  ask<N extends RequestName>(name: N, body: RequestBodies[N]): Promise<AnswerBodies[N]> {
    return new Promise((resolve, reject) => {
      this.router.ask(name, body, { answered: resolve, refused: reject });
    });
  }

  /** As a client does it, while the stream elects: what was not executed is asked again. */
  private async signedIn(): Promise<Awaited<ReturnType<EdgeInProcess["signIn"]>>> {
    try {
      return await this.signIn();
    } catch (error) {
      if (!(error instanceof ApiError && error.code === "not_executed")) throw error;
      return this.signedIn();
    }
  }

  private async signIn() {
    const publicKey = randomBytes(32);
    const now = Date.now();
    const { session } = await this.ask("signIn", {
      address: randomBytes(20).toString("hex"),
      publicKey,
      tokenHash: randomBytes(32).toString("hex"),
      nonce: randomBytes(8).toString("hex"),
      expiresAt: now + DAY_MS,
      nonceForgottenAt: now + DAY_MS,
      maxOrderNotionalMicros: 0,
      maxNotionalMicros: 0,
      markets: [],
      message: Buffer.from("a message"),
      signature: new Uint8Array(0),
      contractChainId: undefined,
    });
    return { session, key: createHash("sha256").update(publicKey).digest("hex") };
  }

  private async run(trader: { readonly session: number; readonly key: string }): Promise<void> {
    for (let nonce = 1; !this.isOver; nonce++) {
      if (nonce % CANCEL_EVERY === 0) await this.cancelAll(trader.session);
      await this.place(trader, nonce);
    }
  }

  private async cancelAll(session: number): Promise<void> {
    try {
      const { result } = await this.ask("cancelAllOrders", { session, symbol: undefined });
      this.canceled.push(...result.canceled);
    } catch (error) {
      this.note(error);
    }
  }

  private async place(
    { session, key }: { readonly session: number; readonly key: string },
    nonce: number,
  ): Promise<void> {
    const body: RequestBodies["placeOrder"]["body"] = {
      symbol: "BTCUSD",
      side: "long",
      type: "limit",
      margin: 10,
      leverage: 1,
      price: 60_000,
      reduceOnly: false,
      postOnly: false,
      nonce,
    };
    const bytes = Buffer.from(JSON.stringify(body));
    try {
      const signature = new Uint8Array(64);
      const { result } = await this.ask("placeOrder", { session, key, body, bytes, signature });
      if (result === undefined) throw new Error("the core declined an order that was signed");
      this.acknowledged.push({
        session,
        nonce,
        ackNonce: Number(result.ackNonce),
        orderId: Number(result.orderId),
      });
    } catch (error) {
      const code = this.note(error);
      if (code === "not_executed") this.notExecuted.push({ session, nonce });
    }
  }

  private note(error: unknown): string {
    if (!(error instanceof ApiError)) throw error;
    const { code } = error;
    this.refused.set(code, (this.refused.get(code) ?? 0) + 1);
    return code;
  }
}
