/**
 * The events, in the past tense: kinds, fields and their order. Writers, decoder and types derive
 * from this table.
 *
 * The number of a kind and the order of its fields are part of the log's meaning: append only.
 */
import { ACKNOWLEDGED_FIELDS } from "@perpgate/protocol/acknowledgement-leaf";
import { CANCEL_LEAF_FIELDS } from "@perpgate/protocol/cancel-leaf";
import { RESERVES_LEAF_FIELDS } from "@perpgate/protocol/reserves-leaf";
import { WITHDRAWAL_LEAF_FIELDS } from "@perpgate/protocol/withdrawal-leaf";

export const EVENT_FIELDS = {
  VenueStarted: ["timeMs", "fundMicros"],
  VenueConfigured: ["markets"],
  MarketHalted: ["market", "invariant"],
  CommandRefused: ["refusal", "detail1", "detail2"],
  IndexUpdated: ["market", "indexTicks", "markTicks"],
  MarkChanged: ["market", "markTicks"],
  AccountOpened: ["account", "address1", "address2", "address3", "address4"],
  BalanceCredited: ["account", "amountMicros", "walletMicros"],
  SessionOpened: ["session", "account", "expiresAtMs"],
  SessionRotated: ["session"],
  SessionClosed: ["session", "expired"],
  OrderReplayed: ["session", "nonce", "orderId"],
  OrderPlaced: [
    "orderId",
    "account",
    "market",
    "side",
    "type",
    "priceTicks",
    "lots",
    "marginMicros",
    "leverage",
    "reduceOnly",
    "postOnly",
    "nonce",
    "session",
  ],
  StopTriggered: ["orderId", "account", "market"],
  Traded: [
    "market",
    "tradeKind",
    "takerSide",
    "priceTicks",
    "lots",
    "makerOrderId",
    "makerAccount",
    "makerFeeMicros",
    "makerPnlMicros",
    "takerOrderId",
    "takerAccount",
    "takerFeeMicros",
    "takerPnlMicros",
  ],
  OrderRested: ["orderId", "remainingLots"],
  OrderEnded: ["orderId", "account", "market", "reason", "remainingLots"],
  PositionSettled: [
    "account",
    "market",
    "lots",
    "costMicros",
    "marginMicros",
    "reservedMicros",
    "realizedMicros",
    "fundingMicros",
    "walletMicros",
  ],
  OrderAcknowledged: ACKNOWLEDGED_FIELDS,
  AllCanceled: ["account", "count"],
  CancelAfterSet: ["account", "cancelAtMs"],
  CancelAfterFired: ["account"],
  /** `backstopMicros`: what the fund pays (negative: receives) for the backstop's position. */
  FundingApplied: ["market", "rate", "markTicks", "hourEndMs", "backstopMicros"],
  /** `dustMicros`: margin left of a position that was handed over, the fund's (negative: it paid). */
  Liquidated: [
    "account",
    "market",
    "closedLots",
    "feeMicros",
    "backstopLots",
    "deleveragedLots",
    "dustMicros",
  ],
  LossSocialised: ["account", "market", "amountMicros"],
  FundChanged: ["fundMicros", "feesMicros"],
  CohortChanged: ["stage"],
  DepositRegistered: ["depositId", "account"],
  DepositProgressed: ["depositId", "confirmations", "required"],
  DepositCredited: ["depositId", "account", "amountMicros", "logIndex"],
  DepositSettled: ["depositId", "credited"],
  BlockSealed: ["number", "firstPosition", "lastPosition", "ackCount", "timeMs"],
  DepositReorged: ["depositId"],
  SessionOptionSet: ["session", "cancelOnDisconnect"],
  DepositPartCredited: ["depositId", "part", "parts"],
  DepositReopened: ["depositId"],
  DepositReorgSettled: ["depositId"],
  DepositsPaused: ["isPaused"],
  EngineUpgraded: ["version"],
  /** `amountMicros` is paid (negative: received), `marginMicros` the change of the margin by it. */
  FundingSettled: ["account", "market", "amountMicros", "marginMicros"],
  IndexHeld: ["market", "indexTicks", "markTicks"],
  MarketStatusChanged: ["market", "status"],
  OrderReduced: ["orderId", "account", "market", "reason", "remainingLots"],
  /** `marginMicros` is the margin that it had. */
  CashSettled: [
    "account",
    "market",
    "lots",
    "priceTicks",
    "pnlMicros",
    "paidMicros",
    "marginMicros",
  ],
  DepositForgotten: ["depositId"],
  /** Follows OrderPlaced for an order that has more than the plain terms. */
  OrderExtended: [
    "orderId",
    "sizeLots",
    "timeInForce",
    "expiresAtMs",
    "trigger",
    "limitTicks",
    "closePosition",
    "selfTrade",
    "client1",
    "client2",
    "client3",
    "client4",
    "client5",
  ],
  /** The order after its amendment; `lots` is its new total. */
  OrderAmended: [
    "orderId",
    "account",
    "market",
    "session",
    "nonce",
    "priceTicks",
    "lots",
    "remainingLots",
    "limitTicks",
    "expiresAtMs",
  ],
  /** `marginMicros` and `walletMicros` are what they are afterwards. */
  MarginChanged: [
    "account",
    "market",
    "session",
    "nonce",
    "amountMicros",
    "marginMicros",
    "walletMicros",
  ],
  /** `writer` is the position of its join, `writers` how many are live with it. */
  WriterJoined: ["writer", "writers"],
  /** `reason`: an index into WRITER_ENDS. */
  WriterEnded: ["writer", "reason"],
  /** `fromMs` is the time of the last tick. */
  TimeJumped: ["fromMs", "toMs"],
  /** The work units of a command that took more than an ordinary one, which its account is charged for. */
  WorkDone: ["account", "units"],
  /** An exit that is open covers other lots now, its own fills apart; one for each and command. */
  ExitSized: ["orderId", "account", "market", "remainingLots"],
  /** `walletMicros` is what is left. */
  WithdrawalRequested: [
    "withdrawalId",
    "account",
    "session",
    "nonce",
    "amountMicros",
    "feeMicros",
    "deadlineMs",
    "walletMicros",
  ],
  /** `status`: an index into WITHDRAWAL_STATUSES. */
  WithdrawalProgressed: ["withdrawalId", "account", "status"],
  WithdrawalPaid: ["withdrawalId", "account", "amountMicros"],
  /** Amount and fee are credited again; `walletMicros` is what it is afterwards. */
  WithdrawalExpired: ["withdrawalId", "account", "amountMicros", "feeMicros", "walletMicros"],
  /** `leader` is the position of its CoreLeads. */
  LeaderChanged: ["epoch", "leader"],
  /** Follows WithdrawalRequested: its leaf in the tree of the block. */
  WithdrawalAcknowledged: WITHDRAWAL_LEAF_FIELDS,
  /** The only event of an unsigned request that is in the log already, at that position. */
  RequestRepeated: ["position"],
  /** What the venue owes: its leaf in the tree of the block. */
  ReservesCommitted: RESERVES_LEAF_FIELDS,
  /** The last of a CancelOrder: its leaf in the tree of the block. */
  CancelAcknowledged: CANCEL_LEAF_FIELDS,
} as const;

type Fields = typeof EVENT_FIELDS;
export type EventKind = keyof Fields;
export type FieldsOf<K extends EventKind> = { readonly [F in Fields[K][number]]: number };
export type EventOf<K extends EventKind> = { readonly kind: K } & FieldsOf<K>;
export type VenueEvent = { [K in EventKind]: EventOf<K> }[EventKind];

export const EVENT_KINDS = Object.keys(EVENT_FIELDS) as readonly EventKind[];
export const EVENT = Object.fromEntries(EVENT_KINDS.map((kind, i) => [kind, i])) as {
  readonly [K in EventKind]: number;
};

/** `Traded.tradeKind` and the fill kinds of the wire. */
export const TRADE_KINDS = ["order", "liquidation", "backstop", "adl"] as const;
export const TRADE_ORDER = 0;
export const TRADE_LIQUIDATION = 1;
export const TRADE_BACKSTOP = 2;
export const TRADE_ADL = 3;

/** `OrderAcknowledged.status`. */
export { ORDER_STATUSES } from "@perpgate/protocol/acknowledgement-leaf";
export const STATUS_FILLED = 0;
export const STATUS_RESTING = 1;
export const STATUS_PENDING = 2;
export const STATUS_CANCELED = 3;

/** Account number of the backstop in `Traded` and `PositionSettled`. */
export const BACKSTOP_ACCOUNT = 0;
