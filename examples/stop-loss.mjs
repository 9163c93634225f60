#!/usr/bin/env node
/**
 * A position with a stop-loss and a take-profit, and the dead-man's switch over both.
 *
 *   npm start                                    # in another terminal
 *   node examples/stop-loss.mjs [http://127.0.0.1:8080]
 *
 * Both wait at the venue: they work while this program is away, and close the whole position, whatever
 * its size is then. When one of them has closed it, the other ends. The switch is for the orders that
 * should not outlive their program: unless it is armed again in time, it cancels everything of the
 * account, **the exits too**. So arm it while a program watches over the position, and switch it off (0)
 * before leaving the position to its exits. Here the program stops arming it, to show what happens.
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

const entry = { symbol: SYMBOL, side: "long", type: "market", size: 0.007, leverage: 5 };
const bought = await session.placeOrder(entry);
console.log(`long ${bought.filledSize} at ${bought.avgFillPrice}`);

const { mark } = await client.ticker(SYMBOL);
const [takeProfit, stopLoss] = [Math.round(mark * 1.02), Math.round(mark * 0.98)];
const { results } = await session.protect({ symbol: SYMBOL, side: "long", takeProfit, stopLoss });
const [profit, stop] = results.map(({ ack }) => ack);
console.log(`take-profit ${profit.status} at ${takeProfit}`);
console.log(`stop-loss ${stop.status} at ${stopLoss}`);

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

const exit = {
  symbol: SYMBOL,
  side: "short",
  type: "market",
  size: bought.filledSize,
  leverage: 5,
};
const closed = await session.placeOrder({ ...exit, reduceOnly: true });
console.log(`${closed.status} at ${closed.avgFillPrice}, position ${closed.positionAfter.size}`);
client.close();
