/** Decoders of the private streams' frames, and the state that results from them. */

import { Deposit, Fill, LoggedAcknowledgement, Order, Position } from "@perpgate/protocol";
import { type Static, type TSchema, Type } from "typebox";
import { hasShape } from "../http/answer-shape.js";
import type { FrameReader, StateKeeper } from "./private-channel.js";

const Seq = Type.Object({ seq: Type.Integer() });
const ClosedPositionSchema = Type.Object({
  symbol: Type.String(),
  size: Type.Number(),
  updatedAt: Type.Integer(),
});

/** An acknowledgement on the stream: that of the response, without `elapsedMs`. */
export type PreconfirmFrame = LoggedAcknowledgement & { readonly seq: number };

/** `snapshot`: everything open. `update`: the changes of one command. */
interface Frame {
  readonly type: "snapshot" | "update";
  /** The seq of the command. */
  readonly seq: number;
}
export interface OrdersFrame extends Frame {
  readonly orders: readonly Order[];
}
/** A closed position. */
export interface ClosedPosition {
  readonly symbol: string;
  readonly size: number;
  readonly updatedAt: number;
}
export interface PositionsFrame extends Frame {
  readonly positions: readonly (Position | ClosedPosition)[];
}
export interface DepositsFrame extends Frame {
  readonly deposits: readonly Deposit[];
}

export interface FillsFrame {
  readonly type: "update";
  readonly seq: number;
  readonly fills: readonly Fill[];
}

const Money = Type.Object({
  balance: Type.Number(),
  available: Type.Number(),
  reserved: Type.Number(),
  positionMargin: Type.Number(),
  equity: Type.Number(),
});
/** What the account owns, by the names of `Account`. */
export type AccountFrame = Frame & Readonly<Static<typeof Money>>;

export const readFills: FrameReader<FillsFrame> = (payload) => {
  const frame = frameOf(payload, "fills", Fill);
  return frame === undefined
    ? undefined
    : { type: "update", seq: frame.head.seq, fills: frame.items };
};

export const readAccount: FrameReader<AccountFrame> = (payload) => {
  if (!hasShape(Money, payload) || !hasShape(Seq, payload)) return undefined;
  const { seq, balance, available, reserved, positionMargin, equity } = payload;
  const type = Reflect.get(payload, "type") === "snapshot" ? "snapshot" : "update";
  return { type, seq, balance, available, reserved, positionMargin, equity };
};

/** The latest frame is all there is to know. */
export const latestAccount = (): StateKeeper<AccountFrame> => {
  let latest: AccountFrame | undefined;
  return {
    apply: (frame) => {
      latest = { ...frame, type: "snapshot" };
    },
    snapshot: () => latest,
  };
};

export const readPreconfirm: FrameReader<PreconfirmFrame> = (payload) =>
  hasShape(LoggedAcknowledgement, payload) && hasShape(Seq, payload) ? payload : undefined;

export const readOrders: FrameReader<OrdersFrame> = (payload) => {
  const frame = frameOf(payload, "orders", Order);
  return frame === undefined ? undefined : { ...frame.head, orders: frame.items };
};

export const readPositions: FrameReader<PositionsFrame> = (payload) => {
  const frame = frameOf(payload, "positions", Type.Union([Position, ClosedPositionSchema]));
  return frame === undefined ? undefined : { ...frame.head, positions: frame.items };
};

export const readDeposits: FrameReader<DepositsFrame> = (payload) => {
  const frame = frameOf(payload, "deposits", Deposit);
  return frame === undefined ? undefined : { ...frame.head, deposits: frame.items };
};

function frameOf<S extends TSchema>(
  payload: unknown,
  key: string,
  item: S,
): { readonly head: Frame; readonly items: Static<S>[] } | undefined {
  if (typeof payload !== "object" || payload === null) return undefined;
  const { type, seq, [key]: items }: Readonly<Record<string, unknown>> = { ...payload };
  if (type !== "snapshot" && type !== "update") return undefined;
  if (typeof seq !== "number" || !Array.isArray(items)) return undefined;
  const read: Static<S>[] = [];
  for (const one of items) {
    if (!hasShape(item, one)) return undefined;
    read.push(one);
  }
  return { head: { type, seq }, items: read };
}

/** The open items by key, from the first snapshot on. */
class OpenItems<F extends Frame, Item> implements StateKeeper<F> {
  private items: Map<string, Item> | undefined;
  private seq = 0;

  constructor(
    private readonly itemsOf: (frame: F) => readonly Item[],
    private readonly keyOf: (item: Item) => string,
    private readonly isOpen: (item: Item) => boolean,
    private readonly frameOf: (seq: number, items: readonly Item[]) => F,
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
