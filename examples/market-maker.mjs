#!/usr/bin/env node
/**
 * A market maker: ten bids and ten asks around the mark, moved with it. Every round is one batch: one
 * signature, one round trip, twenty operations. A quote that rests is amended by its own id, and keeps
 * that id; one that was filled or refused is placed again.
 *
 *   npm start                                    # in another terminal
 *   node examples/market-maker.mjs [http://127.0.0.1:8080] [20 rounds]
 *
 * Orders are valid for two seconds after they were signed: a batch that is late is refused whole rather
 * than quoted at old prices. If the program crashes, the dead-man's switch cancels its orders.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { PerpgateClient, priceFor, sizeFor } from "@perpgate/sdk";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";

const [url = "http://127.0.0.1:8080", rounds = "20"] = process.argv.slice(2);
const SYMBOL = "BTCUSD";
const LEVELS = 10;
/** From the mark to the first quote, and between two: 0.05 % of the price. */
const STEP = 0.0005;
const DOLLARS = 200;
const LEVERAGE = 5;
const GONE = new Set(["order_not_found", "order_not_amendable"]);

const client = new PerpgateClient({ url });
const session = await client.signIn({ account: privateKeyToAccount(generatePrivateKey()) });
const market = (await client.markets()).find(({ symbol }) => symbol === SYMBOL);

/** Every quote, by the id that it has for ever. */
const quotes = ["long", "short"].flatMap((side) =>
  Array.from({ length: LEVELS }, (_, level) => ({
    clientOrderId: `${side}-${level + 1}`,
    side,
    distance: (side === "long" ? -1 : 1) * (level + 1) * STEP,
    isOpen: false,
  })),
);

function operationOf({ clientOrderId, side, distance, isOpen }, mark) {
  const price = priceFor(market, side, mark * (1 + distance));
  if (isOpen) return { op: "amend", clientOrderId, price };
  const size = sizeFor(market, DOLLARS / price);
  const terms = { symbol: SYMBOL, side, type: "limit", leverage: LEVERAGE, postOnly: true };
  return { op: "place", clientOrderId, ...terms, size, price };
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

/** A refusal, or no answer, is no reason to end: the next round moves what is open then. */
async function attempt(work) {
  try {
    await work();
  } catch (error) {
    console.log(`${error.code ?? error.name}: ${error.message}`);
  }
}

async function quote(round) {
  await session.cancelAfter(30_000);
  const { mark } = await client.ticker(SYMBOL);
  const startedAt = performance.now();
  const { results } = await session.batch(
    quotes.map((quote) => operationOf(quote, mark)),
    { validUntil: Date.now() + 2_000 },
  );
  const elapsedMs = performance.now() - startedAt;
  let resting = 0;
  results.forEach(({ ack, error }, index) => {
    const quote = quotes[index];
    if (ack !== undefined) quote.isOpen = ack.status === "resting";
    // An order that is gone is placed again; an amendment that was refused left its order as it was.
    else if (GONE.has(error.code)) quote.isOpen = false;
    if (quote.isOpen) resting += 1;
  });
  console.log(`round ${round}: ${resting} quotes around ${mark} in ${elapsedMs.toFixed(1)} ms`);
  await noteLosses();
}

let isStopped = false;
process.once("SIGINT", () => {
  isStopped = true;
});
for (let round = 1; round <= Number(rounds) && !isStopped; round++) {
  await attempt(() => quote(round));
  await sleep(250);
}

await attempt(async () => {
  const { canceled } = await session.cancelAll();
  await session.cancelAfter(0);
  await noteLosses();
  const [position] = await session.positions();
  console.log(`${canceled.length} orders canceled, position ${position?.size ?? 0}`);
});
client.close();
