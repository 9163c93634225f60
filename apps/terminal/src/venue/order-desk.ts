/**
 * Orders on their way: sends them, times them, and follows each answer until its block is sealed.
 *
 * An answer is soft when it comes: executed and durable, its block still open. It turns sealed when
 * the blocks stream shows that block, and is then checked here: the sealed bytes say what was
 * answered, and they are under the block's hash.
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
  /** The block is sealed; whether it holds this very acknowledgement is being checked. */
  | "sealed"
  | "proven"
  /** What the venue gives as a proof is none for what it answered. */
  | "differs";

export interface OrderAnswer {
  readonly ack: PreconfirmAck;
  readonly type: OrderType;
  readonly replayed: boolean;
  /** From the call to its answer, signing and network included. */
  readonly browserMs: number;
  readonly seal: SealState;
  /** Where in its block the acknowledgement stands, once proven. */
  readonly leaf: number | undefined;
  /** What is wrong with the proof of an answer that differs. */
  readonly problems: readonly PreconfirmProblem[];
}

/** What a proof is checked against. */
export interface ProofSources {
  readonly client: Pick<PerpgateClient, "block">;
  /** As the venue lists them. */
  markets(): readonly Market[];
}

const KEPT = 5;
/** A person looks at the market of now: an order that found no answer by then is not sent again. */
const ORDER_BUDGET_MS = 5_000;

export class OrderDesk {
  readonly answers = new Store<readonly OrderAnswer[]>([], "at-once");
  private lastSealed = 0;

  constructor(private readonly sources: ProofSources) {}

  async place(session: Session, order: NewOrder): Promise<OrderAnswer> {
    const begin = performance.now();
    const { replayed, ...ack } = await fastestWay(session).placeOrder(order, {
      budgetMs: ORDER_BUDGET_MS,
    });
    const browserMs = performance.now() - begin;
    const answer: OrderAnswer = {
      ack,
      type: order.type,
      replayed,
      browserMs,
      seal: "soft",
      leaf: undefined,
      problems: [],
    };
    this.answers.update((known) => [answer, ...known].slice(0, KEPT));
    if (ack.expectedBlock <= this.lastSealed) this.seal(session, ack.ackNonce);
    return answer;
  }

  /** Closes whatever is held: reduce-only makes any sufficient margin close exactly. */
  close(session: Session, position: { symbol: string; size: number; markPrice: number }) {
    const side: Side = position.size > 0 ? "short" : "long";
    // Twice the notional leaves room for a price that moves; reduce-only takes what is there.
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

  /** The venue has sealed that block. */
  sealedUpTo(block: number, session: Session | undefined): void {
    if (block <= this.lastSealed) return;
    this.lastSealed = block;
    if (session === undefined) return;
    for (const { ack, seal } of this.answers.get()) {
      if (seal === "soft" && ack.expectedBlock <= block) this.seal(session, ack.ackNonce);
    }
  }

  forget(): void {
    this.answers.set([]);
  }

  /** After a lost connection: what was sealed meanwhile is not on the stream, so it is asked. */
  reconnected(session: Session | undefined): void {
    // It may be another venue, whose blocks begin anew.
    this.lastSealed = 0;
    if (session === undefined) return;
    for (const { ack, seal } of this.answers.get()) {
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
      const answered = this.answers.get().find(({ ack }) => ack.ackNonce === ackNonce)?.ack;
      if (answered === undefined) return;
      const markets = this.sources.markets();
      const { isProven, problems } = checkPreconfirm({ proof, block, markets, answered });
      this.change(
        ackNonce,
        isProven ? { seal: "proven", leaf: proof.index } : { seal: "differs", problems },
      );
    } catch {
      // Not sealed yet, or no connection: what is shown stays as it is.
    }
  }

  private change(ackNonce: string, changes: Partial<OrderAnswer>): void {
    this.answers.update((known) =>
      known.map((answer) =>
        answer.ack.ackNonce === ackNonce ? { ...answer, ...changes } : answer,
      ),
    );
  }
}

/** An open socket saves the headers of a request; without one, REST does not wait for it. */
function fastestWay(session: Session): Pick<Session, "placeOrder"> {
  return session.stream.state === "open" ? session.stream : session;
}
