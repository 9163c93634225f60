/**
 * What an open order keeps of memory, measured as growth of the resident memory of a process of its own:
 * tables are over SharedArrayBuffers, which V8 counts nowhere, and reserve pages that take no memory
 * before they are written to. The nonce that the order used is included, 16 bytes.
 */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { Engine, LIMIT_ORDER, LONG, SHORT, STOP_ORDER } from "@perpgate/engine";
import { PLAIN_EXTRAS } from "@perpgate/engine/testing";
import type { Report } from "../harness/report.js";
import { INDEX_TICKS, openingCommands, order, sessionOf } from "./venue-flow.js";

const DOLLAR = 1_000_000;
/** Below the limit of open orders. */
const ORDERS_PER_ACCOUNT = 400;
/** Prices on each side, from some way behind the mark on. */
const PRICES = 20_000;
const NEAREST = 500;

const KINDS = {
  "resting order": { type: LIMIT_ORDER, hasSize: false, bar: 350 },
  "resting order with a size": { type: LIMIT_ORDER, hasSize: true, bar: 350 },
  "waiting stop": { type: STOP_ORDER, hasSize: false, bar: 200 },
  "waiting stop with a size": { type: STOP_ORDER, hasSize: true, bar: 200 },
} as const;
type Kind = keyof typeof KINDS;

/** A small young generation: how far it grows with the garbage of commands is no order's memory. */
const FLAGS = ["--expose-gc", "--max-semi-space-size=1"];

export function memoryOfOrders(report: Report, orders: number): void {
  for (const [kind, { bar }] of Object.entries(KINDS)) {
    const args = [...FLAGS, fileURLToPath(import.meta.url), kind, String(orders)];
    const bytes = Number(execFileSync(process.execPath, args, { encoding: "utf8" }));
    const metric = `memory of a ${kind}, of ${orders}`;
    report.add(metric, bytes, "bytes", `bar ${bar}`, bytes / bar);
  }
}

function bytesPerOrder(kind: Kind, orders: number): number {
  const { type, hasSize } = KINDS[kind];
  const engine = new Engine();
  const accounts = Math.ceil(orders / ORDERS_PER_ACCOUNT) + 1;
  for (const command of openingCommands(accounts)) engine.apply(command);
  const place = (i: number): void => {
    const isLong = i % 2 === 0;
    const distance = NEAREST + ((i * 7_919) % PRICES);
    // Limits wait behind the mark, stops before it.
    const priceTicks = INDEX_TICKS + ((type === STOP_ORDER) === isLong ? distance : -distance);
    const account = 1 + (Math.floor(i / 2) % accounts);
    const nonce = 1 + Math.floor(i / accounts / 2) * 2 + (i % 2);
    const side = isLong ? LONG : SHORT;
    const plain = order(sessionOf(account), nonce, side, priceTicks, 2 * DOLLAR, 10);
    const extras = hasSize
      ? {
          extras: {
            ...PLAIN_EXTRAS,
            sizeLots: 3,
            timeInForce: type === STOP_ORDER ? 1 : 0,
          } as const,
        }
      : {};
    engine.apply({ ...plain, type, ...extras });
  };
  // Rows of accounts and positions first.
  for (let i = 0; i < 2 * accounts; i++) place(i);
  const before = residentBytes();
  for (let i = 2 * accounts; i < 2 * accounts + orders; i++) place(i);
  const grown = residentBytes() - before;
  const { open } = engine.state.orders;
  if (open !== 2 * accounts + orders) throw new Error(`only ${open} orders are open`);
  return grown / orders;
}

function residentBytes(): number {
  for (let i = 0; i < 4; i++) globalThis.gc?.();
  return process.memoryUsage.rss();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [kind, orders] = process.argv.slice(2);
  if (kind !== undefined && kind in KINDS) {
    console.log(Math.round(bytesPerOrder(kind as Kind, Number(orders))));
  }
}
