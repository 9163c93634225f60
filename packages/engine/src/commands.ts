/**
 * Everything that can change the venue, in the imperative. Commands are normalised: a market is its
 * number in the listing, decimals are integers. `stampMs` is the writer's clock; the engine derives
 * the venue's time from it (`Engine.advanceTime`).
 */
import type { CohortStage, VenueConfig } from "./config.js";

export const LONG = 1;
export const SHORT = -1;
export type Side = typeof LONG | typeof SHORT;

export const MARKET_ORDER = 0;
export const LIMIT_ORDER = 1;
export const STOP_ORDER = 2;
export type OrderType = typeof MARKET_ORDER | typeof LIMIT_ORDER | typeof STOP_ORDER;

export interface Genesis {
  readonly kind: "Genesis";
  readonly stampMs: number;
  readonly config: VenueConfig;
  readonly cohort: CohortStage;
  /** The version of the rules that the venue begins under; missing in logs of release 0.1. */
  readonly engineVersion: number;
}

/**
 * What every operator command carries. It is refused once the venue's time is past `expiresAtMs`, so
 * that one that was prepared or delayed cannot take effect later.
 */
interface OperatorCommand {
  readonly stampMs: number;
  readonly expiresAtMs: number;
}

/** The operator activates the next version of the rules, from the following command on. */
export interface Upgrade extends OperatorCommand {
  readonly kind: "Upgrade";
  readonly version: number;
}

/** Replaces the parameters. Markets keep their number; new ones are appended. */
export interface Configure extends OperatorCommand {
  readonly kind: "Configure";
  readonly config: VenueConfig;
  /**
   * Numbers of attestors whose key has changed or is gone. The engine does not know keys, so the
   * command names them. Missing: none.
   */
  readonly replacedAttestors?: readonly number[];
}

/** Advances time to slot × 200 ms, and runs the periodic work. */
export interface Tick {
  readonly kind: "Tick";
  readonly slot: number;
}

/** The writer of the batch that begins a venue; it never writes again. */
export const GENESIS_WRITER = "0".repeat(32);

/** A gateway's process begins to write, under an id that was never used: all of its first batch. */
export interface WriterJoined {
  readonly kind: "WriterJoined";
  readonly stampMs: number;
  /** Random, 32 digits of lower-case hex. */
  readonly writer: string;
  /** The gateway's name, 1 to 64 of `a-z0-9-`: its live writer of before ends. */
  readonly name: string;
  /** The oldest and the newest version of the rules that it can read. */
  readonly versions: readonly [number, number];
  /** Lower-case hex: the public key of its receipts, or empty. */
  readonly receiptKey: string;
  /** Lower-case hex: the log key's signature over that key, or empty. */
  readonly certificate: string;
}

/** The writer of the batch ends. */
export interface WriterLeft {
  readonly kind: "WriterLeft";
  readonly stampMs: number;
}

/** The writer of the batch asks that the log's time jump to its stamp. */
export interface AskTime {
  readonly kind: "AskTime";
  readonly stampMs: number;
}

export interface UpdateIndex {
  readonly kind: "UpdateIndex";
  readonly stampMs: number;
  readonly market: number;
  readonly indexTicks: number;
  /** When the index was observed, in slots of 200 ms; the first of a market and slot counts. */
  readonly slot: number;
}

export interface OpenSession {
  readonly kind: "OpenSession";
  readonly stampMs: number;
  /** Lower-case hex, 40 digits. */
  readonly address: string;
  /** Fingerprint of the session key, lower-case hex. */
  readonly key: string;
  /** SHA-256 of the bearer token, lower-case hex. */
  readonly tokenHash: string;
  readonly expiresAtMs: number;
  readonly siweNonce: string;
  /** From then on the sign-in message is too old to be accepted, and its nonce may be forgotten. */
  readonly siweNonceUntilMs: number;
  /** 0: no cap. */
  readonly maxOrderNotionalMicros: number;
  /** 0: no cap. */
  readonly maxNotionalMicros: number;
  /** Empty: every market. */
  readonly markets: readonly number[];
}

export interface RotateSession {
  readonly kind: "RotateSession";
  readonly stampMs: number;
  readonly session: number;
  /** The key of the session when the gateway accepted the rotation. */
  readonly oldKey: string;
  readonly newKey: string;
}

export interface CloseSession {
  readonly kind: "CloseSession";
  readonly stampMs: number;
  readonly session: number;
}

/** Sets what happens to a session's orders when its last connection is gone. */
export interface SetSessionOption {
  readonly kind: "SetSessionOption";
  readonly stampMs: number;
  readonly session: number;
  /** Whether its open orders end with its last connection. */
  readonly cancelOnDisconnect: boolean;
}

/** The session's first connection at the writer of the batch. */
export interface SessionConnected {
  readonly kind: "SessionConnected";
  readonly stampMs: number;
  readonly session: number;
}

/** The session's last connection at the writer of the batch is gone, for any reason. */
export interface SessionDisconnected {
  readonly kind: "SessionDisconnected";
  readonly stampMs: number;
  readonly session: number;
}

export const GOOD_TILL_CANCELED = 0;
export const IMMEDIATE_OR_CANCEL = 1;
export const FILL_OR_KILL = 2;
export type TimeInForce =
  | typeof GOOD_TILL_CANCELED
  | typeof IMMEDIATE_OR_CANCEL
  | typeof FILL_OR_KILL;

export const STOP_TRIGGER = 0;
export const TAKE_PROFIT_TRIGGER = 1;
export type Trigger = typeof STOP_TRIGGER | typeof TAKE_PROFIT_TRIGGER;

/** What ends when an order meets one of its own account. */
export const CANCEL_RESTING = 0;
export const CANCEL_TAKER = 1;
export const CANCEL_BOTH = 2;
export type SelfTrade = typeof CANCEL_RESTING | typeof CANCEL_TAKER | typeof CANCEL_BOTH;

/** Terms that a plain order does not have; one that has any of them has all, with neutral values. */
export interface OrderExtras {
  /** 0: margin × leverage decides the lots. */
  readonly sizeLots: number;
  readonly timeInForce: TimeInForce;
  /** 0: never. */
  readonly expiresAtMs: number;
  /** Empty: none. */
  readonly clientOrderId: string;
  readonly trigger: Trigger;
  /** The limit of a stop once it is triggered; 0: none. */
  readonly limitTicks: number;
  readonly closePosition: boolean;
  readonly selfTrade: SelfTrade;
  /** The command is refused at a later venue time; 0: none. */
  readonly validUntilMs: number;
}

/**
 * An operation of a batch: `index` of `count`, at consecutive positions of the log, so the batch begins
 * at the operation's seq less its index. All share one key and one nonce.
 */
export interface BatchPlace {
  readonly index: number;
  readonly count: number;
  readonly key: string;
  readonly nonce: number;
}

export interface PlaceOrder {
  readonly kind: "PlaceOrder";
  readonly stampMs: number;
  readonly session: number;
  /** Fingerprint of the key that verified the signature. */
  readonly key: string;
  readonly nonce: number;
  readonly market: number;
  readonly side: Side;
  readonly type: OrderType;
  /** 0: no bound, for an order that has a size. */
  readonly marginMicros: number;
  readonly leverage: number;
  /** 0: none (market orders only). */
  readonly priceTicks: number;
  readonly reduceOnly: boolean;
  readonly postOnly: boolean;
  /** Missing: a plain order, whose type decides how long it lives. */
  readonly extras?: OrderExtras;
  readonly batch?: BatchPlace;
}

/** Changes an open order; it keeps its id. */
export interface AmendOrder {
  readonly kind: "AmendOrder";
  readonly stampMs: number;
  readonly session: number;
  /** Fingerprint of the key that verified the signature. */
  readonly key: string;
  readonly nonce: number;
  /** The market whose units the figures have: the order's. */
  readonly market: number;
  /** 0: named by its client order id. */
  readonly orderId: number;
  readonly clientOrderId: string;
  /** 0: as it was. */
  readonly priceTicks: number;
  /** The new total, filled lots included; 0: as it was. */
  readonly sizeLots: number;
  /** 0: as it was. */
  readonly limitTicks: number;
  /** 0: never; −1: as it was. */
  readonly expiresAtMs: number;
  /** 0: none. */
  readonly validUntilMs: number;
  readonly batch?: BatchPlace;
}

/** Moves money between the wallet and the margin of a position. */
export interface ChangeMargin {
  readonly kind: "ChangeMargin";
  readonly stampMs: number;
  readonly session: number;
  /** Fingerprint of the key that verified the signature. */
  readonly key: string;
  readonly nonce: number;
  readonly market: number;
  /** Above 0 from the wallet to the margin, below 0 back; never 0. */
  readonly amountMicros: number;
}

export interface CancelOrder {
  readonly kind: "CancelOrder";
  readonly stampMs: number;
  readonly session: number;
  /** 0: named by its client order id. */
  readonly orderId: number;
  readonly clientOrderId?: string;
  /** The command is refused at a later venue time. Missing: none. */
  readonly validUntilMs?: number;
  readonly batch?: BatchPlace;
}

export interface CancelAll {
  readonly kind: "CancelAll";
  readonly stampMs: number;
  readonly session: number;
  /** −1: every market. */
  readonly market: number;
}

/** The dead-man's switch: cancels everything at that time unless set again; 0 disarms. */
export interface CancelAfter {
  readonly kind: "CancelAfter";
  readonly stampMs: number;
  readonly session: number;
  readonly afterMs: number;
}

export interface SetCohort extends OperatorCommand {
  readonly kind: "SetCohort";
  readonly stage: CohortStage;
  /** Addresses, lower-case hex. */
  readonly allow: readonly string[];
  readonly disallow: readonly string[];
}

const MARKET_ACTIONS = ["reduceOnly", "halt", "resume", "settle"] as const;
export type MarketAction = (typeof MARKET_ACTIONS)[number];

/** The operator's control of one market. */
export interface ControlMarket extends OperatorCommand {
  readonly kind: "ControlMarket";
  readonly market: number;
  readonly action: MarketAction;
  /** For `settle`: the price of every position; 0 otherwise. */
  readonly priceTicks: number;
}

export interface RegisterDeposit {
  readonly kind: "RegisterDeposit";
  readonly stampMs: number;
  readonly session: number;
  readonly chain: string;
  /** Lower-case hex without `0x`. */
  readonly txHash: string;
  readonly token: string;
}

export interface DepositCredit {
  /** The sender in the log, lower-case hex. */
  readonly address: string;
  readonly amountMicros: number;
  readonly logIndex: number;
  /** The token that the log moved. Missing in votes of format 1: the token of the registration. */
  readonly token?: string;
}

/** One attestor's vote, its signature checked before the log. */
export interface AttestDeposit {
  readonly kind: "AttestDeposit";
  readonly stampMs: number;
  readonly attestor: number;
  readonly depositId: number;
  /** `reorged`: a credited deposit whose transaction is no longer in the chain. */
  readonly verdict: "confirming" | "credit" | "reject" | "reorged";
  /** When the attestor signed it; an older vote never replaces a newer one. */
  readonly votedAtMs: number;
  readonly confirmations: number;
  readonly required: number;
  /** For `credit`: each matching log. */
  readonly credits: readonly DepositCredit[];
  /** For `reject` and `reorged`: the reason in snake_case. */
  readonly reason: string;
  /**
   * For `credit`: which part of the transaction's logs this vote is about, from 1, and the number of
   * parts. Missing: all logs.
   */
  readonly part?: number;
  readonly parts?: number;
}

/** The operator stops or resumes credits and rejections of a chain or of a token. */
export interface PauseDeposits extends OperatorCommand {
  readonly kind: "PauseDeposits";
  /** The name of a chain or of a token. */
  readonly scope: string;
  readonly isPaused: boolean;
}

/** The operator reopens a rejected deposit for new votes. */
export interface RejudgeDeposit extends OperatorCommand {
  readonly kind: "RejudgeDeposit";
  readonly depositId: number;
}

/** The operator has settled a credit whose transaction left its chain. */
export interface SettleReorgedDeposit extends OperatorCommand {
  readonly kind: "SettleReorgedDeposit";
  readonly depositId: number;
}

export type Command =
  | Genesis
  | Configure
  | Upgrade
  | Tick
  | WriterJoined
  | WriterLeft
  | AskTime
  | UpdateIndex
  | OpenSession
  | RotateSession
  | CloseSession
  | SetSessionOption
  | SessionConnected
  | SessionDisconnected
  | PlaceOrder
  | AmendOrder
  | ChangeMargin
  | CancelOrder
  | CancelAll
  | CancelAfter
  | SetCohort
  | ControlMarket
  | RegisterDeposit
  | AttestDeposit
  | PauseDeposits
  | RejudgeDeposit
  | SettleReorgedDeposit;
export type CommandKind = Command["kind"];
