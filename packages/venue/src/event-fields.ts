/**
 * Offsets of the fields in the engine's event log, so that readers take single words without decoding
 * objects. An offset counts from the event's first word, its kind.
 */
import {
  EVENT,
  EVENT_FIELDS,
  EVENT_KINDS,
  type EventKind,
  type EventLog,
  REFUSALS,
} from "@perpgate/engine";

type FieldOf<K extends EventKind> = (typeof EVENT_FIELDS)[K][number];
type Offsets<K extends EventKind> = { readonly [F in FieldOf<K>]: number };

const EVENT_WORDS: readonly number[] = EVENT_KINDS.map((kind) => 1 + EVENT_FIELDS[kind].length);

/** Words of an event, its kind included. */
export function eventWords(kind: number): number {
  const words = EVENT_WORDS[kind];
  if (words === undefined) throw new RangeError(`no event has kind ${kind}`);
  return words;
}

/**
 * Where the first event of the command itself is: a command that breaks an invariant halts its market
 * and runs again, so that its own events come after `MarketHalted`. `length` if it has none.
 */
export function firstOwnEvent({ words, length }: Pick<EventLog, "words" | "length">): number {
  let at = 0;
  while (at < length && words[at] === EVENT.MarketHalted) at += eventWords(words[at]!);
  return at;
}

/** The engine's reason for refusing the command; empty if it was executed. */
export function refusalIn(events: Pick<EventLog, "words" | "length">): string {
  const { words, length } = events;
  const at = firstOwnEvent(events);
  if (at >= length || words[at] !== EVENT.CommandRefused) return "";
  return REFUSALS[words[at + REFUSED.refusal]!] ?? "invalid_command";
}

function offsetsOf<K extends EventKind>(kind: K): Offsets<K> {
  const table: Record<string, number> = {};
  EVENT_FIELDS[kind].forEach((field, i) => {
    table[field] = 1 + i;
  });
  if (!hasFields(kind, table)) throw new TypeError(`${kind} has other fields`);
  return table;
}

function hasFields<K extends EventKind>(
  kind: K,
  table: Record<string, number>,
): table is Record<string, number> & Offsets<K> {
  return EVENT_FIELDS[kind].every((field) => field in table);
}

export const REFUSED = offsetsOf("CommandRefused");
export const REPLAYED = offsetsOf("OrderReplayed");
export const PLACED = offsetsOf("OrderPlaced");
export const EXTENDED = offsetsOf("OrderExtended");
export const AMENDED = offsetsOf("OrderAmended");
export const STOP_TRIGGERED = offsetsOf("StopTriggered");
export const INDEXED = offsetsOf("IndexUpdated");
export const MARKED = offsetsOf("MarkChanged");
export const TRADED = offsetsOf("Traded");
export const RESTED = offsetsOf("OrderRested");
export const ENDED = offsetsOf("OrderEnded");
export const EXIT_SIZED = offsetsOf("ExitSized");
export const DEPOSIT_FORGOTTEN = offsetsOf("DepositForgotten");
export const REDUCED = offsetsOf("OrderReduced");
export const SETTLED = offsetsOf("PositionSettled");
export const ACKNOWLEDGED = offsetsOf("OrderAcknowledged");
export const FUNDED = offsetsOf("FundingApplied");
export const FUNDING_SETTLED = offsetsOf("FundingSettled");
export const LIQUIDATED = offsetsOf("Liquidated");
export const SOCIALISED = offsetsOf("LossSocialised");
export const CASH_SETTLED = offsetsOf("CashSettled");
export const MARGIN_CHANGED = offsetsOf("MarginChanged");
export const WORK_DONE = offsetsOf("WorkDone");
export const WALLET_CREDITED = offsetsOf("BalanceCredited");
export const SESSION_OPENED = offsetsOf("SessionOpened");
export const SESSION_CLOSED = offsetsOf("SessionClosed");
export const REGISTERED = offsetsOf("DepositRegistered");
export const CREDITED = offsetsOf("DepositCredited");
export const DEPOSIT_PROGRESSED = offsetsOf("DepositProgressed");
export const DEPOSIT_SETTLED = offsetsOf("DepositSettled");
export const DEPOSIT_REORGED = offsetsOf("DepositReorged");
export const DEPOSIT_PART_CREDITED = offsetsOf("DepositPartCredited");
export const WITHDRAWAL_REQUESTED = offsetsOf("WithdrawalRequested");
export const WITHDRAWAL_ACKNOWLEDGED = offsetsOf("WithdrawalAcknowledged");
export const CANCEL_ACKNOWLEDGED = offsetsOf("CancelAcknowledged");
export const RESERVES_COMMITTED = offsetsOf("ReservesCommitted");
export const WITHDRAWAL_PROGRESSED = offsetsOf("WithdrawalProgressed");
export const WITHDRAWAL_PAID = offsetsOf("WithdrawalPaid");
export const WITHDRAWAL_EXPIRED = offsetsOf("WithdrawalExpired");
export const DEPOSIT_REOPENED = offsetsOf("DepositReopened");
export const DEPOSIT_REORG_SETTLED = offsetsOf("DepositReorgSettled");
export const SEALED = offsetsOf("BlockSealed");

/** Whether the event at this offset is the leaf that a receipt is about: of an order, amendment or cancel. */
export function isAnswer(words: ArrayLike<number>, at: number): boolean {
  return words[at] === EVENT.OrderAcknowledged || words[at] === EVENT.CancelAcknowledged;
}

/** Offsets of the fields that all of these have. */
export function answerFields(words: ArrayLike<number>, at: number) {
  return words[at] === EVENT.CancelAcknowledged ? CANCEL_ACKNOWLEDGED : ACKNOWLEDGED;
}

/** The block that an acknowledgement at this offset says it will be in; undefined for another event. */
export function promisedBlock(words: ArrayLike<number>, at: number): number | undefined {
  switch (words[at]) {
    case EVENT.OrderAcknowledged:
      return words[at + ACKNOWLEDGED.block];
    case EVENT.CancelAcknowledged:
      return words[at + CANCEL_ACKNOWLEDGED.block];
    case EVENT.WithdrawalAcknowledged:
      return words[at + WITHDRAWAL_ACKNOWLEDGED.block];
    case EVENT.ReservesCommitted:
      return words[at + RESERVES_COMMITTED.block];
    default:
      return undefined;
  }
}
