/** What the page shows and sends while something is not known yet, not live, or not taken by the market. */

import { runVenue, startAheadOfClients } from "@perpgate/gateway/testing";
import type { Market, Order } from "@perpgate/protocol";
import { newPrivateKey, PerpgateClient, privateKeyAccount } from "@perpgate/sdk";
import { createElement, type FunctionComponent } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { afterAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { AccountSummary } from "./account/account-summary.js";
import CloseDialog from "./account/close-dialog.js";
import { CloseForm } from "./account/close-form.js";
import { MarginForm } from "./account/margin-form.js";
import { OrdersTable } from "./account/orders-table.js";
import { PositionsTable } from "./account/positions-table.js";
import { ProtectForm } from "./account/protect-form.js";
import SignOutDialog from "./account/sign-out-dialog.js";
import { WithdrawForm } from "./account/withdraw-dialog.js";
import { ownRows } from "./book/book-panel.js";
import { SortedLevels } from "./book/levels.js";
import ConfirmOrder from "./order/confirm-order.js";
import { EMPTY_FORM, type OrderForm } from "./order/order-form-state.js";
import ScaleDialog from "./order/scale-dialog.js";
import { estimate } from "./order/use-preview.js";
import { Terminal, TerminalContext } from "./terminal.js";
import { RESTING } from "./testing/resting-order.js";
import { viewOf } from "./venue/market-view.js";

// Node has no frames, and nothing is loaded later.
vi.hoisted(() => {
  vi.stubGlobal("requestIdleCallback", () => 0);
  vi.stubGlobal("requestAnimationFrame", () => 0);
});

const DAY_MS = 86_400_000;
const RULES = {
  minWithdrawal: 10,
  fee: 0.5,
  accountPerDay: 1_000,
  venuePerHour: 5_000,
  venuePerDay: 5_000,
  lifeSeconds: 3_600,
  chains: [{ chain: "ethereum", tokens: ["USDC"] }],
} as const;

const venue = await runVenue({ startMs: startAheadOfClients() }, afterAll);
const client = new PerpgateClient({ url: venue.url });
afterAll(() => client.close());
await venue.setIndex("BTCUSD", 65_000);
const signIn = () => client.signIn({ account: privateKeyAccount(newPrivateKey()) });
const session = await signIn();
const maker = await signIn();
const order = {
  symbol: "BTCUSD",
  type: "limit",
  price: 65_000,
  size: 0.01,
  leverage: 5,
} as const;
await maker.placeOrder({ ...order, side: "short" });
await session.placeOrder({ ...order, side: "long" });
const markets = await client.markets();
const [position] = await session.positions();
if (position === undefined) throw new Error("no position");
const held = position;

function start(status: Market["status"] = "active") {
  const terminal = new Terminal(client);
  terminal.line.state.set("live");
  const { address } = session;
  terminal.sessions.state.set({ status: "in", address, kind: "wallet", session, isKept: false });
  const views = markets.map((market) =>
    viewOf(market.symbol === "BTCUSD" ? { ...market, status } : market),
  );
  terminal.marketFeed.markets.set(views);
  const view = terminal.marketFeed.view("BTCUSD");
  if (view === undefined) throw new Error("no market");
  terminal.marketFeed.current.set(view);
  const read = (form: Partial<OrderForm>) =>
    estimate(terminal, view, { ...EMPTY_FORM, ...form }, new SortedLevels()).read;
  const html = <Props extends object>(component: FunctionComponent<Props>, props: Props) =>
    renderToStaticMarkup(
      createElement(TerminalContext, { value: terminal }, createElement(component, props)),
    );
  return { terminal, view, read, html };
}

/** The texts of what is pressed to send. */
function submits(html: string): readonly string[] {
  return [...html.matchAll(/(<button type="submit"[^>]*>)(.*?)<\/button>/gs)].map(
    ([, tag = "", text = ""]) => `${tag.includes("disabled") ? "off: " : ""}${text}`,
  );
}

function buttons(html: string, label: RegExp): readonly boolean[] {
  return [...html.matchAll(/<button [^>]*>/g)]
    .filter(([tag]) => label.test(tag))
    .map(([tag]) => !tag.includes("disabled"));
}

const nothing = () => undefined;

describe("before the account is loaded", () => {
  test("summary: neither a PnL nor an equity without the positions", async () => {
    const { terminal, html } = start();
    terminal.account.account.set(await session.account());
    const before = html(AccountSummary, {});
    const facts = (text: string) =>
      [...text.matchAll(/<dt>(.*?)<\/dt><dd[^>]*>(.*?)<\/dd>/gs)].map(([, name, value = ""]) => [
        name,
        /\d/.test(value.replaceAll(/<[^>]*>/g, "")),
      ]);
    expect(facts(before).slice(0, 3)).toEqual([
      ["Equity", false],
      ["Unrealised PnL", false],
      ["Position margin", true],
    ]);
    terminal.account.positions.set(new Map([[held.symbol, held]]));
    expect(facts(html(AccountSummary, {})).every(([, isKnown]) => isKnown)).toBe(true);
  });

  test("margin and withdrawal: nothing is called available", () => {
    const { view, html } = start();
    const forms = [
      html(MarginForm, { view, position: held, onDone: nothing }),
      html(WithdrawForm, {
        rules: { ...RULES, chains: [{ chain: "ethereum", tokens: ["USDC"] }] },
        onSent: nothing,
      }),
    ];
    for (const form of forms) {
      const [, aside] =
        /<\/label>(<span>.*?Available.*?)<\/span><span class="box/s.exec(form) ?? [];
      expect(aside).toContain("skeleton");
      expect(aside).not.toMatch(/\d/);
      expect(submits(form)[0]).toMatch(/^off/);
    }
  });

  test("Sign out: asks unless it is known that nothing is open", () => {
    const { terminal, html } = start();
    const asks = () => {
      terminal.dialog.set("none");
      terminal.askSignOut();
      return terminal.dialog.get() === "sign-out";
    };
    expect(asks()).toBe(true);
    expect(html(SignOutDialog, {})).toContain("not known now");
    terminal.account.orders.set(new Map());
    terminal.account.positions.set(new Map([[held.symbol, held]]));
    expect(asks()).toBe(true);
    expect(html(SignOutDialog, {})).toContain("1 open position and 0 open orders stay");
    terminal.account.positions.set(new Map());
    terminal.line.state.set("reconnecting");
    expect(asks()).toBe(true);
    expect(html(SignOutDialog, {})).toContain("not known now");
    terminal.line.state.set("live");
    expect(asks()).toBe(false);
  });
});

describe("an order that waits for its confirmation", () => {
  const asked = { ...EMPTY_FORM, type: "market", amount: "30000" } as const;

  test("its figures are those of the moment", async () => {
    const { terminal, view, html } = start();
    const show = () =>
      html(ConfirmOrder, { view, form: asked, onConfirm: nothing, onClose: nothing });
    const ticker = await client.ticker("BTCUSD");
    const worst = (text: string) => /Worst price<\/dt><dd[^>]*>([^<]*)/.exec(text)?.[1];
    terminal.marketFeed.ticker("BTCUSD").set({ ...ticker, mark: 65_000 });
    expect(worst(show())).toBe("65,325.0");
    terminal.marketFeed.ticker("BTCUSD").set({ ...ticker, mark: 66_000 });
    expect(worst(show())).toBe("66,330.0");
  });

  test("off while the line is down, and once the market is closed", () => {
    const { terminal, view, html } = start();
    const show = (shown = view) =>
      html(ConfirmOrder, { view: shown, form: asked, onConfirm: nothing, onClose: nothing });
    const [isOn] = buttons(show(), /class="button buy"/);
    terminal.line.state.set("offline");
    const down = show();
    terminal.line.state.set("live");
    const halted = show(viewOf({ ...view.market, status: "halted" }));
    expect([isOn, ...buttons(down, /"button buy"/), ...buttons(halted, /"button buy"/)]).toEqual([
      true,
      false,
      false,
    ]);
    expect(down).toContain(">Offline</button>");
    expect(halted).toContain(">Market is halted</button>");
  });
});

describe("a market that does not take everything", () => {
  test("form: halted takes nothing, reduce-only what closes", () => {
    expect(start().read({ amount: "100" }).missing).toBeUndefined();
    expect(start("halted").read({ amount: "100" }).missing).toBe("Market is halted");
    const { terminal, read } = start("reduceOnly");
    expect(read({ amount: "100" }).missing).toBe("Market is reduce-only");
    terminal.account.positions.set(new Map([[held.symbol, held]]));
    expect(read({ amount: "100" }).missing).toBe("Market is reduce-only");
    expect(read({ amount: "100", side: "short" }).missing).toBeUndefined();
  });

  test.each([
    ["active", "Close 0.01000 BTC", true],
    ["halted", "off: Market is halted", false],
  ] as const)("%s: forms and buttons of positions and orders", (status, close, isOn) => {
    const { terminal, view, html } = start(status);
    terminal.account.positions.set(new Map([[held.symbol, held]]));
    terminal.account.orders.set(new Map([[RESTING.orderId, RESTING]]));
    const props = { view, position: held, onDone: nothing };
    expect(submits(html(CloseForm, props))).toEqual([close]);
    const dialog = html(CloseDialog, { symbol: "BTCUSD", onClose: nothing });
    expect(submits(dialog)).toEqual([isOn ? "Close 1 position" : "off: Market is halted"]);
    expect(submits(html(ProtectForm, props))).toEqual([
      isOn ? "off: Save" : "off: Market is halted",
    ]);
    const table = html(PositionsTable, {});
    expect(buttons(table, /aria-label="Close BTCUSD/)).toEqual([isOn]);
    expect(buttons(html(OrdersTable, {}), /aria-label="Amend order/)).toEqual([isOn]);
    expect(buttons(html(OrdersTable, {}), /aria-label="Cancel order/)).toEqual([true]);
  });

  test("scale orders: halted, and reduce-only without a position to close", () => {
    expect(submits(start().html(ScaleDialog, {}))).toEqual(["off: Place the orders"]);
    for (const [status, text] of [
      ["halted", "off: Market is halted"],
      ["reduceOnly", "off: Market is reduce-only"],
    ] as const) {
      expect(submits(start(status).html(ScaleDialog, {}))).toEqual([text]);
    }
  });
});

describe("before the venue's time is known", () => {
  test("an order with an expiry waits for it, however wrong the clock of the browser is", async () => {
    const { terminal, read } = start();
    const ahead = Date.now() + DAY_MS;
    const wrong = vi.spyOn(Date, "now").mockReturnValue(ahead);
    onTestFinished(() => wrong.mockRestore());
    const form = { type: "limit", price: "60000", amount: "100" } as const;
    const hour = { ...form, expiresInMs: 3_600_000 };
    expect(read(form).missing).toBeUndefined();
    expect(read(hour)).toMatchObject({ missing: "Waiting for the venue's time", terms: undefined });
    const now = await client.time();
    terminal.clock.note(now);
    const expiresAt = read(hour).terms?.order.expiresAt ?? 0;
    expect(expiresAt - now).toBeGreaterThanOrEqual(3_600_000);
    expect(expiresAt - now).toBeLessThan(3_700_000);
  });
});

test("the dot of an own order: at the limit of a stop that has triggered", () => {
  const { view } = start();
  const stop: Order = { ...RESTING, type: "stop", price: 66_000, limitPrice: 65_500 };
  const own = ownRows(new Map([[stop.orderId, stop]]), view, 1);
  expect([...own.bid]).toEqual([655_000]);
});
