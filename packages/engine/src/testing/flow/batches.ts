/**
 * Signed batches: orders, amendments and cancels at consecutive positions with one nonce; now and then
 * sent again, cut short, or with an operation that does not belong there.
 */
import type { Random } from "@perpgate/protocol/random";
import type { AmendOrder, CancelOrder, Command, PlaceOrder } from "../../commands.js";
import { openOrders } from "../reference/open-orders.js";
import type { Account, Order } from "../reference/state.js";
import type { ReferenceVenue } from "../reference/venue.js";
import type { Amendments } from "./amendments.js";
import type { Orders } from "./orders.js";
import type { Signed } from "./traders.js";

type Operation = PlaceOrder | AmendOrder | CancelOrder;

/** Batches of a session that may be sent again. */
const KEPT = 20;

export class Batches {
  private readonly sent = new Map<number, Operation[][]>();

  constructor(
    private readonly random: Random,
    private readonly venue: ReferenceVenue,
    private readonly orders: Orders,
    private readonly amendments: Amendments,
    private readonly stamp: () => number,
  ) {}

  *any(session: Signed, account: Account): Generator<Command> {
    const { random } = this;
    const kept = this.sent.get(session.number) ?? [];
    const stampMs = this.stamp();
    if (kept.length > 0 && random.chance(0.15)) {
      for (const operation of random.pick(kept)) yield { ...operation, stampMs };
      return;
    }
    const size = random.chance(0.02) ? random.int(30, 50) : random.int(1, 7);
    const nonce = this.orders.nonce(session);
    const key = random.chance(0.02) ? session.oldKey : session.key;
    const operations: Operation[] = [];
    for (let index = 0; index < size; index++) {
      // Orders that the batch itself places are open by now: it is written as it is applied.
      const operation = this.operation(session, account, stampMs);
      const batch = { index, count: size, key, nonce };
      const signed = operation.kind === "CancelOrder" ? operation : { ...operation, key, nonce };
      operations.push({ ...signed, batch });
      yield this.damaged({ ...signed, batch });
      if (!random.chance(0.01)) continue;
      // Something of someone else in between; what follows is refused.
      yield { kind: "SessionDisconnected", stampMs, session: 1 };
    }
    kept.push(operations);
    if (kept.length > KEPT) kept.shift();
    this.sent.set(session.number, kept);
  }

  private operation(session: Signed, account: Account, stampMs: number): Operation {
    const { random, venue } = this;
    const own = openOrders(account);
    const crowd = Math.min(12, own.length);
    const kind = random.weighted({ place: 5, amend: 1 + crowd / 2, cancel: 1 + crowd / 4 });
    if (kind === "amend") return { ...this.amendments.draft(session, account), stampMs };
    if (kind === "cancel") {
      const order = own.length > 0 ? random.pick(own) : undefined;
      return { kind: "CancelOrder", stampMs, session: session.number, ...this.target(order) };
    }
    const market = random.pick(venue.state.markets);
    return { ...this.orders.draft(session, market, account), stampMs };
  }

  private target(order: Order | undefined): Pick<CancelOrder, "orderId" | "clientOrderId"> {
    const clientOrderId = order?.extra?.clientId ?? "";
    if (clientOrderId !== "" && this.random.chance(0.5)) return { orderId: 0, clientOrderId };
    return { orderId: order?.id ?? this.random.int(1, this.venue.state.position) };
  }

  /** Mostly as it is. */
  private damaged(operation: Operation): Operation {
    const { random } = this;
    const { batch } = operation;
    if (batch === undefined || !random.chance(0.01)) return operation;
    const change = random.pick([
      { index: batch.index + 1 },
      { index: -1 },
      { index: 0.5 },
      { count: batch.count + 1 },
      { count: 51 },
      { key: "00" },
      { nonce: batch.nonce + 1 },
      { nonce: -1 },
    ]);
    return { ...operation, batch: { ...batch, ...change } };
  }
}
