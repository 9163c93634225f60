/** `perpgate orders`, `positions`, `fills` and `account`: what the session's account owns and did. */

import { parseOrderId } from "@perpgate/protocol/core";
import type { Account, Fill, Order, OrderName, Position, Session } from "@perpgate/sdk";
import { printable } from "../cli/printable.js";
import { duration, fee, fixed, money, signed, time } from "../cli/quantities.js";
import { StartError, UsageError } from "../cli/start-error.js";
import { signTone } from "../cli/style.js";
import type { Cell, Column } from "../cli/table.js";
import { orderNamed } from "./cancel.js";
import { withSession } from "./connection.js";
import { type MarketFormat, marketFormats, sideCell } from "./market-format.js";
import type { VenueOptions } from "./venue-command.js";

const DEFAULT_FILLS = 20;
const MAX_PAGE = 1_000;

type FormatOf = (symbol: string) => MarketFormat;

interface OrdersOptions extends VenueOptions {
  readonly all?: boolean;
  readonly nonce?: number;
  readonly limit?: number;
  readonly before?: string;
}

export function orders(options: OrdersOptions): Promise<number> {
  const { all = false, nonce, limit, before } = options;
  if (!all && (limit ?? before) !== undefined) {
    throw new UsageError("--limit and --before need --all");
  }
  return withSession(options, async ({ client, session, output }) => {
    const [rows, formatOf] = await Promise.all([
      session.orders({
        status: all ? "all" : "open",
        ...(nonce === undefined ? {} : { nonce }),
        ...(limit === undefined ? {} : { limit }),
        ...(before === undefined ? {} : { before }),
      }),
      marketFormats(client),
    ]);
    // Pages go on by the order of the venue.
    const shown = output.isJson ? rows : underParents(rows);
    output.rows(orderColumns(formatOf), shown, all ? "no orders" : "no open orders");
    return 0;
  });
}

/** Each order followed by its exits, at the place of the first of them. */
function underParents(rows: readonly Order[]): Order[] {
  const families = new Map<string, Order[]>();
  for (const row of rows) {
    const family = row.parentOrderId ?? row.orderId;
    families.set(family, [...(families.get(family) ?? []), row]);
  }
  return [...families.values()].flatMap((family) =>
    family.sort((a, b) => numberOf(a) - numberOf(b)),
  );
}

function numberOf({ orderId }: Order): number {
  return parseOrderId(orderId) ?? 0;
}

export function positions(options: VenueOptions): Promise<number> {
  return withSession(options, async ({ client, session, output }) => {
    const [rows, formatOf] = await Promise.all([session.positions(), marketFormats(client)]);
    output.rows(positionColumns(formatOf), rows, "no positions");
    return 0;
  });
}

interface FillsOptions extends VenueOptions {
  readonly limit?: number;
  readonly before?: string;
  readonly order?: string;
}

export function fills(options: FillsOptions): Promise<number> {
  const { limit, before, order } = options;
  if (order !== undefined && (limit ?? before) !== undefined) {
    throw new UsageError("--order shows all fills; leave out --limit and --before");
  }
  const name = order === undefined ? undefined : orderNamed(order);
  return withSession(options, async ({ client, session, output }) => {
    const page = { limit: limit ?? DEFAULT_FILLS, ...(before === undefined ? {} : { before }) };
    const [rows, formatOf] = await Promise.all([
      name === undefined ? session.fills(page) : fillsOf(session, name),
      marketFormats(client),
    ]);
    output.rows(fillColumns(formatOf), rows, "no fills");
    return 0;
  });
}

/** Read from the times of the order's life, until they come to what it filled. */
async function fillsOf(session: Session, name: OrderName): Promise<Fill[]> {
  const { orderId, symbol, filledSize, createdAt, updatedAt } = await orderOf(session, name);
  const found: Fill[] = [];
  const span = { symbol, from: createdAt, to: updatedAt + 1, limit: MAX_PAGE };
  let after = "0";
  while (sizeOf(found) < filledSize * (1 - 1e-9)) {
    const page = await session.fills({ ...span, after });
    found.push(...page.filter((fill) => fill.orderId === orderId));
    const last = page.at(-1);
    if (last === undefined) break;
    after = last.id;
  }
  return found;
}

function sizeOf(found: readonly Fill[]): number {
  return found.reduce((sum, { size }) => sum + size, 0);
}

async function orderOf(session: Session, name: OrderName): Promise<Order> {
  if (typeof name === "string") return session.order(name);
  const [newest] = await session.orders({ status: "all", ...name, limit: 1 });
  if (newest === undefined) throw new StartError(`you have no order named ${name.clientOrderId}`);
  return newest;
}

export function account(options: VenueOptions): Promise<number> {
  return withSession(options, async ({ session, output, profile, url }) => {
    const facts = await session.account();
    if (output.isJson) {
      output.json(facts);
      return 0;
    }
    output.line(printable(facts.address));
    output.list([
      ["equity", money(facts.equity)],
      ["balance", money(facts.balance)],
      ["available", money(facts.available)],
      ["reserved", `${money(facts.reserved)} by open orders`],
      ["margin", `${money(facts.positionMargin)} in positions`],
      [
        "cohort",
        facts.cohort ? "may open positions" : { text: "may not open positions", tone: "bad" },
      ],
      ...sessionLines(facts),
      ["profile", `${profile.name} at ${url}`],
    ]);
    return 0;
  });
}

function sessionLines({ session }: Account): (readonly [string, Cell])[] {
  const { expiresAt, kind, scope } = session;
  const limits = [
    scope.maxOrderNotional === null ? "" : `${money(scope.maxOrderNotional)} per order`,
    scope.maxNotional === null ? "" : `${money(scope.maxNotional)} in all`,
    scope.symbols === null ? "" : `${scope.symbols.join(", ")} only`,
  ].filter(Boolean);
  const end = `ends in ${duration(expiresAt - Date.now())} (${time(expiresAt)} UTC)`;
  return [
    ["session", `${kind} key, ${end}`],
    ...(limits.length === 0 ? [] : [["limits", limits.join("; ")] as const]),
  ];
}

function pnlCell(value: number): Cell {
  return { text: signed(value, money), tone: signTone(value) };
}

function orderColumns(formatOf: FormatOf): Column<Order>[] {
  const size = (field: "size" | "filledSize") => (order: Order) =>
    formatOf(order.symbol).size(order[field]);
  return [
    { title: "order", align: "right", cell: ({ orderId }) => orderId },
    { title: "symbol", cell: ({ symbol }) => symbol },
    { title: "side", cell: sideCell },
    {
      title: "type",
      cell: ({ symbol, type, trigger, limitPrice, reduceOnly, postOnly }) =>
        [
          trigger === "takeProfit" ? "take-profit" : type,
          limitPrice === null ? "" : `limit ${formatOf(symbol).price(limitPrice)}`,
          reduceOnly ? "reduce" : "",
          postOnly ? "post" : "",
        ]
          .filter(Boolean)
          .join(" "),
    },
    { title: "price", align: "right", cell: ({ symbol, price }) => formatOf(symbol).price(price) },
    {
      title: "size",
      align: "right",
      cell: (order) => (order.closePosition ? "all" : size("size")(order)),
    },
    { title: "filled", align: "right", cell: size("filledSize") },
    { title: "margin", align: "right", cell: ({ margin }) => money(margin) },
    { title: "leverage", align: "right", cell: ({ leverage }) => `${leverage}x` },
    { title: "created (UTC)", cell: ({ createdAt }) => time(createdAt) },
    {
      title: "status",
      cell: ({ status, reason }) => (reason === null ? status : `${status}: ${reason}`),
    },
  ];
}

function positionColumns(formatOf: FormatOf): Column<Position>[] {
  const price = (field: "avgEntry" | "markPrice" | "liquidationPrice") => (position: Position) =>
    formatOf(position.symbol).price(position[field]);
  return [
    { title: "symbol", cell: ({ symbol }) => ({ text: symbol, tone: "strong" }) },
    { title: "side", cell: sideCell },
    {
      title: "size",
      align: "right",
      cell: ({ symbol, size }) => formatOf(symbol).size(Math.abs(size)),
    },
    { title: "entry", align: "right", cell: price("avgEntry") },
    { title: "mark", align: "right", cell: price("markPrice") },
    { title: "liquidation", align: "right", cell: price("liquidationPrice") },
    { title: "margin", align: "right", cell: ({ margin }) => money(margin) },
    { title: "leverage", align: "right", cell: ({ leverage }) => `${fixed(leverage, 1)}x` },
    { title: "unrealised", align: "right", cell: ({ unrealizedPnl }) => pnlCell(unrealizedPnl) },
    { title: "realised", align: "right", cell: ({ realizedPnl }) => pnlCell(realizedPnl) },
    { title: "funding paid", align: "right", cell: ({ fundingPaid }) => money(fundingPaid) },
  ];
}

function fillColumns(formatOf: FormatOf): Column<Fill>[] {
  return [
    { title: "time (UTC)", cell: ({ time: at }) => time(at) },
    { title: "symbol", cell: ({ symbol }) => symbol },
    { title: "side", cell: sideCell },
    { title: "size", align: "right", cell: ({ symbol, size }) => formatOf(symbol).size(size) },
    { title: "price", align: "right", cell: ({ symbol, price }) => formatOf(symbol).price(price) },
    { title: "fee", align: "right", cell: ({ fee: paid }) => fee(paid) },
    { title: "realised", align: "right", cell: ({ realizedPnl }) => pnlCell(realizedPnl) },
    { title: "as", cell: ({ liquidity, kind }) => (kind === "order" ? liquidity : kind) },
    { title: "order", align: "right", cell: ({ orderId }) => orderId ?? "-" },
    { title: "block", align: "right", cell: ({ block }) => String(block) },
    { title: "id", cell: ({ id }) => id },
  ];
}
