/**
 * Sends orders, measures their latency, and follows each acknowledgement until its block is sealed.
 *
 * An acknowledgement is first `soft`: executed and durable, its block still open. It becomes `sealed`
 * when the blocks stream shows its block, and `proven` once its proof was verified in this page.
 */

import type { OrderType, PreconfirmAck, Side } from "@perpgate/protocol";
import {
  checkPreconfirm,
  type Market,
  type NewOrder,
  type PerpgateClient,
  type PreconfirmProblem,
  type Session,
} from "@perpgate/sdk";
import { Store } from "../state/store.js";

export type SealState =
  | "soft"
  /** The block is sealed; the proof is being verified. */
  | "sealed"
  | "proven"
  /** The proof does not match the acknowledgement. */
  | "differs";

export interface OrderResult {
  readonly ack: PreconfirmAck;
  readonly type: OrderType;
  readonly replayed: boolean;
  /** From the click to the acknowledgement, signing and network included. */
  readonly browserMs: number;
  readonly seal: SealState;
  /** Index of its leaf in the block, once proven. */
  readonly leaf: number | undefined;
  /** Why the proof does not match. */
  readonly problems: readonly PreconfirmProblem[];
}

/** Sources for verifying proofs. */
export interface ProofSources {
  readonly client: Pick<PerpgateClient, "block">;
  markets(): readonly Market[];
}

const KEPT = 5;
/** An order is not retried after this time: the market has moved on. */
const ORDER_BUDGET_MS = 5_000;

export class OrderClient {
  readonly results = new Store<readonly OrderResult[]>([], "immediate");
  private lastSealed = 0;

  constructor(private readonly sources: ProofSources) {}

  async place(session: Session, order: NewOrder): Promise<OrderResult> {
    const begin = performance.now();
    const { replayed, ...ack } = await fastestTransport(session).placeOrder(order, {
      budgetMs: ORDER_BUDGET_MS,
    });
    const browserMs = performance.now() - begin;
    const result: OrderResult = {
      ack,
      type: order.type,
      replayed,
      browserMs,
      seal: "soft",
      leaf: undefined,
      problems: [],
    };
    this.results.update((known) => [result, ...known].slice(0, KEPT));
    if (ack.expectedBlock <= this.lastSealed) this.seal(session, ack.ackNonce);
    return result;
  }

  /** Closes a position: with reduce-only, any sufficient margin closes it exactly. */
  close(session: Session, position: { symbol: string; size: number; markPrice: number }) {
    const side: Side = position.size > 0 ? "short" : "long";
    // Twice the notional leaves room for price moves.
    const margin = Math.max(1, Math.ceil(Math.abs(position.size) * position.markPrice * 2));
    return this.place(session, {
      symbol: position.symbol,
      side,
      type: "market",
      margin,
      leverage: 1,
      reduceOnly: true,
    });
  }

  /** The venue has sealed this block. */
  sealedUpTo(block: number, session: Session | undefined): void {
    if (block <= this.lastSealed) return;
    this.lastSealed = block;
    if (session === undefined) return;
    for (const { ack, seal } of this.results.get()) {
      if (seal === "soft" && ack.expectedBlock <= block) this.seal(session, ack.ackNonce);
    }
  }

  forget(): void {
    this.results.set([]);
  }

  /** After a reconnection: blocks sealed during the outage are not on the stream. */
  reconnected(session: Session | undefined): void {
    // It may be another venue, whose blocks start at 1.
    this.lastSealed = 0;
    if (session === undefined) return;
    for (const { ack, seal } of this.results.get()) {
      if (seal === "soft") void this.prove(session, ack.ackNonce);
    }
  }

  private seal(session: Session, ackNonce: string): void {
    this.change(ackNonce, { seal: "sealed" });
    void this.prove(session, ackNonce);
  }

  private async prove(session: Session, ackNonce: string): Promise<void> {
    try {
      const proof = await session.preconfirm(ackNonce);
      const block = await this.sources.client.block(proof.block);
      const answered = this.results.get().find(({ ack }) => ack.ackNonce === ackNonce)?.ack;
      if (answered === undefined) return;
      const markets = this.sources.markets();
      const { isProven, problems } = checkPreconfirm({ proof, block, markets, answered });
      this.change(
        ackNonce,
        isProven ? { seal: "proven", leaf: proof.index } : { seal: "differs", problems },
      );
    } catch {
      // Not sealed yet, or no connection: the state stays.
    }
  }

  private change(ackNonce: string, changes: Partial<OrderResult>): void {
    this.results.update((known) =>
      known.map((result) =>
        result.ack.ackNonce === ackNonce ? { ...result, ...changes } : result,
      ),
    );
  }
}

/** An open socket is faster than a request; REST does not wait for a socket. */
function fastestTransport(session: Session): Pick<Session, "placeOrder"> {
  return session.stream.state === "open" ? session.stream : session;
}
