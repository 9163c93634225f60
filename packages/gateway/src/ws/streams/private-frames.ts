/**
 * The frames of the private streams: one per stream and log seq, with the same bytes whether it is sent
 * live or to a client that resumes.
 */

import type { PrivateStream } from "@perpgate/protocol";
import {
  type AccountChange,
  changeKind,
  moneyIn,
  type RowWords,
  tellsMoney,
  tellsOfFills,
  type Views,
} from "@perpgate/venue";
import { withChecksums } from "../../venue/deposit-flow.js";
import { streamFrame, type WireFrame, wireFrame } from "../wire-frame.js";

const KIND_OF: Readonly<Partial<Record<PrivateStream, AccountChange["kind"]>>> = {
  preconfirms: "preconfirm",
  orders: "order",
  positions: "position",
  deposits: "deposit",
};

/** Whether the row is about what the stream shows. */
export function isOfStream(row: RowWords, stream: PrivateStream): boolean {
  if (stream === "fills") return tellsOfFills(row);
  if (stream === "account") return tellsMoney(row);
  return changeKind(row) === KIND_OF[stream];
}

/** The changes of one command to one account that belong to one stream. */
export function updateFrame(
  views: Views,
  stream: PrivateStream,
  account: number,
  seq: number,
  rows: readonly RowWords[],
): WireFrame {
  const type = "update";
  if (stream === "fills") return fillsFrame(seq, views.fillsAt(account, seq));
  const [first] = rows;
  if (stream === "account" && first !== undefined) {
    return streamFrame(stream, { type, seq, ...moneyIn(first) });
  }
  const changes = rows.flatMap((row) => views.change(seq, row) ?? []);
  return changesFrame(stream, seq, changes);
}

export function fillsFrame(seq: number, fills: ReturnType<Views["fillsAt"]>): WireFrame {
  return streamFrame("fills", { type: "update", seq, fills });
}

function changesFrame(
  stream: PrivateStream,
  seq: number,
  changes: readonly AccountChange[],
): WireFrame {
  const type = "update";
  switch (stream) {
    case "preconfirms": {
      // A command acknowledges one order at most.
      const [change] = changes;
      return change?.kind === "preconfirm"
        ? streamFrame(stream, { seq, ...change.acknowledgement })
        : wireFrame({ t: stream, d: { seq } });
    }
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
    case "deposits":
      return streamFrame(stream, {
        type,
        seq,
        deposits: pick(changes, "deposit").map(({ deposit }) => withChecksums(deposit)),
      });
    case "fills":
    case "account":
      throw new TypeError(`${stream} has no frames that are made from changes`);
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

/** A frame, and the rows that were read for it. */
export interface StateFrame {
  readonly frame: WireFrame;
  readonly rows: number;
}

/** The open items, for a reader that starts without `since`; undefined for a stream without state. */
export function stateFrame(
  views: Views,
  stream: PrivateStream,
  account: number,
  seq: number,
): StateFrame | undefined {
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
      const checksums = new Map<string, string>();
      const { rows, read } = views.deposits(account);
      const deposits = rows.map((one) => withChecksums(one, checksums));
      return { frame: streamFrame(stream, { type, seq, deposits }), rows: read };
    }
  }
}

/** Tells the client that changes between `since` and `seq` cannot be sent. */
export function gapFrame(stream: PrivateStream, since: number, seq: number): WireFrame {
  return streamFrame(stream, { type: "gap", since, seq });
}
