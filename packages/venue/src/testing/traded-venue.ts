/** A small venue with a past, and what clients see of its past and its present. */
import { until } from "@perpgate/journal/testing";
import type { Book } from "@perpgate/protocol";
import type { TestVenue } from "./test-venue.js";

export interface Traded {
  readonly sessions: readonly number[];
  readonly resting: number;
}

/** Two traders, fills, a resting order, some blocks. */
export async function traded(driver: TestVenue, nonce = 1): Promise<Traded> {
  await driver.index();
  const sessions = [await driver.signIn(1), await driver.signIn(2)];
  return { sessions, resting: await trade(driver, sessions, nonce) };
}

export async function trade(driver: TestVenue, sessions: readonly number[], from: number) {
  const [maker = 0, taker = 0] = sessions;
  for (let nonce = from; nonce < from + 40; nonce++) {
    await driver.order(maker, nonce, "short", 650_010, 20);
    await driver.order(taker, nonce, "long", 650_010, 20);
    if (nonce % 8 === 0) await driver.tick();
  }
  return (await driver.order(maker, from + 40, "long", 640_000, 10)).seq;
}

export async function pastOf({ venue: { views, history } }: TestVenue) {
  await history.reached();
  return {
    fills: [1, 2].map((account) => views.fills(account, { limit: 1_000 })),
    orders: [1, 2].map((account) => views.orders(account)),
    ledger: views.ledger(2, { limit: 1_000 }),
    trades: views.trades("BTCUSD", { limit: 1_000 }),
    candles: views.candles("BTCUSD", "1m", { limit: 10 }),
    block: views.block(1),
  };
}

export function presentOf({ venue: { views } }: TestVenue) {
  return {
    open: [1, 2].map((account) => views.openOrders(account)),
    positions: [1, 2].map((account) => views.positions(account)),
    tickers: views.tickers(),
    levels: bookOf(views.book("BTCUSD", 10)),
    money: [1, 2].map((account) => views.money(account)),
    keys: [1, 2].flatMap((account) =>
      views.sessions(account).map(({ sessionKey, message }) => ({ sessionKey, message })),
    ),
  };
}

/** Without its position: a start writes to the log. */
function bookOf(book: Book | undefined) {
  return [book?.bids, book?.asks];
}

/** Resolves once the history has its store. */
export async function rebuilt({ venue }: TestVenue): Promise<void> {
  await until(() => !venue.history.isRebuilding);
}
