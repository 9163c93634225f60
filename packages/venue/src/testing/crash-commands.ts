/**
 * The commands of crash-child.ts. Each is decided by its session and nonce alone, so that a later
 * process can send it again; the nonces of a session come in groups of eight.
 */
import type { AmendOrder, ChangeMargin, Command, PlaceOrder } from "@perpgate/engine";
import { amendCommand, KEY, orderCommand, START_MS } from "./test-venue.js";

const GROUP = 8;
export const BATCH_COUNT = 3;

/** All nonces of a group belong to one session. */
export function groupOf(nonce: number): number {
  return Math.floor(nonce / GROUP);
}

/** The order before it, which has a client id, is moved. */
export function isAmendment(nonce: number): boolean {
  return nonce % GROUP === 5;
}

export function isMarginChange(nonce: number): boolean {
  return nonce % GROUP === 6;
}

export function isBatch(nonce: number): boolean {
  return nonce % GROUP === 7;
}

/** Around the index: some rest, some trade; those that are amended rest below it. */
export function orderOf(session: number, nonce: number): PlaceOrder {
  const side = nonce % 2 === 0 ? "long" : "short";
  if (!isAmendment(nonce + 1)) {
    return orderCommand(session, nonce, side, 649_990 + ((nonce * 7) % 21), 1);
  }
  return named(orderCommand(session, nonce, "long", 640_000, 1), `c${nonce}`);
}

function named(order: PlaceOrder, clientOrderId: string): PlaceOrder {
  return {
    ...order,
    extras: {
      sizeLots: 0,
      timeInForce: 0,
      expiresAtMs: 0,
      clientOrderId,
      trigger: 0,
      limitTicks: 0,
      closePosition: false,
      selfTrade: 0,
      validUntilMs: 0,
    },
  };
}

export function amendOf(session: number, nonce: number): AmendOrder {
  return amendCommand(session, nonce, { clientOrderId: `c${nonce - 1}`, priceTicks: 640_010 });
}

export function marginOf(session: number, nonce: number): ChangeMargin {
  const amountMicros = 1_000;
  return {
    kind: "ChangeMargin",
    stampMs: START_MS,
    session,
    key: KEY,
    nonce,
    market: 0,
    amountMicros,
  };
}

/** Two orders, and the end of the one that the group has amended. */
export function batchOf(session: number, nonce: number): Command[] {
  const at = (index: number) => ({ index, count: BATCH_COUNT, key: KEY, nonce });
  return [
    { ...orderCommand(session, nonce, "long", 649_980, 1), batch: at(0) },
    { ...orderCommand(session, nonce, "short", 650_020, 1), batch: at(1) },
    {
      kind: "CancelOrder",
      stampMs: START_MS,
      session,
      orderId: 0,
      clientOrderId: `c${nonce - 3}`,
      batch: at(2),
    },
  ];
}
