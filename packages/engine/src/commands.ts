/**
 * Everything that can change the venue, in the imperative. Commands are normalised: a market is its
 * number in the listing, decimals are integers. `stampMs` is the writer's clock; the engine derives
 * the venue's time from it (`Engine.advanceTime`).
 */
import type { AttestDeposit, RegisterDeposit } from "./commands/deposit-commands.js";
import type {
  Configure,
  ControlMarket,
  CountReserves,
  PauseDeposits,
  RejudgeDeposit,
  SetCohort,
  SettleReorgedDeposit,
  Upgrade,
} from "./commands/operator-commands.js";
import type {
  AmendOrder,
  CancelAfter,
  CancelAll,
  CancelOrder,
  ChangeMargin,
  PlaceOrder,
} from "./commands/order-commands.js";
import type { CommitReserves } from "./commands/reserves-commands.js";
import type {
  CloseSession,
  OpenSession,
  RotateSession,
  SessionConnected,
  SessionDisconnected,
  SetSessionOption,
} from "./commands/session-commands.js";
import type {
  AskTime,
  CoreLeads,
  Genesis,
  Tick,
  UpdateIndex,
  WriterJoined,
  WriterLeft,
} from "./commands/venue-commands.js";
import type { AttestWithdrawal, Withdraw } from "./commands/withdrawal-commands.js";

export * from "./commands/deposit-commands.js";
export * from "./commands/operator-commands.js";
export * from "./commands/order-commands.js";
export * from "./commands/request-terms.js";
export * from "./commands/reserves-commands.js";
export * from "./commands/session-commands.js";
export * from "./commands/venue-commands.js";
export * from "./commands/withdrawal-commands.js";

export type Command =
  | Genesis
  | Configure
  | Upgrade
  | Tick
  | CoreLeads
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
  | SettleReorgedDeposit
  | Withdraw
  | AttestWithdrawal
  | CountReserves
  | CommitReserves;
export type CommandKind = Command["kind"];
