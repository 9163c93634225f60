/** The commands that show an account: `orders`, `positions`, `fills`, `account`, `ledger`, `withdrawals`. */

import { parseOrderId } from "@perpgate/protocol/core";
import type {
  Account,
  Fill,
  LedgerEntry,
  Order,
  OrderName,
  Position,
  Session,
  Withdrawal,
} from "@perpgate/sdk";
import type { Command } from "commander";
import { exitWith } from "../cli/command.js";
import { printable } from "../cli/printable.js";
import { duration, fee, fixed, money, signed, time } from "../cli/quantities.js";
import { StartError, UsageError } from "../cli/start-error.js";
import { signTone } from "../cli/style.js";
import { type Column, left, right, type TableCell } from "../cli/table.js";
import { orderNamed, symbol, wholeNumber } from "../cli/values.js";
import type { TradingVenue } from "./connection.js";
import { type FormatOf, sideCell } from "./market-format.js";
import { accountRows, MAX_PAGE, pageOptions, type RowsOptions } from "./rows-command.js";
import { type VenueCommandOptions, venueCommand } from "./venue-command.js";

const DEFAULT_LIMIT = 20;

export function addAccountReads(program: Command): void {
  addOrders(program);
  addPositions(program);
  addFills(program);
  venueCommand(program, "account", {
    summary: "your balance and your session",
    usage: ["[--json]"],
    about: "Your balance, the part of it that is free, and the limits and expiry of this session.",
    examples: [["account", "your balance and your session"]],
  }).action(
    exitWith(async (options: VenueCommandOptions) =>
      (await import("./connection.js")).withSession(options, showAccount),
    ),
  );
}

interface OrdersOptions extends RowsOptions {
  readonly all?: boolean;
  readonly nonce?: number;
}

function addOrders(program: Command): void {
  const command = venueCommand(program, "orders", {
    summary: "your open orders",
    usage: ["[--nonce N] [--json]", "--all [--nonce N] [--limit N] [--before ID] [--json]"],
    about: `Your orders that rest in a book or wait for their trigger. With --all the ended ones too, newest
first; --before continues from the last one shown.`,
    examples: [["orders --all --nonce 41", "the state of an order whose response was lost"]],
  })
    .option("--all", "also filled and canceled ones")
    .option("--nonce <N>", "only the one with this nonce", wholeNumber("--nonce"));
  accountRows<Order, OrdersOptions>(pageOptions(command, "orders", MAX_PAGE, "--all"), {
    check: ({ all = false, limit, before }) => {
      if (!all && (limit ?? before) !== undefined) {
        throw new UsageError("--limit and --before need --all");
      }
    },
    read: async ({ session, output }, { all = false, nonce, limit, before }) => {
      const status = all ? "all" : "open";
      const rows = await session.orders({ status, nonce, limit, before });
      // Pages go on by the order of the venue.
      return output.isJson ? rows : underParents(rows);
    },
    columns: orderColumns,
    none: ({ all = false }) => (all ? "no orders" : "no open orders"),
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

function orderColumns(formatOf: FormatOf): Column<Order>[] {
  const size = (field: "size" | "filledSize") => (order: Order) =>
    formatOf(order.symbol).size(order[field]);
  return [
    right("order", ({ orderId }) => orderId),
    left("symbol", (order) => order.symbol),
    left("side", sideCell),
    left("type", (order) => typeOf(order, formatOf)),
    right("price", (order) => formatOf(order.symbol).price(order.price)),
    right("size", (order) => (order.closePosition ? "all" : size("size")(order))),
    right("filled", size("filledSize")),
    right("margin", ({ margin }) => money(margin)),
    right("leverage", ({ leverage }) => `${leverage}x`),
    left("created (UTC)", ({ createdAt }) => time(createdAt)),
    left("status", ({ status, reason }) => (reason === null ? status : `${status}: ${reason}`)),
  ];
}

function typeOf(order: Order, formatOf: FormatOf): string {
  const { type, trigger, limitPrice, reduceOnly, postOnly } = order;
  const parts = [
    trigger === "takeProfit" ? "take-profit" : type,
    limitPrice === null ? "" : `limit ${formatOf(order.symbol).price(limitPrice)}`,
    reduceOnly ? "reduce" : "",
    postOnly ? "post" : "",
  ];
  return parts.filter(Boolean).join(" ");
}

function addPositions(program: Command): void {
  const command = venueCommand(program, "positions", {
    summary: "your positions",
    usage: ["[--json]"],
    about: `Your positions, one per market: entry price, mark price, liquidation price, margin and profit or
loss.`,
    examples: [["positions", "your positions"]],
  });
  accountRows<Position, VenueCommandOptions>(command, {
    read: ({ session }) => session.positions(),
    columns: (formatOf) => {
      const price = (field: "avgEntry" | "markPrice" | "liquidationPrice") => (row: Position) =>
        formatOf(row.symbol).price(row[field]);
      return [
        left("symbol", (row) => ({ text: row.symbol, tone: "strong" })),
        left("side", sideCell),
        right("size", (row) => formatOf(row.symbol).size(Math.abs(row.size))),
        right("entry", price("avgEntry")),
        right("mark", price("markPrice")),
        right("liquidation", price("liquidationPrice")),
        right("margin", ({ margin }) => money(margin)),
        right("leverage", ({ leverage }) => `${fixed(leverage, 1)}x`),
        right("unrealised", ({ unrealizedPnl }) => gainCell(unrealizedPnl)),
        right("realised", ({ realizedPnl }) => gainCell(realizedPnl)),
        right("funding paid", ({ fundingPaid }) => money(fundingPaid)),
      ];
    },
    none: () => "no positions",
  });
}

function gainCell(value: number): TableCell {
  return { text: signed(value, money), tone: signTone(value) };
}

interface FillsOptions extends RowsOptions {
  readonly order?: string;
}

function addFills(program: Command): void {
  const command = venueCommand(program, "fills", {
    summary: "your fills",
    usage: ["[--limit N] [--before ID] [--json]", "--order <order id | client id> [--json]"],
    about: `Your fills, newest first; --before continues from the last one shown. With --order all fills of one
order, oldest first.`,
    examples: [
      ["fills --limit 1000 --json", "for a spreadsheet"],
      ["fills --order 48213", "those of one order"],
    ],
  });
  pageOptions(command, "fills", DEFAULT_LIMIT).option(
    "--order <ID>",
    "all fills of this order, by its id or your own",
  );
  accountRows<Fill, FillsOptions>(command, {
    check: ({ order, limit, before }) => {
      if (order === undefined) return;
      if ((limit ?? before) !== undefined) {
        throw new UsageError("--order shows all fills; leave out --limit and --before");
      }
      orderNamed(order);
    },
    read: ({ session }, { limit = DEFAULT_LIMIT, before, order }) =>
      order === undefined ? session.fills({ limit, before }) : fillsOf(session, orderNamed(order)),
    columns: (formatOf) => [
      left("time (UTC)", (fill) => time(fill.time)),
      left("symbol", (fill) => fill.symbol),
      left("side", sideCell),
      right("size", (fill) => formatOf(fill.symbol).size(fill.size)),
      right("price", (fill) => formatOf(fill.symbol).price(fill.price)),
      right("fee", (fill) => fee(fill.fee)),
      right("realised", ({ realizedPnl }) => gainCell(realizedPnl)),
      left("as", ({ liquidity, kind }) => (kind === "order" ? liquidity : kind)),
      right("order", ({ orderId }) => orderId ?? "-"),
      right("block", ({ block }) => String(block)),
      left("id", ({ id }) => id),
    ],
    none: () => "no fills",
  });
}

/** Read from the times of the order's life, until they come to what it filled. */
async function fillsOf(session: Session, name: OrderName): Promise<Fill[]> {
  const order = await orderOf(session, name);
  const { orderId, filledSize, createdAt, updatedAt } = order;
  const found: Fill[] = [];
  const span = { symbol: order.symbol, from: createdAt, to: updatedAt + 1, limit: MAX_PAGE };
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

async function showAccount({ session, output, profile, url }: TradingVenue): Promise<number> {
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
}

function sessionLines({ session }: Account): (readonly [string, TableCell])[] {
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

interface LedgerOptions extends RowsOptions {
  readonly symbol?: string;
}

export function addLedger(program: Command): void {
  const command = venueCommand(program, "ledger", {
    summary: "every change of your balance",
    usage: ["[--symbol S] [--limit N] [--before ID] [--json]"],
    about: `Every change of your balance with its kind and the balance after it, newest first: deposits,
fees, profit and loss, funding, liquidations. --before continues from the last one shown.`,
    examples: [["ledger --limit 1000 --json", "for a spreadsheet"]],
  }).option("--symbol <SYMBOL>", "of this market only", symbol);
  accountRows<LedgerEntry, LedgerOptions>(pageOptions(command, "entries", DEFAULT_LIMIT), {
    read: ({ session }, { limit = DEFAULT_LIMIT, before, symbol: market }) =>
      session.ledger({ limit, before, symbol: market }),
    columns: [
      left("time (UTC)", (entry) => time(entry.time)),
      left("kind", ({ kind }) => kind),
      left("symbol", (entry) => entry.symbol ?? "-"),
      right("amount", ({ amount }) => gainCell(amount)),
      right("balance", ({ balance }) => money(balance)),
      right("of", ({ reference }) => reference),
      left("id", ({ id }) => id),
    ],
    none: () => "no entries",
  });
}

interface WithdrawalsOptions extends RowsOptions {
  readonly id?: string;
}

export function addWithdrawals(program: Command): void {
  const command = venueCommand(program, "withdrawals", {
    summary: "your withdrawals",
    usage: ["[--limit N] [--before ID] [--json]", "--id ID [--json]"],
    about: `Your withdrawals with their status, newest first: queued, attested, pending, paid or expired.
With --id one of them with the attestors' votes, whose signatures the vault takes.`,
    examples: [["withdrawals --id 48213 --json", "with the signatures"]],
  });
  pageOptions(command, "withdrawals", MAX_PAGE)
    .option("--id <ID>", "this one, with its votes")
    .action(
      exitWith(async (options: WithdrawalsOptions) =>
        (await import("./connection.js")).withSession(options, (venue) =>
          showWithdrawals(venue, options),
        ),
      ),
    );
}

async function showWithdrawals(
  { session, output }: TradingVenue,
  { id, limit, before }: WithdrawalsOptions,
): Promise<number> {
  if (id === undefined) {
    const listed = await session.withdrawals({ limit, before });
    output.rows(WITHDRAWALS, listed, "no withdrawals");
    return 0;
  }
  const found = await session.withdrawalById(id);
  if (output.isJson) output.json(found);
  else {
    output.rows(WITHDRAWALS, [found], "");
    output.rows(VOTES, found.votes, "no attestor has voted");
  }
  return 0;
}

const WITHDRAWALS: readonly Column<Withdrawal>[] = [
  right("withdrawal", ({ withdrawalId }) => withdrawalId),
  left("chain", ({ chain }) => chain),
  left("token", ({ token }) => token),
  right("amount", ({ amount }) => money(amount)),
  right("fee", (withdrawal) => money(withdrawal.fee)),
  left("status", ({ status }) => status),
  left("deadline", ({ deadline }) => new Date(deadline).toISOString()),
  left("transaction", ({ txHash }) => printable(txHash ?? "-")),
];

const VOTES: readonly Column<{ readonly attestor: number; readonly verdict: string }>[] = [
  right("attestor", ({ attestor }) => String(attestor)),
  left("vote", ({ verdict }) => verdict),
];
