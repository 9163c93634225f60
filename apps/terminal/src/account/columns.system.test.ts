/** Every column of the tables shows what the interface of a real venue says. */

import { POLL, runVenue, startAheadOfClients } from "@perpgate/gateway/testing";
import type { Fill, Order, Position } from "@perpgate/protocol";
import { newPrivateKey, PerpgateClient, privateKeyAccount, type Session } from "@perpgate/sdk";
import { createElement, type FunctionComponent } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { formatDayAndClock, shortHex } from "../format/text.js";
import { Terminal, TerminalContext } from "../terminal.js";
import { GatewayProcess } from "../testing/gateway-process.js";
import { PayingGateway } from "../testing/paying-gateway.js";
import { viewOf } from "../venue/market-view.js";
import { AccountSummary } from "./account-summary.js";
import { type DataColumn, DataTable } from "./data-table.js";
import { DepositsTable } from "./deposits-table.js";
import { fillsByOrder, single } from "./fill-groups.js";
import { fillColumns } from "./fills-table.js";
import { fundingColumns, ledgerColumns, orderColumns } from "./history-panel.js";
import { OrdersTable } from "./orders-table.js";
import { PositionsTable } from "./positions-table.js";
import { withdrawalColumns } from "./withdrawals-table.js";

// Node has no frames, and nothing is loaded later.
vi.hoisted(() => {
  vi.stubGlobal("requestIdleCallback", () => 0);
  vi.stubGlobal("requestAnimationFrame", () => 0);
});

const SIZE = 0.02;
const HOUR_MS = 3_600_000;
const KIND_TEXTS: ReadonlyMap<string, string> = new Map([
  ["grant", "Test dollars"],
  ["fee", "Fee"],
  ["pnl", "Realised PnL"],
]);

let gateway: GatewayProcess;
let client: PerpgateClient;
let session: Session;
let terminal: Terminal;

beforeAll(async () => {
  gateway = new GatewayProcess({ page: "", settings: { server: { page: false } } });
  await gateway.start();
  client = new PerpgateClient({ url: gateway.url });
  session = await client.signIn({ account: privateKeyAccount(newPrivateKey()) });
  const maker = await client.signIn({ account: privateKeyAccount(newPrivateKey()) });
  terminal = new Terminal(client);
  terminal.line.state.set("live");
  const markets = await client.markets();
  terminal.marketFeed.markets.set(markets.map(viewOf));
  const mark = markets.find(({ symbol }) => symbol === "BTCUSD")?.markPrice ?? 0;
  const at = (share: number) => Math.round(mark * share);
  const btc = { symbol: "BTCUSD", leverage: 5 } as const;
  // Two prices of one order, a part of it closed with a gain.
  for (const share of [0.999, 1.0005]) {
    await maker.placeOrder({ ...btc, side: "short", type: "limit", size: SIZE, price: at(share) });
  }
  const buy = { ...btc, side: "long", type: "limit" } as const;
  await session.placeOrder({ ...buy, size: 2 * SIZE, timeInForce: "ioc", price: at(1.001) });
  await maker.placeOrder({ ...buy, size: 0.013, price: at(1.002) });
  const close = { ...btc, side: "short", type: "limit", reduceOnly: true } as const;
  await session.placeOrder({ ...close, size: 0.013, timeInForce: "ioc", price: at(1.0015) });
  await session.placeOrder({
    ...buy,
    leverage: 3,
    margin: 250,
    postOnly: true,
    price: at(0.95),
    expiresAt: (await client.time()) + 86_400_000,
    takeProfit: { price: at(1.05) },
    stopLoss: { price: at(0.9) },
  });
  const stop = { ...btc, side: "short", type: "stop" } as const;
  await session.placeOrder({ ...stop, size: 0.01, price: at(0.97), limitPrice: at(0.965) });
  await session.placeOrder({ ...stop, leverage: 1, closePosition: true, price: at(0.93) });
});

afterAll(async () => {
  client?.close();
  await gateway?.remove();
});

/** The texts of a table by title of their column. */
function tableOf(component: FunctionComponent): readonly ReadonlyMap<string, string>[] {
  const inside = createElement(component);
  return rowsIn(renderToStaticMarkup(createElement(TerminalContext, { value: terminal }, inside)));
}

function rowsOf<Row>(columns: readonly DataColumn<Row>[], rows: readonly Row[]) {
  const keyOf = (row: Row) => String(rows.indexOf(row));
  const props = { label: "table", columns, rows, keyOf, empty: "" };
  return tableOf(() => DataTable(props));
}

function rowsIn(html: string): readonly ReadonlyMap<string, string>[] {
  const body = html.slice(html.indexOf("<tbody>"));
  return [...body.matchAll(/<tr>(.*?)<\/tr>/gs)].map(
    ([, row = ""]) =>
      new Map(
        [...row.matchAll(/<td data-title="([^"]*)"[^>]*>(.*?)<\/td>/gs)].map(
          ([, title = "", cell = ""]) => [title, textIn(cell)] as const,
        ),
      ),
  );
}

function textIn(html: string): string {
  const spaced = html
    .replaceAll(/<[^>]*>/g, " ")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">");
  return spaced.replaceAll(/\s+/g, " ").trim();
}

/** The numbers of a cell. */
function numbersIn(text: string | undefined): readonly number[] {
  const plain = (text ?? "").replaceAll(",", "").replaceAll("−", "-").replaceAll("+", "");
  return [...plain.matchAll(/-?\d+(?:\.\d+)?/g)].map(([each]) => Number(each));
}

const rounded = (value: number, digits: number): number => Number(value.toFixed(digits)) + 0;

describe("columns", () => {
  test("positions", async () => {
    const [position] = await session.positions();
    if (position === undefined) throw new Error("no position");
    const orders = await session.openOrders();
    terminal.account.positions.set(new Map([[position.symbol, position]]));
    terminal.account.orders.set(new Map(orders.map((order) => [order.orderId, order])));
    const [row] = tableOf(PositionsTable);
    const { size, markPrice, margin, unrealizedPnl, liquidationPrice }: Position = position;
    if (liquidationPrice === null) throw new Error("no liquidation price");
    const market = terminal.marketFeed.view("BTCUSD")?.market;
    const rate = market?.tiers[0]?.maintenanceRate ?? Number.NaN;
    const value = size * markPrice;
    const numbers = (title: string) => numbersIn(row?.get(title));
    expect(row?.get("Market")).toBe(`BTCUSD Long ${position.leverage.toFixed(1)}×`);
    expect(numbers("Size")).toEqual([size]);
    expect(numbers("Value")).toEqual([rounded(value, 2)]);
    expect(numbers("Entry")).toEqual([rounded(position.avgEntry, 1)]);
    expect(numbers("Mark")).toEqual([markPrice]);
    expect(numbers("Liquidation")).toEqual([
      liquidationPrice,
      rounded((liquidationPrice / markPrice - 1) * 100, 1),
    ]);
    expect(numbers("PnL")).toEqual([
      rounded(unrealizedPnl, 2),
      rounded((unrealizedPnl / margin) * 100, 2),
    ]);
    expect(numbers("Margin")).toEqual([rounded(margin, 2)]);
    expect(numbers("Ratio")).toEqual([
      rounded(((value * rate) / (margin + unrealizedPnl)) * 100, 1),
    ]);
    const exit = orders.find(({ closePosition }) => closePosition)?.price;
    expect(row?.get("TP / SL")?.startsWith("— / ")).toBe(true);
    expect(numbers("TP / SL")).toEqual([exit]);
    expect(position.realizedPnl).not.toBe(0);
    expect(numbers("Realised")).toEqual([rounded(position.realizedPnl, 2)]);
    expect(numbers("Funding paid")).toEqual([rounded(position.fundingPaid, 4)]);
    expect([...(row?.keys() ?? [])]).toHaveLength(13);
  });

  test("open orders", async () => {
    const orders = await session.openOrders();
    expect(orders).toHaveLength(5);
    terminal.account.orders.set(new Map(orders.map((order) => [order.orderId, order])));
    const rows = tableOf(OrdersTable);
    expect(rows).toHaveLength(5);
    const titleOf = (order: Order) => {
      if (order.type === "limit") return "Buy limit Post";
      if (order.closePosition) return "Sell stop Whole position";
      if (order.limitPrice !== null)
        return `Sell stop Limit ${order.limitPrice.toLocaleString("en-US")}.0`;
      const kind = order.trigger === "takeProfit" ? "take profit" : "stop loss";
      return `Sell ${kind} Exit of ${order.parentOrderId} Reduce`;
    };
    for (const order of orders) {
      const row = rows.find((each) => each.get("Order") === titleOf(order));
      expect(row, titleOf(order)).toBeDefined();
      expect(row?.get("Market")).toBe(order.symbol);
      expect(numbersIn(row?.get("Price"))).toEqual([order.price]);
      const sign = order.trigger === "takeProfit" ? "≥" : "≤";
      expect(row?.get("Price")?.startsWith(`mark ${sign}`)).toBe(order.type === "stop");
      if (order.closePosition) expect(row?.get("Filled / size")).toBe("position");
      else expect(numbersIn(row?.get("Filled / size"))).toEqual([order.filledSize, order.size]);
      if (!order.closePosition) {
        expect(numbersIn(row?.get("Margin"))).toEqual([rounded(order.margin, 2), order.leverage]);
      }
      const { expiresAt } = order;
      expect(row?.get("Expires")).toBe(expiresAt === null ? "—" : formatDayAndClock(expiresAt));
      expect(row?.get("Placed")).toBe(formatDayAndClock(order.createdAt));
    }
  });

  test("order history", async () => {
    const orders = await session.orders({ status: "all" });
    const rows = rowsOf(orderColumns(terminal), orders);
    expect(rows).toHaveLength(orders.length);
    for (const [at, order] of orders.entries()) {
      const row = rows[at];
      expect(row?.get("Time")).toBe(formatDayAndClock(order.createdAt));
      expect(row?.get("Market")).toBe(order.symbol);
      expect(row?.get("Status")?.split(" ")[0]).toBe(order.status);
      expect(numbersIn(row?.get("Price"))).toEqual([order.price]);
      expect(numbersIn(row?.get("Filled / size"))).toEqual([order.filledSize, order.size]);
      const average = order.filledSize === 0 ? [] : [rounded(order.avgFillPrice ?? 0, 1)];
      expect(numbersIn(row?.get("Average fill"))).toEqual(average);
    }
  });

  test("fills, each and by order", async () => {
    const fills: readonly Fill[] = await session.fills();
    expect(fills).toHaveLength(3);
    const each = rowsOf(fillColumns(terminal), fills.map(single));
    for (const [at, fill] of fills.entries()) {
      const numbers = (title: string) => numbersIn(each[at]?.get(title));
      expect(each[at]?.get("Time")).toBe(formatDayAndClock(fill.time));
      expect(each[at]?.get("Market")).toBe(fill.symbol);
      expect(each[at]?.get("Side")).toBe(fill.side === "long" ? "Buy" : "Sell");
      expect(numbers("Price")).toEqual([fill.price]);
      expect(numbers("Size")).toEqual([fill.size]);
      expect(numbers("Fee")).toEqual([fill.fee]);
      expect(each[at]?.get("Fee")?.endsWith(` ${fill.liquidity}`)).toBe(true);
      expect(numbers("Realised PnL")).toEqual([rounded(fill.realizedPnl, 2)]);
      expect(each[at]?.get("Order")).toBe(fill.orderId);
      expect(numbers("Fills")).toEqual([1]);
    }
    const groups = fillsByOrder(fills);
    expect(groups.map(({ count }) => count)).toEqual([1, 2]);
    const summed = rowsOf(fillColumns(terminal), groups);
    const orders = await session.orders({ status: "all" });
    for (const [at, { orderId }] of groups.entries()) {
      const order = orders.find((one) => one.orderId === orderId);
      expect(numbersIn(summed[at]?.get("Size"))).toEqual([order?.filledSize]);
      expect(numbersIn(summed[at]?.get("Price"))).toEqual([rounded(order?.avgFillPrice ?? 0, 1)]);
    }
  });

  test("ledger", async () => {
    const entries = await session.ledger();
    expect(new Set(entries.map(({ kind }) => kind))).toEqual(new Set(["grant", "fee", "pnl"]));
    const rows = rowsOf(ledgerColumns(), entries);
    for (const [at, entry] of entries.entries()) {
      expect(rows[at]?.get("Time")).toBe(formatDayAndClock(entry.time));
      expect(rows[at]?.get("Kind")).toBe(KIND_TEXTS.get(entry.kind));
      expect(rows[at]?.get("Market")).toBe(entry.symbol ?? "—");
      expect(numbersIn(rows[at]?.get("Amount"))).toEqual([rounded(entry.amount, 6)]);
      expect(numbersIn(rows[at]?.get("Balance"))).toEqual([rounded(entry.balance, 2)]);
      expect(rows[at]?.get("Reference")).toBe(entry.reference);
    }
  });

  test("summary: what the account is worth, and how it is used", async () => {
    const [account, positions] = await Promise.all([session.account(), session.positions()]);
    terminal.account.account.set(account);
    terminal.account.positions.set(new Map(positions.map((each) => [each.symbol, each])));
    const { address } = session;
    terminal.sessions.state.set({ status: "in", address, kind: "wallet", session, isKept: false });
    const html = renderToStaticMarkup(
      createElement(TerminalContext, { value: terminal }, createElement(AccountSummary)),
    );
    const facts = new Map(
      [...html.matchAll(/<dt>(.*?)<\/dt><dd[^>]*>(.*?)<\/dd>/gs)].map(([, name = "", text]) => [
        name,
        numbersIn(text),
      ]),
    );
    const unrealized = positions.reduce((sum, { unrealizedPnl }) => sum + unrealizedPnl, 0);
    expect([...facts]).toEqual([
      ["Equity", [rounded(account.equity, 2)]],
      ["Unrealised PnL", [rounded(unrealized, 2)]],
      ["Position margin", [rounded(account.positionMargin, 2)]],
      ["In orders", [rounded(account.reserved, 2)]],
      ["Available", [rounded(account.available, 2)]],
    ]);
    expect(account.reserved).toBeGreaterThan(0);
  });

  test("deposits", async () => {
    const txHash = `0x${"7".repeat(64)}`;
    const { depositId } = await session.deposit({ chain: "arbitrum", token: "USDC", txHash });
    const isCredited = async () => (await session.depositById(depositId)).status === "credited";
    await expect.poll(isCredited, POLL).toBe(true);
    const deposits = await session.deposits();
    terminal.account.deposits.set(new Map(deposits.map((each) => [each.depositId, each])));
    const { address } = session;
    terminal.sessions.state.set({ status: "in", address, kind: "wallet", session, isKept: false });
    const rows = tableOf(DepositsTable);
    expect(rows).toHaveLength(1);
    const [row] = rows;
    const [deposit] = deposits;
    expect(row?.get("Transaction")).toBe(shortHex(txHash));
    expect([row?.get("Chain"), row?.get("Token"), row?.get("Status")]).toEqual([
      deposit?.chain,
      deposit?.token,
      "credited",
    ]);
    expect(deposit?.required).toBe(0);
    expect(row?.get("Confirmations")).toBe("done");
    const credited = deposit?.credits.map(({ amount }) => amount);
    expect(credited).toEqual([10_000]);
    expect(numbersIn(row?.get("Credited"))).toEqual(credited);
  });
});

test("columns: funding", async () => {
  const venue = await runVenue({ startMs: startAheadOfClients() });
  const own = new PerpgateClient({ url: venue.url });
  onTestFinished(() => own.close());
  await venue.setIndex("BTCUSD", 65_000);
  const maker = await own.signIn({ account: privateKeyAccount(newPrivateKey()) });
  const taker = await own.signIn({ account: privateKeyAccount(newPrivateKey()) });
  const order = { symbol: "BTCUSD", type: "limit", size: 0.1, leverage: 5 } as const;
  await maker.placeOrder({ ...order, side: "short", price: 65_000 });
  await taker.placeOrder({ ...order, side: "long", price: 65_000 });
  // Both sides of the book are above the index: longs pay.
  const quote = { ...order, size: 1, leverage: 20 } as const;
  await maker.placeOrder({ ...quote, side: "long", price: 65_200 });
  await maker.placeOrder({ ...quote, side: "short", price: 65_300 });
  venue.skip(HOUR_MS - (venue.nowMs() % HOUR_MS) - 1_000);
  await venue.execute({ kind: "AskTime", stampMs: venue.nowMs() });
  await venue.setIndex("BTCUSD", 65_000);
  await venue.advance(2_000);
  await expect.poll(() => taker.fundingPayments(), POLL).toHaveLength(1);
  for (const session of [taker, maker]) {
    const payments = await session.fundingPayments();
    const rows = rowsOf(fundingColumns(), payments);
    expect(rows).toHaveLength(1);
    for (const [at, { time, symbol, amount }] of payments.entries()) {
      expect(amount).not.toBe(0);
      expect(rows[at]?.get("Time")).toBe(formatDayAndClock(time));
      expect(rows[at]?.get("Market")).toBe(symbol);
      expect(numbersIn(rows[at]?.get("Amount"))).toEqual([rounded(amount, 6)]);
    }
  }
});

test("columns: withdrawals, before and after they are paid", async () => {
  const venue = await PayingGateway.start(false);
  onTestFinished(() => venue.gateway.remove());
  const own = new PerpgateClient({ url: venue.gateway.url });
  onTestFinished(() => own.close());
  const account = privateKeyAccount(newPrivateKey());
  const payee = await own.signIn({ account });
  const txHash = "7".repeat(64);
  const transfer = { chain: "ethereum", token: "USDC", txHash: `0x${txHash}` } as const;
  const { depositId } = await payee.deposit(transfer);
  await venue.credit(Number(depositId), txHash, account.address, 40);
  const available = async () => (await payee.account()).available;
  await expect.poll(available, POLL).toBe(40);
  await payee.withdraw({ chain: "ethereum", token: "USDC", amount: 12.5 });
  const expectShown = async (status: string) => {
    const withdrawals = await payee.withdrawals();
    expect(withdrawals).toMatchObject([{ status }]);
    const [row] = rowsOf(withdrawalColumns(terminal), withdrawals);
    for (const { requestedAt, chain, token, amount, fee, txHash: hash } of withdrawals) {
      expect(row?.get("Time")).toBe(formatDayAndClock(requestedAt));
      expect([row?.get("Chain"), row?.get("Token")]).toEqual([chain, token]);
      expect(numbersIn(row?.get("Amount"))).toEqual([amount]);
      expect(numbersIn(row?.get("Fee"))).toEqual([fee]);
      expect(row?.get("Status")).toBe(status);
      expect(row?.get("Transaction")).toBe(hash === null ? "—" : shortHex(hash));
    }
  };
  await expectShown("queued");
  const statusNow = async () => (await payee.withdrawals())[0]?.status;
  for (const [verdict, status] of [
    ["signed", "attested"],
    ["pending", "pending"],
    ["paid", "paid"],
  ] as const) {
    await venue.vote(verdict, "9".repeat(64));
    await expect.poll(statusNow, POLL).toBe(status);
  }
  await expectShown("paid");
});
