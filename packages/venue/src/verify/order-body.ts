/**
 * Compares signed bodies with the commands in the log: both must mean the same. Bodies are parsed as the
 * protocol does, with strict JSON and its units, and not with the gateway's code.
 */
import {
  type AmendOrder,
  type CancelOrder,
  type ChangeMargin,
  LIMIT_ORDER,
  LONG,
  MARKET_ORDER,
  type OrderExtras,
  type PlaceOrder,
} from "@perpgate/engine";
import {
  AMEND_FIELDS,
  EXIT_FIELDS,
  EXIT_KINDS,
  EXIT_NAMES,
  ORDER_FIELDS,
  ORDER_TYPES,
  orderIdText,
  SELF_TRADES,
  TARGET_FIELDS,
  TIMES_IN_FORCE,
  TRIGGERS,
} from "@perpgate/protocol/core";
import type { Listing, MarketUnits } from "../listing/listing.js";
import {
  type BodyFields,
  bodyFieldsOf,
  firstDifference,
  microsIn,
  objectFields,
  type Said,
  stepsOfNumber,
} from "./signed-body.js";

const ALONE = ["validUntil", "nonce"];
const EXIT_BODY: ReadonlySet<string> = new Set(EXIT_FIELDS);
const PLACE_BODY: ReadonlySet<string> = new Set([...ORDER_FIELDS, ...ALONE]);
const AMEND_BODY: ReadonlySet<string> = new Set([...AMEND_FIELDS, ...ALONE]);
const MARGIN_FIELDS: ReadonlySet<string> = new Set(["symbol", "amount", "nonce"]);
const BATCH_FIELDS: ReadonlySet<string> = new Set(["nonce", "operations", "validUntil"]);
const OPERATION_FIELDS = {
  PlaceOrder: new Set(["op", ...ORDER_FIELDS]),
  AmendOrder: new Set(["op", ...AMEND_FIELDS]),
  CancelOrder: new Set(["op", ...TARGET_FIELDS]),
} as const;
const EVERY_FIELD: ReadonlySet<string> = new Set(
  Object.values(OPERATION_FIELDS).flatMap((known) => [...known]),
);
const OPERATIONS = { PlaceOrder: "place", AmendOrder: "amend", CancelOrder: "cancel" } as const;

export type BatchCommand = PlaceOrder | AmendOrder | CancelOrder;

/** The first difference between a body and the command of its own that it signs, or null. */
export function bodyFault(
  body: Uint8Array,
  command: PlaceOrder | AmendOrder | ChangeMargin,
  listing: Listing,
): string | null {
  const fields = bodyFieldsOf(body);
  if (typeof fields === "string") return fields;
  const units = listing.markets[command.market];
  if (units === undefined) return `market ${command.market} is not listed`;
  const nonce: Said = ["nonce", fields.get("nonce"), command.nonce];
  const validUntil = fields.get("validUntil") ?? 0;
  switch (command.kind) {
    case "PlaceOrder":
      return firstDifference(fields, PLACE_BODY, () => [
        ...saidOfOrder(fields, command, units, validUntil),
        nonce,
      ]);
    case "AmendOrder":
      return firstDifference(fields, AMEND_BODY, () => [
        ...saidOfAmendment(fields, command, units, validUntil),
        nonce,
      ]);
    case "ChangeMargin":
      return firstDifference(fields, MARGIN_FIELDS, () => [
        ["symbol", fields.get("symbol"), units.symbol],
        ["amount", microsIn(fields.get("amount")), command.amountMicros],
        nonce,
      ]);
  }
}

/** A signed batch: what each of its operations says. */
export interface SignedBatch {
  readonly nonce: unknown;
  readonly validUntil: unknown;
  readonly operations: readonly BodyFields[];
}

/** The batch that a body signs, or why it signs none. */
export function batchBodyOf(body: Uint8Array): SignedBatch | string {
  const fields = bodyFieldsOf(body);
  if (typeof fields === "string") return fields;
  for (const name of fields.keys()) {
    if (!BATCH_FIELDS.has(name)) return `the signed body has "${name}"`;
  }
  const list = fields.get("operations");
  if (!Array.isArray(list)) return "the signed body has no operations";
  const operations: BodyFields[] = [];
  for (const each of list) {
    const operation = objectFields(each);
    if (operation === undefined) return "an operation of the signed body is not an object";
    operations.push(operation);
  }
  return { nonce: fields.get("nonce"), validUntil: fields.get("validUntil") ?? 0, operations };
}

/** The first difference between an operation of a signed batch and its command, or null. */
export function operationFault(
  batch: SignedBatch,
  index: number,
  command: BatchCommand,
  listing: Listing,
): string | null {
  const { operations, nonce, validUntil } = batch;
  const fields = operations[index];
  const { batch: place } = command;
  if (fields === undefined || place === undefined) return `the signed batch has no ${index + 1}.`;
  const whole: readonly Said[] = [
    ["operations", operations.length, place.count],
    ["nonce", nonce, place.nonce],
  ];
  if (namesNoOrder(command)) return firstDifference(fields, EVERY_FIELD, () => whole);
  return firstDifference(fields, OPERATION_FIELDS[command.kind], () => [
    ["op", fields.get("op"), OPERATIONS[command.kind]],
    ...whole,
    ...saidOfOperation(fields, command, listing, validUntil),
  ]);
}

/**
 * An operation that the gateway refused keeps its place in the log as a cancel of no order, which the
 * engine refuses whatever its state: the log does less than was signed, and never anything else.
 */
function namesNoOrder(command: BatchCommand): boolean {
  if (command.kind !== "CancelOrder") return false;
  return command.orderId === 0 && (command.clientOrderId ?? "") === "";
}

function saidOfOperation(
  fields: BodyFields,
  command: BatchCommand,
  listing: Listing,
  validUntil: unknown,
): readonly Said[] {
  if (command.kind === "CancelOrder") {
    return [
      ...saidOfTarget(fields, command.orderId, command.clientOrderId ?? ""),
      ["validUntil", validUntil, command.validUntilMs ?? 0],
    ];
  }
  const units = listing.markets[command.market];
  if (units === undefined) throw new RangeError(`market ${command.market} is not listed`);
  const { batch } = command;
  const own: readonly Said[] = [
    ["nonce of the operation", command.nonce, batch?.nonce],
    ["key of the operation", command.key, batch?.key],
  ];
  return command.kind === "PlaceOrder"
    ? [...own, ...saidOfOrder(fields, command, units, validUntil)]
    : [...own, ...saidOfAmendment(fields, command, units, validUntil)];
}

function saidOfOrder(
  fields: BodyFields,
  order: PlaceOrder,
  units: MarketUnits,
  validUntil: unknown,
): readonly Said[] {
  const extras = order.extras ?? plainExtras(order);
  const closesPosition = fields.get("closePosition") ?? false;
  const isSized = fields.get("size") !== undefined;
  const margin = fields.get("margin");
  const noMargin = closesPosition === true || (margin === undefined && isSized);
  const limitPrice = fields.get("limitPrice") ?? null;
  return [
    ["symbol", fields.get("symbol"), units.symbol],
    ["side", fields.get("side"), order.side === LONG ? "long" : "short"],
    ["type", typeOf(fields), order.type],
    ["margin", noMargin ? 0 : microsIn(margin), order.marginMicros],
    ["leverage", closesPosition === true ? 1 : fields.get("leverage"), order.leverage],
    ["price", stepsOfNumber(fields.get("price"), units.tick, 0), order.priceTicks],
    ["reduceOnly", fields.get("reduceOnly") ?? false, order.reduceOnly],
    ["postOnly", fields.get("postOnly") ?? false, order.postOnly],
    ["size", stepsOfNumber(fields.get("size"), units.lot, 0), extras.sizeLots],
    ["timeInForce", timeInForceOf(fields, limitPrice !== null), extras.timeInForce],
    ["expiresAt", fields.get("expiresAt") ?? 0, extras.expiresAtMs],
    ["clientOrderId", fields.get("clientOrderId") ?? "", extras.clientOrderId],
    ["trigger", codeOf(fields, "trigger", TRIGGERS), extras.trigger],
    ["limitPrice", stepsOfNumber(limitPrice, units.tick, 0), extras.limitTicks],
    ["closePosition", closesPosition, extras.closePosition],
    ["selfTrade", codeOf(fields, "selfTrade", SELF_TRADES), extras.selfTrade],
    ["validUntil", validUntil, extras.validUntilMs],
    ...saidOfExits(fields, order, units),
  ];
}

/** What the body says of each exit; 0: it has none. */
function saidOfExits(
  fields: BodyFields,
  { exits }: PlaceOrder,
  units: MarketUnits,
): readonly Said[] {
  const kept = [
    [exits?.takeProfitTicks ?? 0, exits?.takeProfitLimitTicks ?? 0],
    [exits?.stopLossTicks ?? 0, exits?.stopLossLimitTicks ?? 0],
  ];
  return EXIT_KINDS.flatMap((kind, i): readonly Said[] => {
    const name = EXIT_NAMES[kind];
    const given = fields.get(name) ?? undefined;
    const exit = given === undefined ? new Map<string, unknown>() : objectFields(given);
    if (exit === undefined) return [[name, "no object", "an object"]];
    const unknown = [...exit.keys()].find((field) => !EXIT_BODY.has(field));
    if (unknown !== undefined) return [[`${name}.${unknown}`, "a field", "none"]];
    const limitPrice = exit.get("limitPrice") ?? null;
    return [
      [`${name}.price`, stepsOfNumber(exit.get("price"), units.tick, 0), kept[i]?.[0]],
      [`${name}.limitPrice`, stepsOfNumber(limitPrice, units.tick, 0), kept[i]?.[1]],
    ];
  });
}

function plainExtras({ type }: PlaceOrder): OrderExtras {
  return {
    sizeLots: 0,
    timeInForce: type === LIMIT_ORDER ? 0 : 1,
    expiresAtMs: 0,
    clientOrderId: "",
    trigger: 0,
    limitTicks: 0,
    closePosition: false,
    selfTrade: 0,
    validUntilMs: 0,
  };
}

/** −1 for a word that is not known. */
function typeOf(fields: BodyFields): number {
  const words: readonly unknown[] = ORDER_TYPES;
  return words.indexOf(fields.get("type"));
}

/** The code of a word, by default the first; −1 for one that is not known. */
function codeOf(fields: BodyFields, name: string, words: readonly string[]): number {
  return words.indexOf(String(fields.get(name) ?? words[0]));
}

/** What rests by default: limit orders, and stops with a limit. */
function timeInForceOf(fields: BodyFields, hasLimitPrice: boolean): number {
  if (fields.get("timeInForce") !== undefined) {
    return codeOf(fields, "timeInForce", TIMES_IN_FORCE);
  }
  const type = typeOf(fields);
  const rests = type === LIMIT_ORDER || (type !== MARKET_ORDER && hasLimitPrice);
  return rests ? 0 : 1;
}

function saidOfAmendment(
  fields: BodyFields,
  command: AmendOrder,
  units: MarketUnits,
  validUntil: unknown,
): readonly Said[] {
  const expiresAt = fields.get("expiresAt");
  return [
    ...saidOfTarget(fields, command.orderId, command.clientOrderId),
    ["price", stepsOfNumber(fields.get("price"), units.tick, 0), command.priceTicks],
    ["size", stepsOfNumber(fields.get("size"), units.lot, 0), command.sizeLots],
    ["limitPrice", stepsOfNumber(fields.get("limitPrice"), units.tick, 0), command.limitTicks],
    ["expiresAt", expiresAt === undefined ? -1 : (expiresAt ?? 0), command.expiresAtMs],
    ["validUntil", validUntil, command.validUntilMs],
  ];
}

function saidOfTarget(fields: BodyFields, orderId: number, clientOrderId: string): readonly Said[] {
  return [
    ["orderId", fields.get("orderId") ?? "0", orderIdText(orderId)],
    ["clientOrderId", fields.get("clientOrderId") ?? "", clientOrderId],
  ];
}
