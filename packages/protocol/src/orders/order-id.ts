/**
 * Ids of orders. An order's id is its position in the log. The exits that are attached to it are orders of
 * their own: `POSITION.1` takes the profit, `POSITION.2` stops the loss. As a number an exit's id is its
 * order's position plus a quarter or a half, which is exact below 2^51, so that ids sort as they are written:
 * 7 < 7.1 < 7.2 < 8.
 */

export const ORDER_ID_PATTERN = "^(0|[1-9][0-9]{0,15})(\\.[12])?$";

export const TAKE_PROFIT_EXIT = 1;
export const STOP_LOSS_EXIT = 2;
export type ExitKind = typeof TAKE_PROFIT_EXIT | typeof STOP_LOSS_EXIT;

export const EXIT_KINDS: readonly ExitKind[] = [TAKE_PROFIT_EXIT, STOP_LOSS_EXIT];
/** By kind of exit. */
export const EXIT_NAMES = {
  [TAKE_PROFIT_EXIT]: "takeProfit",
  [STOP_LOSS_EXIT]: "stopLoss",
} as const;

const KINDS_PER_ORDER = 4;
const VALID = new RegExp(ORDER_ID_PATTERN);

/** The id of an exit of that order. */
export function exitId(orderId: number, kind: ExitKind): number {
  return orderId + kind / KINDS_PER_ORDER;
}

export function isExitId(id: number): boolean {
  return id !== Math.floor(id);
}

/** The order that the exit is attached to; of any other order, itself. */
export function parentOf(id: number): number {
  return Math.floor(id);
}

/** Which exit of its order it is; 0 for an order that is none. */
export function exitKindOf(id: number): ExitKind | 0 {
  const kind = (id - Math.floor(id)) * KINDS_PER_ORDER;
  return kind === TAKE_PROFIT_EXIT || kind === STOP_LOSS_EXIT ? kind : 0;
}

/** Whether the number is the id of an order or of an exit; 0, which names none, is one, too. */
export function isOrderId(id: unknown): id is number {
  if (typeof id !== "number" || !(id >= 0)) return false;
  if (Number.isSafeInteger(id)) return true;
  return id > 1 && exitKindOf(id) !== 0 && Number.isSafeInteger(id * KINDS_PER_ORDER);
}

/** As it is on the wire. */
export function orderIdText(id: number): string {
  const kind = exitKindOf(id);
  return kind === 0 ? String(id) : `${parentOf(id)}.${kind}`;
}

/** The number of an id; undefined for text that is none. */
export function parseOrderId(text: string): number | undefined {
  if (!VALID.test(text)) return undefined;
  const [position, kind] = text.split(".");
  const id = Number(position) + (kind === undefined ? 0 : Number(kind) / KINDS_PER_ORDER);
  return isOrderId(id) && isExitId(id) === (kind !== undefined) ? id : undefined;
}
