/** What a command changed for an account, in wire types; see ChangeProjection. */
import type { Account, Deposit, Order, Position, Withdrawal } from "@perpgate/protocol";
import {
  CHANGE,
  CHANGED_DEPOSIT,
  CHANGED_DEPOSIT_ID,
  CHANGED_ORDER,
  CHANGED_POSITION,
  CHANGED_WITHDRAWAL,
  CHANGED_WITHDRAWAL_ID,
  FLAG,
  KINDS,
  MONEY_WORDS,
} from "../history/change-projection.js";
import type { RowWords } from "../history/rows.js";
import { withdrawalOfWords } from "../history/withdrawal-row.js";
import { moneyView } from "./account-view.js";
import { depositAsOf } from "./deposit-view.js";
import { orderOf } from "./order-view.js";
import { positionOf } from "./position-view.js";
import { unitsOf, type VenueSource, viewedMarket } from "./venue-source.js";
import { withdrawalOf } from "./withdrawal-view.js";

/** A position that was closed. */
interface ClosedPosition {
  readonly symbol: string;
  readonly size: 0;
  readonly updatedAt: number;
}

/** What an account owns; the fields are those of `Account`. */
export type AccountMoney = Pick<
  Account,
  "balance" | "available" | "reserved" | "positionMargin" | "equity"
>;

export type AccountChange =
  | { readonly kind: "order"; readonly order: Order }
  | { readonly kind: "position"; readonly position: Position | ClosedPosition }
  | { readonly kind: "deposit"; readonly deposit: Deposit }
  | { readonly kind: "withdrawal"; readonly withdrawal: Withdrawal };

/** Whether the row tells that the command has fills of the account. */
export function tellsOfFills(row: RowWords): boolean {
  return Math.floor(row[0]! / FLAG.FILLS) % 2 === 1;
}

/** Whether the row tells that the command acknowledges an order of the account. */
export function tellsOfAck(row: RowWords): boolean {
  return Math.floor(row[0]! / FLAG.ACK) % 2 === 1;
}

/** Whether the row has the account's money. */
export function tellsMoney(row: RowWords): boolean {
  return Math.floor(row[0]! / FLAG.MONEY) % 2 === 1;
}

/** The account's money in a row that has it. */
export function moneyIn(row: RowWords): AccountMoney {
  const [wallet = 0, reserved = 0, margin = 0, equity = 0] = row.slice(-MONEY_WORDS);
  return moneyView({ wallet, reserved, margin, equity });
}

/** The kind of a row, without decoding it; undefined for one that has only flags. */
export function changeKind(row: RowWords): AccountChange["kind"] | undefined {
  switch (row[0]! % KINDS) {
    case CHANGE.ORDER:
      return "order";
    case CHANGE.POSITION:
      return "position";
    case CHANGE.DEPOSIT:
      return "deposit";
    case CHANGE.WITHDRAWAL:
      return "withdrawal";
    case CHANGE.NONE:
      return undefined;
    default:
      throw new RangeError(`no change has kind ${row[0]}`);
  }
}

/** The id of the deposit that a row of this kind is about; the state in it is the same for all accounts. */
export function changedDeposit(row: RowWords): number {
  return row[CHANGED_DEPOSIT_ID]!;
}

/** The change as it was right after the command; undefined for a deposit that was forgotten. */
export function changeView(source: VenueSource, flagged: RowWords): AccountChange | undefined {
  const kind = changeKind(flagged);
  const row = tellsMoney(flagged) ? flagged.slice(0, -MONEY_WORDS) : flagged;
  switch (kind) {
    case "order":
      return { kind, order: orderOf(source, row.slice(CHANGED_ORDER)) };
    case "position":
      return { kind, position: positionAt(source, row) };
    case "deposit": {
      const deposit = depositAsOf(source, changedDeposit(row), row.slice(CHANGED_DEPOSIT));
      return deposit === undefined ? undefined : { kind, deposit };
    }
    case "withdrawal": {
      const state = withdrawalOfWords(row.slice(CHANGED_WITHDRAWAL));
      return { kind, withdrawal: withdrawalOf(row[CHANGED_WITHDRAWAL_ID]!, state) };
    }
    case undefined:
      return undefined;
  }
}

function positionAt(source: VenueSource, row: RowWords): Position | ClosedPosition {
  const { symbol } = unitsOf(source, row[CHANGED_POSITION.MARKET]!);
  const lots = row[CHANGED_POSITION.LOTS]!;
  const updatedAt = row[CHANGED_POSITION.TIME]!;
  const viewed = viewedMarket(source, symbol);
  if (lots === 0 || viewed === undefined) return { symbol, size: 0, updatedAt };
  return positionOf(viewed, {
    lots,
    cost: row[CHANGED_POSITION.COST]!,
    margin: row[CHANGED_POSITION.MARGIN]!,
    realized: row[CHANGED_POSITION.REALIZED]!,
    funding: row[CHANGED_POSITION.FUNDING]!,
    markTicks: row[CHANGED_POSITION.MARK]!,
    updatedAt,
  });
}
