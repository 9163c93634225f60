/**
 * What edges are sent of the private streams: one update per stream and log seq, with the same fields
 * whether it is sent live or to a reader that resumes. The edge adds the checksums of addresses.
 */

import type { PrivateUpdate } from "@perpgate/link";
import type { Fill, LoggedAcknowledgement, PrivateStreamName } from "@perpgate/protocol";
import type { RowWords } from "../../history/rows.js";
import type { Venue } from "../../venue.js";
import {
  type AccountChange,
  changeKind,
  moneyIn,
  tellsMoney,
  tellsOfAck,
  tellsOfFills,
} from "../../views/change-view.js";

const KIND_OF: Readonly<Partial<Record<PrivateStreamName, AccountChange["kind"]>>> = {
  orders: "order",
  positions: "position",
  deposits: "deposit",
};

/** A row of a deposit may stand for a thousand credits: as many cost what a row of the history does. */
const CREDITS_PER_ROW = 4;

/** Whether the row is about what the stream shows. */
export function isOfStream(row: RowWords, stream: PrivateStreamName): boolean {
  if (stream === "preconfirms") return tellsOfAck(row);
  if (stream === "fills") return tellsOfFills(row);
  if (stream === "account") return tellsMoney(row) || changeKind(row) === "withdrawal";
  return changeKind(row) === KIND_OF[stream];
}

/** An update, and the rows that were read for it besides those of the changes. */
interface ReadUpdate {
  readonly update: PrivateUpdate;
  readonly rows: number;
}

/** What one command changed for one account. */
export interface CommandChange {
  readonly account: number;
  readonly seq: number;
  readonly rows: readonly RowWords[];
  /** Empty unless a row tells of fills. */
  readonly fills: () => Fill[];
  /** Undefined unless a row tells of an acknowledgement. */
  readonly ack: () => LoggedAcknowledgement | undefined;
}

/** A change whose fills and acknowledgement are in the history. */
export function pastChange(
  { views }: Venue,
  account: number,
  seq: number,
  rows: readonly RowWords[],
): CommandChange {
  const fills = () => views.fillsAt(account, seq);
  const ack = () => views.acknowledgement(seq)?.acknowledgement;
  return { account, seq, rows, fills, ack };
}

/** Of the change, what belongs to one stream. */
export function updateOf(
  { views }: Venue,
  stream: PrivateStreamName,
  { seq, rows, ...change }: CommandChange,
): ReadUpdate {
  const type = "update";
  const changes = () => rows.flatMap((row) => views.change(row) ?? []);
  switch (stream) {
    case "fills": {
      const fills = change.fills();
      return { update: { name: stream, value: { type, seq, fills } }, rows: fills.length + 1 };
    }
    case "preconfirms": {
      // A command acknowledges one order at most.
      const ack = change.ack();
      if (ack === undefined) throw new Error(`there is no acknowledgement ${seq}`);
      return { update: { name: stream, value: { seq, ...ack } }, rows: 1 };
    }
    case "account": {
      const money = rows.find(tellsMoney);
      if (money === undefined) throw new RangeError("an update has no money");
      const withdrawals = pick(changes(), "withdrawal").map(({ withdrawal }) => withdrawal);
      const changed = withdrawals.length === 0 ? {} : { withdrawals };
      return {
        update: { name: stream, value: { type, seq, ...moneyIn(money), ...changed } },
        rows: 0,
      };
    }
    case "orders": {
      const orders = pick(changes(), "order").map(({ order }) => order);
      return { update: { name: stream, value: { type, seq, orders } }, rows: 0 };
    }
    case "positions": {
      const positions = pick(changes(), "position").map(({ position }) => position);
      return { update: { name: stream, value: { type, seq, positions } }, rows: 0 };
    }
    case "deposits": {
      const deposits = pick(changes(), "deposit").map(({ deposit }) => deposit);
      const credits = deposits.reduce((sum, deposit) => sum + deposit.credits.length, 0);
      const rows = Math.floor(credits / CREDITS_PER_ROW);
      return { update: { name: stream, value: { type, seq, deposits } }, rows };
    }
  }
}

/** The open items, for a reader that starts; undefined for a stream without state. */
export function privateState(
  { views, seq }: Venue,
  stream: PrivateStreamName,
  account: number,
): ReadUpdate | undefined {
  const type = "snapshot";
  switch (stream) {
    case "preconfirms":
    case "fills":
      return undefined;
    case "account":
      return { update: { name: stream, value: { type, seq, ...views.money(account) } }, rows: 0 };
    case "orders": {
      const orders = views.openOrders(account);
      return { update: { name: stream, value: { type, seq, orders } }, rows: orders.length };
    }
    case "positions": {
      const positions = views.positions(account);
      return { update: { name: stream, value: { type, seq, positions } }, rows: positions.length };
    }
    case "deposits": {
      const { rows: deposits, read } = views.deposits(account);
      return {
        update: { name: stream, value: { type, seq, deposits: [...deposits] } },
        rows: read,
      };
    }
  }
}

function pick<K extends AccountChange["kind"]>(
  changes: readonly AccountChange[],
  kind: K,
): Extract<AccountChange, { kind: K }>[] {
  return changes.filter(
    (change): change is Extract<AccountChange, { kind: K }> => change.kind === kind,
  );
}
