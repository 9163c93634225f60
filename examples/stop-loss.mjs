#!/usr/bin/env node
/**
 * A position with a stop-loss and a take-profit, and the dead-man's switch over both.
 *
 *   npm start                                    # in another terminal
 *   node examples/stop-loss.mjs [http://127.0.0.1:8080]
 *
 * The stop waits at the venue: it works while this program is away. The switch is for the orders
 * that should not: unless it is armed again in time, it cancels everything of the account, **the
 * stop too**. So arm it while a program watches over the position, and switch it off (0) before
 * leaving the position to its stop. Here the program stops arming it, to show what happens.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { PerpgateClient } from "@perpgate/sdk";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";

const SYMBOL = "BTCUSD";
const SWITCH_MS = 2_000;
const client = new PerpgateClient({ url: process.argv[2] ?? "http://127.0.0.1:8080" });
const session = await client.signIn({ account: privateKeyToAccount(generatePrivateKey()) });

/** Order → why it was canceled. Watched from the start, so that nothing is missed. */
const canceled = new Map();
const watch = session.stream.watchOrders(({ orders }) => {
  for (const { orderId, status, reason } of orders) {
    if (status === "canceled") canceled.set(orderId, reason);
  }
});
await watch.ready;

const entry = { symbol: SYMBOL, side: "long", type: "market", margin: 100, leverage: 5 };
const bought = await session.placeOrder(entry);
console.log(`long ${bought.filledSize} at ${bought.avgFillPrice}`);

// Both only reduce, so their money is a ceiling: they close what there is and never more.
const exit = { symbol: SYMBOL, side: "short", margin: 1000, leverage: 5, reduceOnly: true };
const { mark } = await client.ticker(SYMBOL);
const stopPrice = Math.round(mark * 0.98);
const stop = await session.placeOrder({ ...exit, type: "stop", price: stopPrice });
console.log(`stop-loss ${stop.status} at ${stopPrice}`);
const profitPrice = Math.round(mark * 1.02);
const profit = await session.placeOrder({ ...exit, type: "limit", price: profitPrice });
console.log(`take-profit ${profit.status} at ${profitPrice}`);

for (let beat = 1; beat <= 3; beat++) {
  const { cancelAt } = await session.cancelAfter(SWITCH_MS);
  console.log(`alive, the switch fires at ${new Date(cancelAt).toISOString()} unless armed again`);
  await sleep(SWITCH_MS / 4);
}
console.log("no more signs of life");
for (const { orderId } of [stop, profit]) {
  while (!canceled.has(orderId)) await sleep(50);
  console.log(`order ${orderId} canceled: ${canceled.get(orderId)}`);
}

const closed = await session.placeOrder({ ...exit, type: "market" });
console.log(`${closed.status} at ${closed.avgFillPrice}, position ${closed.positionAfter.size}`);
client.close();
