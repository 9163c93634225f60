import { type Static, Type } from "typebox";
import { Account } from "../../accounts/account.js";
import { Position } from "../../accounts/position.js";
import { LoggedAcknowledgement } from "../../blocks/preconfirm.js";
import { Deposit } from "../../bridge/deposit.js";
import { Withdrawals } from "../../bridge/withdrawal.js";
import { Fill } from "../../orders/fill.js";
import { Order } from "../../orders/order.js";
import { MarketSymbol, TimeMs } from "../../text/scalar.js";
import { FrameType, GapFrame, Seq, type StreamChannel } from "./stream-channel.js";

export const PreconfirmFrame = Type.Object(
  { seq: Seq, ...LoggedAcknowledgement.properties },
  { title: "PreconfirmFrame" },
);
export type PreconfirmFrame = Static<typeof PreconfirmFrame>;

export const OrdersFrame = Type.Object(
  { type: FrameType, seq: Seq, orders: Type.Array(Order) },
  { title: "OrdersFrame" },
);
export type OrdersFrame = Static<typeof OrdersFrame>;

export const ClosedPosition = Type.Object(
  { symbol: MarketSymbol, size: Type.Literal(0), updatedAt: TimeMs },
  { title: "ClosedPosition" },
);
export type ClosedPosition = Static<typeof ClosedPosition>;
export const PositionsFrame = Type.Object(
  { type: FrameType, seq: Seq, positions: Type.Array(Type.Union([Position, ClosedPosition])) },
  { title: "PositionsFrame" },
);
export type PositionsFrame = Static<typeof PositionsFrame>;

export const FillsFrame = Type.Object(
  { type: Type.Literal("update"), seq: Seq, fills: Type.Array(Fill) },
  { title: "FillsFrame", description: "All fills of one command, in order." },
);
export type FillsFrame = Static<typeof FillsFrame>;

const { balance, available, reserved, positionMargin, equity } = Account.properties;
export const AccountFrame = Type.Object(
  {
    type: FrameType,
    seq: Seq,
    ...{ balance, available, reserved, positionMargin, equity },
    withdrawals: Type.Optional({
      ...Withdrawals,
      description:
        "Those that the command changed, as they stood after it; missing if there are none.",
    }),
  },
  { title: "AccountFrame" },
);
export type AccountFrame = Static<typeof AccountFrame>;

export const DepositsFrame = Type.Object(
  { type: FrameType, seq: Seq, deposits: Type.Array(Deposit) },
  { title: "DepositsFrame" },
);
export type DepositsFrame = Static<typeof DepositsFrame>;

/** A stream of the own account. A reader that resumes too late gets a gap first. */
function ownChannel<
  const Name extends StreamChannel["stream"],
  const Frames extends StreamChannel["frames"],
>(stream: Name, summary: string, frames: Frames) {
  const access = "bearer";
  return {
    stream,
    address: stream,
    access,
    summary,
    frames: { ...frames, gap: GapFrame },
  } satisfies StreamChannel;
}

export const preconfirmsChannel = ownChannel(
  "preconfirms",
  "Own acknowledgements, without elapsedMs",
  { preconfirm: PreconfirmFrame },
);

export const ordersChannel = ownChannel(
  "orders",
  "Own orders: those open, then each that a command changed, as it stood after it",
  { orders: OrdersFrame },
);

export const positionsChannel = ownChannel(
  "positions",
  "Own positions: those open, then each that a command changed",
  { positions: PositionsFrame },
);

export const fillsChannel = ownChannel("fills", "Own fills", { fills: FillsFrame });

export const accountChannel = ownChannel(
  "account",
  "Own money, after each command that touched it, an order or a position; and withdrawals that it changed",
  { account: AccountFrame },
);

export const depositsChannel = ownChannel(
  "deposits",
  "Own deposits: the newest thousand, then each that changed",
  { deposits: DepositsFrame },
);
