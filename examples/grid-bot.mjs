#!/usr/bin/env node
/**
 * A grid: buys rest below the price, sells above it, a step apart. When one is filled, its opposite
 * is placed a step away, so every round trip earns the step.
 *
 *   npm start                                    # in another terminal
 *   node examples/grid-bot.mjs [http://127.0.0.1:8080] [10 fills] [60 seconds]
 *
 * It ends after this number of fills or seconds, or by Ctrl-C, and cancels its orders. If it crashes,
 * the dead-man's switch cancels them.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { PerpgateClient, sizeFor } from "@perpgate/sdk";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";

const [url = "http://127.0.0.1:8080", maxFills = "10", seconds = "60"] = process.argv.slice(2);
const SYMBOL = "BTCUSD";
const LEVELS = 5;
/** Between two levels: 0.02 % of the price. */
const STEP = 0.0002;
const DOLLARS = 250;
const LEVERAGE = 5;
const SWITCH_MS = 30_000;

const client = new PerpgateClient({ url });
const session = await client.signIn({ account: privateKeyToAccount(generatePrivateKey()) });
const { balance: before } = await session.account();
const market = (await client.markets()).find(({ symbol }) => symbol === SYMBOL);
const ticksOf = (price) => Math.round(price / market.tickSize);
const middle = ticksOf(market.markPrice);
const step = Math.max(1, Math.round(middle * STEP));
const priceOf = (level) => Number(((middle + level * step) * market.tickSize).toFixed(8));

/** Level → what is to rest there: its side, and its order once it is placed. Level 0 begins empty. */
const grid = new Map();
for (let level = 1; level <= LEVELS; level++) {
  grid.set(-level, { side: "long" });
  grid.set(level, { side: "short" });
}

const size = sizeFor(market, DOLLARS / market.markPrice);

function orderOf(level, { side }) {
  const terms = { symbol: SYMBOL, side, type: "limit", size, leverage: LEVERAGE };
  return { op: "place", ...terms, price: priceOf(level), postOnly: true };
}

/** All missing orders in one batch: one signature, one round trip. */
async function placeMissing() {
  const missing = [...grid].filter(([, slot]) => slot.orderId === undefined);
  if (missing.length === 0) return;
  const { results } = await session.batch(missing.map(([level, slot]) => orderOf(level, slot)));
  results.forEach(({ ack, error }, index) => {
    if (ack !== undefined) missing[index][1].orderId = ack.orderId;
    // The price is beyond this level now; the next round tries again.
    else if (error.code !== "post_only_would_cross") throw new Error(error.message);
  });
}

let fills = 0;

/** What is not open any more was filled, or canceled by the venue; the order itself says which. */
async function settle(level, slot) {
  const { status } = await session.order(slot.orderId);
  grid.delete(level);
  if (status !== "filled") {
    grid.set(level, { side: slot.side });
    return;
  }
  fills += 1;
  const [next, side] = slot.side === "long" ? [level + 1, "short"] : [level - 1, "long"];
  console.log(`${slot.side} filled at ${priceOf(level)}: ${side} at ${priceOf(next)}`);
  if (!grid.has(next)) grid.set(next, { side });
}

const known = new Set();

/** A position can end without an order of ours: by a liquidation, or by auto-deleveraging. */
async function noteLosses() {
  for (const { id, kind, side, size, price } of await session.fills({ limit: 100 })) {
    if (kind !== "order" && !known.has(id)) {
      console.log(`the venue closed ${side} ${size} at ${price}: ${kind}`);
    }
    known.add(id);
  }
}

/** A refusal, or no answer, is no reason to end: the next round begins with what is open then. */
async function attempt(work) {
  try {
    await work();
  } catch (error) {
    console.log(`${error.code ?? error.name}: ${error.message}`);
  }
}

let isQuoting = false;
async function round() {
  await session.cancelAfter(SWITCH_MS);
  const open = new Set((await session.openOrders()).map(({ orderId }) => orderId));
  for (const [level, slot] of [...grid]) {
    if (slot.orderId !== undefined && !open.has(slot.orderId)) await settle(level, slot);
  }
  await placeMissing();
  if (!isQuoting)
    console.log(`quoting ${grid.size} levels from ${priceOf(-LEVELS)} to ${priceOf(LEVELS)}`);
  isQuoting = true;
  await noteLosses();
}

let isStopped = false;
process.once("SIGINT", () => {
  isStopped = true;
});
const endsAt = Date.now() + Number(seconds) * 1000;
while (!isStopped && fills < Number(maxFills) && Date.now() < endsAt) {
  await attempt(round);
  await sleep(250);
}

await attempt(async () => {
  const { canceled } = await session.cancelAll();
  await session.cancelAfter(0);
  await noteLosses();
  const [position] = await session.positions();
  const { balance } = await session.account();
  console.log(
    `${fills} fills, ${canceled.length} orders canceled, position ${position?.size ?? 0}`,
  );
  console.log(`wallet ${before} -> ${balance}`);
});
client.close();
