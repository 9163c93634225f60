/**
 * The page used at random over a bad network and a gateway that is killed: after every step it shows what the
 * interface says, nothing could be sent meanwhile, and no order exists that nobody pressed for. The long form
 * is `npm test -- --long random-page`; a failure prints the seed and the steps.
 */

import type { Account, Order, Position } from "@perpgate/protocol";
import { newPrivateKey, PerpgateClient, privateKeyAccount, type Session } from "@perpgate/sdk";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { BadNetwork } from "../bad-network.js";
import { GatewayProcess } from "../gateway-process.js";
import type { PageTest } from "../page-test.js";
import { RandomTrader, randomFrom } from "../random-trader.js";
import { OFFLINE, POLL, type TradingPage } from "../trading-page.js";

const MINUTES = Number(process.env.PERPGATE_RANDOM_PAGE_MINUTES ?? 0);
const SEED = Number(process.env.PERPGATE_RANDOM_PAGE_SEED ?? (MINUTES > 0 ? Date.now() % 1e9 : 7));
/** Of the short form. */
const STEPS = 8;

type Act = "order" | "typeGarbage" | "cancelOne" | "cancelAll" | "amend" | "close";
type Fault = "none" | "late" | "lost" | "cut" | "kill" | "reload" | "others";
const ACTS = [
  "order",
  "order",
  "order",
  "typeGarbage",
  "cancelOne",
  "cancelAll",
  "amend",
  "close",
] as const;
const FAULTS = [
  "none",
  "none",
  "late",
  "lost",
  "cut",
  "kill",
  "reload",
  "others",
  "others",
] as const;

export function randomUseTests(test: PageTest): void {
  test("used at random, late, lost and killed: shows what the venue says, sends what was pressed", {
    timeout: 300_000 + MINUTES * 120_000,
  }, async ({ open, pageFolder, onTestFinished }) => {
    const gateway = new GatewayProcess({ page: pageFolder });
    onTestFinished(() => gateway.remove());
    await gateway.start();
    const random = randomFrom(SEED);
    const network = new BadNetwork();
    const account = privateKeyAccount(newPrivateKey());
    const key = newPrivateKey();
    const client = new PerpgateClient({ url: gateway.url });
    onTestFinished(() => client.close());
    const maker = await client.signIn({ account });
    const opened = await open({ url: gateway.url, prepare: (page) => network.install(page) });
    await opened.signInWithKey(key);
    const own = await client.signIn({ account: privateKeyAccount(key) });
    let mark = await markOf(client);
    const trader = new RandomTrader(opened, random, () => mark);
    const steps: string[] = [];
    const end = performance.now() + MINUTES * 60_000;
    try {
      while (MINUTES > 0 ? performance.now() < end : steps.length < STEPS) {
        mark = await markOf(client);
        const fault: Fault = trader.pick(FAULTS);
        const act: Act = trader.pick(ACTS);
        steps.push(`${fault} ${act}`);
        if (fault === "late") network.delay(500 + Math.floor(random() * 3_000));
        if (fault === "lost") network.lose();
        if (fault === "cut") await network.cut();
        if (fault === "others") await tradeAround(maker, mark);
        await trader[act]();
        if (fault === "kill") await restart(gateway, opened.page);
        if (fault === "reload") await opened.page.reload();
        await expectNothingSentWhileDown(opened.page);
        await network.heal();
        await opened.untilLive();
        await trader.settle();
        await expectShown(opened, own);
      }
      await expectOnlyPressed(trader, own);
    } catch (error) {
      console.error(`seed ${SEED}, step ${steps.length}: ${steps.join(", ")}`);
      throw error;
    }
    console.info(
      `random use: seed ${SEED}, ${steps.length} steps, ${trader.presses.length} orders pressed`,
    );
    opened.expectClean(new RegExp(`${OFFLINE.source}|status of \\d+`));
  });
}

async function markOf(client: PerpgateClient): Promise<number> {
  const market = (await client.markets()).find(({ symbol }) => symbol === "BTCUSD");
  return market?.markPrice ?? Number.NaN;
}

/** Quotes on both sides, and takes from what the page's trader has resting near the mark. */
async function tradeAround(maker: Session, mark: number): Promise<void> {
  await maker.cancelAll();
  for (const [side, sign] of [
    ["long", -1],
    ["short", 1],
  ] as const) {
    const terms = { symbol: "BTCUSD", side, type: "limit", leverage: 5 } as const;
    const price = Math.round(mark * (1 - sign * 0.004));
    await maker.placeOrder({ ...terms, size: 0.002, timeInForce: "ioc", price });
    for (const away of [0.0005, 0.001, 0.002]) {
      await maker.placeOrder({ ...terms, size: 0.05, price: Math.round(mark * (1 + sign * away)) });
    }
  }
}

async function restart(gateway: GatewayProcess, page: Page): Promise<void> {
  await gateway.kill();
  await page.locator('.connection:not([data-state="live"])').waitFor();
  await expectNothingSentWhileDown(page);
  await gateway.start();
}

/** Looked at in one task of the page: no enabled button sends while the line is not live. */
async function expectNothingSentWhileDown(page: Page): Promise<void> {
  const enabled: string[] = await page.evaluate(ENABLED_WHILE_DOWN);
  expect(enabled).toEqual([]);
}

const ENABLED_WHILE_DOWN = `(() => {
  const line = document.querySelector(".connection")?.dataset.state;
  if (line === undefined || line === "live") return [];
  const names = /^(Buy|Sell|Cancel (all|order|\\d)|Close (all|\\d|BTCUSD)|Save order)/;
  return [...document.querySelectorAll("button:enabled")]
    .map((button) => button.ariaLabel ?? button.textContent)
    .filter((name) => names.test(name));
})()`;

/** Orders, positions and the balance; what is still on its way is waited for, and must arrive. */
async function expectShown(opened: TradingPage, own: Session): Promise<void> {
  const { page } = opened;
  await expect.poll(() => page.getByTestId("unsettled").count(), POLL).toBe(0);
  await opened.tab(/^Open orders/);
  await expect
    .poll(
      async () =>
        differenceOf(await page.evaluate(SHOWN_ORDERS), ordersText(await own.openOrders())),
      POLL,
    )
    .toBe("");
  await opened.tab(/^Positions/);
  await expect
    .poll(
      async () =>
        differenceOf(await page.evaluate(SHOWN_POSITIONS), positionsText(await own.positions())),
      POLL,
    )
    .toBe("");
  const availableOf = ({ available }: Account) =>
    Math.floor(Math.round(available * 1e6) / 1e4) / 100;
  await expect
    .poll(async () => (await opened.available()) - availableOf(await own.account()), POLL)
    .toBe(0);
}

function differenceOf(shown: unknown, expected: readonly string[]): string {
  const [a, b] = [JSON.stringify(shown), JSON.stringify(expected)];
  return a === b ? "" : `shown ${a}, the venue says ${b}`;
}

/** Runs inside the page: id, price, filled and size of each row, without separators. */
const SHOWN_ORDERS = `[...document.querySelectorAll("table[aria-label='Open orders'] tbody tr")].map((row) => {
  const cell = (title) => row.querySelector("[data-title='" + title + "']").innerText;
  const numbers = (text) => (text.replaceAll(",", "").match(/[\\d.]+/g) ?? []).map(Number);
  const id = row.querySelector("[aria-label^='Cancel order']").ariaLabel.split(" ").at(-1);
  return [id, ...numbers(cell("Price")), ...numbers(cell("Filled / size"))].join(" ");
}).sort()`;

function ordersText(orders: readonly Order[]): readonly string[] {
  return orders
    .map(({ orderId, type, status, price, limitPrice, filledSize, size }) => {
      const at = type === "stop" && status === "resting" ? limitPrice : price;
      return [orderId, at, filledSize, size].join(" ");
    })
    .sort();
}

const SHOWN_POSITIONS = `[...document.querySelectorAll("table[aria-label=Positions] tbody tr")].map((row) => {
  const numbers = (title) => (row.querySelector("[data-title='" + title + "']").innerText
    .replaceAll(",", "").replaceAll("−", "-").match(/-?[\\d.]+/g) ?? []).map(Number);
  return [numbers("Size")[0], numbers("Entry")[0], numbers("Margin")[0], numbers("Liquidation")[0]].join(" ");
})`;

function positionsText(positions: readonly Position[]): readonly string[] {
  return positions.map(({ size, avgEntry, margin, liquidationPrice }) =>
    [size, Number(avgEntry.toFixed(1)), Number(margin.toFixed(2)), liquidationPrice].join(" "),
  );
}

/** Each order of the account is one that was pressed. */
async function expectOnlyPressed({ presses }: RandomTrader, own: Session): Promise<void> {
  const orders: Order[] = [];
  for (;;) {
    const last = orders.at(-1)?.orderId;
    const query = {
      status: "all",
      limit: 100,
      ...(last === undefined ? {} : { before: last }),
    } as const;
    const page = await own.orders(query);
    orders.push(...page);
    if (page.length < 100) break;
  }
  const wanted = presses.map(({ side, type }) => `${side} ${type}`);
  for (const { parentOrderId, side, type, orderId } of orders) {
    if (parentOrderId !== undefined) continue;
    const at = wanted.indexOf(`${side} ${type}`);
    expect(at, `order ${orderId}, ${side} ${type}, was not pressed`).toBeGreaterThanOrEqual(0);
    wanted.splice(at, 1);
  }
}
