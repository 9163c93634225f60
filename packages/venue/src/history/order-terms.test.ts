/** The terms of orders that plain ones do not have, from the events that carry them. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EVENT, EVENT_FIELDS, EventLog, type VenueEvent } from "@perpgate/engine";
import { clientIdWords, NO_CLIENT_ID } from "@perpgate/protocol/client-order-id";
import { afterEach, beforeEach, expect, test } from "vitest";
import { NO_EVIDENCE } from "../record/record.js";
import { FILL_CLIENT } from "./fill-projection.js";
import { HistoryRows } from "./history-rows.js";
import { openHistoryStore } from "./history-store.js";
import { EXTENDED_ROW, ORDER_ROW, ORDER_ROW_WORDS } from "./order-row.js";
import { WrittenHistory } from "./written-history.js";

const ACCOUNT = 1;
const ORDER = 10;
const CLIENT = clientIdWords("grid_7-a") ?? NO_CLIENT_ID;

let folder = "";
let history: WrittenHistory;
let rows: HistoryRows;
let seq = 0;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "perpgate-terms-"));
  seq = 0;
  history = await openHistory();
});
afterEach(async () => {
  await history.close();
  rmSync(folder, { recursive: true, force: true });
});

/** As the next start does, which has the rows of open orders from a snapshot. */
async function reopen(): Promise<void> {
  await history.close();
  history = await openHistory(rows.save());
}

async function openHistory(saved?: Buffer): Promise<WrittenHistory> {
  const { store } = await openHistoryStore(join(folder, "store"), new Uint8Array(16));
  const context = {
    unitMicros: () => 1,
    markTicks: () => 0,
    balanceMicros: () => 0,
    writeMoney: () => undefined,
    deposit: () => undefined,
    accountOfSession: () => 0,
  };
  rows = new HistoryRows(context);
  if (saved !== undefined) rows.load(saved);
  return WrittenHistory.open(store, rows, {
    commit: "inline",
    onDurable: () => undefined,
    onFailure: (error) => {
      throw error;
    },
  });
}

type Fields = Readonly<Record<string, number>>;

/** One command with these events; fields that are left out are 0. */
function apply(at: number, ...events: readonly [VenueEvent["kind"], Fields][]): void {
  const log = new EventLog();
  for (const [kind, fields] of events) {
    const names: readonly string[] = EVENT_FIELDS[kind];
    const first = log.open(EVENT[kind], names.length);
    names.forEach((name, i) => {
      log.words[first + i] = fields[name] ?? 0;
    });
  }
  seq = at;
  const command = { kind: "Tick", slot: at } as const;
  history.onCommand(
    { seq, timeMs: 1_000 * at, command, evidence: NO_EVIDENCE, events: log },
    1,
    null,
  );
}

const PLACED: Fields = {
  orderId: ORDER,
  account: ACCOUNT,
  side: 1,
  type: 1,
  priceTicks: 500,
  lots: 8,
  leverage: 5,
};
const RESTED: Fields = { orderId: ORDER, remainingLots: 8 };
const ACKNOWLEDGED: Fields = {
  orderId: ORDER,
  account: ACCOUNT,
  side: 1,
  type: 1,
  status: 1,
  remainingLots: 8,
};
const [client1, client2, client3, client4, client5] = CLIENT;
const CLIENT_FIELDS = { client1, client2, client3, client4, client5 };

function row(): readonly number[] {
  return history.order(ACCOUNT, [0], ORDER) ?? [];
}

test("OrderExtended: the order, its changes and its fills have the terms", async () => {
  apply(
    ORDER,
    ["OrderPlaced", PLACED],
    ["OrderExtended", { orderId: ORDER, expiresAtMs: 90_000, ...CLIENT_FIELDS }],
    ["OrderRested", RESTED],
    ["OrderAcknowledged", ACKNOWLEDGED],
  );
  expect([...row().slice(ORDER_ROW_WORDS)]).toEqual([0, 90_000, 0, 0, 0, ...CLIENT]);
  expect(history.lastChanges.at(-1)?.row.slice(1)).toEqual(Float64Array.from(row()));
  await reopen();
  apply(11, [
    "Traded",
    { takerSide: -1, priceTicks: 500, lots: 3, makerOrderId: ORDER, makerAccount: ACCOUNT },
  ]);
  expect(row()[ORDER_ROW.REMAINING]).toBe(5);
  const [fill] = history.fills(ACCOUNT, [0], { limit: 1 });
  expect([...(fill?.row.slice(FILL_CLIENT) ?? [])]).toEqual([...CLIENT]);
});

test("OrderAmended: changes price, size, limit and expiry, also of a plain order", async () => {
  apply(
    ORDER,
    ["OrderPlaced", PLACED],
    ["OrderRested", RESTED],
    ["OrderAcknowledged", ACKNOWLEDGED],
  );
  expect(row()).toHaveLength(ORDER_ROW_WORDS);
  apply(
    12,
    [
      "OrderAmended",
      {
        orderId: ORDER,
        account: ACCOUNT,
        priceTicks: 510,
        lots: 6,
        remainingLots: 6,
        expiresAtMs: 77_000,
      },
    ],
    [
      "Traded",
      { takerSide: 1, priceTicks: 505, lots: 2, takerOrderId: ORDER, takerAccount: ACCOUNT },
    ],
    // An acknowledgement of an amendment has the fills of its own command.
    ["OrderAcknowledged", { ...ACKNOWLEDGED, ackNonce: 12, filledLots: 2, remainingLots: 4 }],
  );
  apply(
    13,
    [
      "OrderAmended",
      {
        orderId: ORDER,
        account: ACCOUNT,
        priceTicks: 510,
        lots: 5,
        remainingLots: 3,
        expiresAtMs: 77_000,
      },
    ],
    ["OrderAcknowledged", { ...ACKNOWLEDGED, ackNonce: 13, remainingLots: 3 }],
  );
  await history.flush();
  const amended = row();
  expect(amended[ORDER_ROW.PRICE]).toBe(510);
  expect(amended[ORDER_ROW.LOTS]).toBe(5);
  expect(amended[ORDER_ROW.FILLED_LOTS]).toBe(2);
  expect(amended[ORDER_ROW.REMAINING]).toBe(3);
  expect(amended[EXTENDED_ROW.EXPIRES]).toBe(77_000);
  expect(amended[EXTENDED_ROW.TIME_IN_FORCE]).toBe(0);
});

test("StopTriggered: a stop that rests is shown as resting, also after a restart", async () => {
  const stop = { ...PLACED, type: 2 };
  apply(
    ORDER,
    ["OrderPlaced", stop],
    ["OrderExtended", { orderId: ORDER, trigger: 1, limitTicks: 490 }],
    ["OrderAcknowledged", { ...ACKNOWLEDGED, type: 2, status: 2 }],
  );
  expect(row()[ORDER_ROW.STATUS]).toBe(2);
  await reopen();
  apply(20, ["StopTriggered", { orderId: ORDER, account: ACCOUNT }], ["OrderRested", RESTED]);
  expect(row()[ORDER_ROW.STATUS]).toBe(1);
  expect(row()[EXTENDED_ROW.LIMIT]).toBe(490);
  // Its limit moves; its price is the trigger that its owner set.
  const figures = { priceTicks: 495, limitTicks: 495, lots: 8, remainingLots: 8 };
  apply(
    21,
    ["OrderAmended", { orderId: ORDER, account: ACCOUNT, ...figures }],
    ["OrderAcknowledged", { ...ACKNOWLEDGED, type: 2, ackNonce: 21 }],
  );
  expect([row()[ORDER_ROW.PRICE], row()[EXTENDED_ROW.LIMIT]]).toEqual([500, 495]);
});
