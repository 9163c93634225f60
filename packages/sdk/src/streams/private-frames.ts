/** What the frames of the private streams add up to. */

import type { Deposit, Order, Position } from "@perpgate/protocol";
import type {
  AccountFrame,
  ClosedPosition,
  DepositsFrame,
  OrdersFrame,
  PositionsFrame,
} from "@perpgate/protocol/operations";
import type { StateKeeper } from "./private-channel.js";

/** The latest frame is all there is to know, but for withdrawals: a frame has those that changed with it. */
export const latestAccount = (): StateKeeper<AccountFrame> => {
  let latest: AccountFrame | undefined;
  return {
    apply: (frame) => {
      const { withdrawals: _changed, ...money } = frame;
      latest = { ...money, type: "snapshot" };
    },
    snapshot: () => latest,
  };
};

/** The open items by key, from the first snapshot on. */
class OpenItems<F extends Pick<OrdersFrame, "type" | "seq">, Item> implements StateKeeper<F> {
  private items: Map<string, Item> | undefined;
  private seq = 0;

  constructor(
    private readonly itemsOf: (frame: F) => readonly Item[],
    private readonly keyOf: (item: Item) => string,
    private readonly isOpen: (item: Item) => boolean,
    private readonly frameOf: (seq: number, items: Item[]) => F,
  ) {}

  apply(frame: F): void {
    if (frame.type === "snapshot") this.items = new Map();
    if (this.items === undefined) return;
    this.seq = frame.seq;
    for (const item of this.itemsOf(frame)) {
      if (this.isOpen(item)) this.items.set(this.keyOf(item), item);
      else this.items.delete(this.keyOf(item));
    }
  }

  /** Undefined before the first snapshot: a resumed stream starts without one. */
  snapshot(): F | undefined {
    return this.items === undefined ? undefined : this.frameOf(this.seq, [...this.items.values()]);
  }
}

export const openOrders = () =>
  new OpenItems<OrdersFrame, Order>(
    ({ orders }) => orders,
    ({ orderId }) => orderId,
    ({ status }) => status === "resting" || status === "pending",
    (seq, orders) => ({ type: "snapshot", seq, orders }),
  );

export const openPositions = () =>
  new OpenItems<PositionsFrame, Position | ClosedPosition>(
    ({ positions }) => positions,
    ({ symbol }) => symbol,
    ({ size }) => size !== 0,
    (seq, positions) => ({ type: "snapshot", seq, positions }),
  );

export const allDeposits = () =>
  new OpenItems<DepositsFrame, Deposit>(
    ({ deposits }) => deposits,
    ({ depositId }) => depositId,
    () => true,
    (seq, deposits) => ({ type: "snapshot", seq, deposits }),
  );
