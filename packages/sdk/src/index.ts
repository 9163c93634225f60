/** The public interface of the client. */

export type {
  Account,
  Acknowledgement,
  AcknowledgementLeaf,
  AttestedDeposit,
  AttestedWithdrawal,
  BatchAnswer,
  BatchResult,
  Block,
  BridgeInfo,
  CanceledOrder,
  CanceledOrders,
  CancelTimer,
  Candle,
  CandlePrice,
  Chain,
  Deposit,
  ErrorCode,
  Fill,
  FundingPayment,
  FundingPoint,
  LedgerEntry,
  Liability,
  MarginChange,
  Market,
  Nonce,
  OpenWithdrawals,
  Order,
  OrderStatus,
  OrderType,
  Position,
  PreconfirmAck,
  PreconfirmProof,
  Reserves,
  Resolution,
  SelfTrade,
  SessionInfo,
  SessionKeyKind,
  Side,
  Ticker,
  TimeInForce,
  Token,
  Trade,
  Trigger,
  VenueStatus,
  Withdrawal,
} from "@perpgate/protocol";
export type {
  AccountFrame,
  ClosedPosition,
  DepositsFrame,
  FillsFrame,
  OrdersFrame,
  PositionsFrame,
  PreconfirmFrame,
} from "@perpgate/protocol/operations";
export type {
  BatchOptions,
  CancelAllOptions,
  CancelOptions,
  DepositRequest,
  MarginOptions,
} from "./account-trader.js";
export { type ClientOptions, PerpgateClient, type SignInOptions } from "./client.js";
export {
  type EquityHistory,
  type EquityOptions,
  type EquityPoint,
  equityHistory,
} from "./equity-history.js";
export {
  type AnyErrorCode,
  ConnectionError,
  type Outcome,
  PerpgateError,
  TimeoutError,
} from "./errors.js";
export {
  openSession,
  type RequestInput,
  request,
  requestSigned,
  type SessionCredentials,
} from "./functions.js";
export { type Connection, type ConnectionOptions, connect } from "./http/connect.js";
export type { FetchLike, GatewayState, RequestLike, ResponseLike } from "./http/gateways.js";
export type { ClientClock } from "./orders/nonces.js";
export type {
  Exit,
  NewOperation,
  NewOrder,
  OrderAmendment,
  OrderName,
} from "./orders/order-body.js";
export type { PlacedOrder, Replayable } from "./orders/order-client.js";
export { type Protection, protectionOf } from "./orders/protection.js";
export { priceFor, sizeFor } from "./orders/rounding.js";
export type { WebSocketConstructor, WebSocketLike } from "./platform/platform.js";
export {
  checkPreconfirm,
  type PreconfirmCheck,
  type PreconfirmEvidence,
  type PreconfirmProblem,
  type PreconfirmProblemCode,
} from "./preconfirm-check.js";
export type {
  BookSnapshot,
  CandlesOptions,
  DepthOption,
  FillsOptions,
  Health,
  LimitOption,
  NamedRead,
  OrdersOptions,
  PageOptions,
  PriceLevel,
  Read,
  Readiness,
  SpanOptions,
  TimesOptions,
  TradesOptions,
} from "./reads.js";
export { type JudgeOptions, judgeReceipt, type Verdict } from "./receipts/judge.js";
export {
  type FetchBytes,
  type FetchedBytes,
  LogReader,
  type LogReaderOptions,
  type ReadBlock,
  Withheld,
} from "./receipts/log-reader.js";
export {
  type CheckedEvidence,
  type CheckedProof,
  checkEvidence,
  checkOrderProof,
  checkReserves,
  checkReservesFile,
  type ProofKeys,
} from "./receipts/proof-files.js";
export type {
  ReceiptKeeper,
  ReceiptOptions,
  ReceiptProblem,
  ReceiptProblemKind,
} from "./receipts/receipt-keeper.js";
export { verifyEd25519 } from "./receipts/verify-ed25519.js";
export type { CallOptions, RetryRules } from "./retry.js";
export type { SavedSession, StoredSession } from "./saved-session.js";
export type { RenewOptions, RotateOptions, Session } from "./session.js";
export {
  createSessionKey,
  type SessionKey,
  type SessionKeyOptions,
  sessionKeyFromSecret,
} from "./session-key/session-key.js";
export { newPrivateKey, privateKeyAccount } from "./sign-in/private-key.js";
export type { SessionCaps } from "./sign-in/siwe-message.js";
export type { MessageSigner, SignerChoice, WalletProvider } from "./sign-in/wallet.js";
export type { MirroredBook, MirrorSide } from "./streams/mirrored-book.js";
export type { PrivateWatchOptions, StreamGap } from "./streams/private-channel.js";
export type { PublicStream } from "./streams/public-stream.js";
export type { SessionStream } from "./streams/session-stream.js";
export type { StreamState } from "./streams/socket-link.js";
export type {
  ProblemKind,
  StreamProblem,
  Subscription,
  WatchOptions,
} from "./streams/subscription.js";
