/**
 * The frames of the private streams: one per stream and log seq, with the same bytes whether it is sent
 * live or to a client that resumes.
 */

import type { PrivateStream } from "@perpgate/protocol";
import {
  type AccountChange,
  changedDeposit,
  changeKind,
  moneyIn,
  type RowWords,
  tellsMoney,
  tellsOfAck,
  tellsOfFills,
  type Venue,
  type Views,
} from "@perpgate/venue";
import { AddressChecksums, withChecksums } from "../../operations/address-checksums.js";
import { streamFrame, type WireFrame } from "../wire-frame.js";

const KIND_OF: Readonly<Partial<Record<PrivateStream, AccountChange["kind"]>>> = {
  orders: "order",
  positions: "position",
  deposits: "deposit",
};

/** Whether the row is about what the stream shows. */
export function isOfStream(row: RowWords, stream: PrivateStream): boolean {
  if (stream === "preconfirms") return tellsOfAck(row);
  if (stream === "fills") return tellsOfFills(row);
  if (stream === "account") return tellsMoney(row);
  return changeKind(row) === KIND_OF[stream];
}

export function fillsFrame(seq: number, fills: ReturnType<Views["fillsAt"]>): WireFrame {
  return streamFrame("fills", { type: "update", seq, fills });
}

/** A frame, and the rows that were read for it. */
export interface StateFrame {
  readonly frame: WireFrame;
  readonly rows: number;
}

export class PrivateFrames {
  private readonly checksums = new AddressChecksums();
  /** The last frame of changed deposits: all accounts that a transaction credits get the same one. */
  private lastDeposits: { readonly key: string; readonly frame: WireFrame } | undefined;

  constructor(private readonly venue: Pick<Venue, "views">) {}

  /** The changes of one command to one account that belong to one stream. */
  update(
    stream: PrivateStream,
    account: number,
    seq: number,
    rows: readonly RowWords[],
  ): WireFrame {
    const { views } = this.venue;
    const type = "update";
    if (stream === "fills") return fillsFrame(seq, views.fillsAt(account, seq));
    const [first] = rows;
    if (stream === "account" && first !== undefined) {
      return streamFrame(stream, { type, seq, ...moneyIn(first) });
    }
    if (stream === "preconfirms") return this.preconfirm(seq);
    if (stream === "deposits") return this.depositsUpdate(rows, seq);
    return changesFrame(stream, seq, this.changesIn(rows));
  }

  /** The open items, for a reader that starts without `since`; undefined for a stream without state. */
  state(stream: PrivateStream, account: number, seq: number): StateFrame | undefined {
    const { views } = this.venue;
    const type = "snapshot";
    switch (stream) {
      case "preconfirms":
      case "fills":
        return undefined;
      case "account":
        return { frame: streamFrame(stream, { type, seq, ...views.money(account) }), rows: 0 };
      case "orders": {
        const orders = views.openOrders(account);
        return { frame: streamFrame(stream, { type, seq, orders }), rows: orders.length };
      }
      case "positions": {
        const positions = views.positions(account);
        return { frame: streamFrame(stream, { type, seq, positions }), rows: positions.length };
      }
      case "deposits": {
        const { rows, read } = views.deposits(account);
        const deposits = rows.map((one) => withChecksums(one, this.checksums));
        return { frame: streamFrame(stream, { type, seq, deposits }), rows: read };
      }
    }
  }

  /** A command acknowledges one order at most. */
  private preconfirm(seq: number): WireFrame {
    const past = this.venue.views.acknowledgement(seq);
    if (past === undefined) throw new Error(`the history has no acknowledgement ${seq}`);
    return streamFrame("preconfirms", { seq, ...past.acknowledgement });
  }

  private depositsUpdate(rows: readonly RowWords[], seq: number): WireFrame {
    const key = [seq, ...rows.map(changedDeposit)].join();
    if (this.lastDeposits?.key === key) return this.lastDeposits.frame;
    const deposits = pick(this.changesIn(rows), "deposit").map(({ deposit }) =>
      withChecksums(deposit, this.checksums),
    );
    const frame = streamFrame("deposits", { type: "update", seq, deposits });
    this.lastDeposits = { key, frame };
    return frame;
  }

  private changesIn(rows: readonly RowWords[]): AccountChange[] {
    return rows.flatMap((row) => this.venue.views.change(row) ?? []);
  }
}

function changesFrame(
  stream: PrivateStream,
  seq: number,
  changes: readonly AccountChange[],
): WireFrame {
  const type = "update";
  switch (stream) {
    case "orders":
      return streamFrame(stream, {
        type,
        seq,
        orders: pick(changes, "order").map(({ order }) => order),
      });
    case "positions":
      return streamFrame(stream, {
        type,
        seq,
        positions: pick(changes, "position").map(({ position }) => position),
      });
    case "preconfirms":
    case "deposits":
    case "fills":
    case "account":
      throw new TypeError(`${stream} has frames of its own`);
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

/** Tells the client that changes between `since` and `seq` cannot be sent. */
export function gapFrame(stream: PrivateStream, since: number, seq: number): WireFrame {
  return streamFrame(stream, { type: "gap", since, seq });
}
