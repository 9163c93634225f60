#!/usr/bin/env node
/**
 * Signs in with a fresh wallet, buys at the market, and closes again.
 *
 *   npm start                                    # in another terminal
 *   node examples/first-trade.mjs [http://127.0.0.1:8080]
 */
import { PerpgateClient } from "@perpgate/sdk";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";

const client = new PerpgateClient({ url: process.argv[2] ?? "http://127.0.0.1:8080" });
const session = await client.signIn({ account: privateKeyToAccount(generatePrivateKey()) });
const order = { symbol: "BTCUSD", type: "market", margin: 100, leverage: 5 };

const bought = await session.placeOrder({ ...order, side: "long" });
console.log(`${bought.status}: ${bought.filledSize} BTC at ${bought.avgFillPrice}`);
console.log(
  `  fee ${bought.feePaid}, in ${bought.elapsedMs} ms, for block ${bought.expectedBlock}`,
);

const [position] = await session.positions();
console.log(`  long ${position?.size ?? 0}, liquidated at ${position?.liquidationPrice ?? "-"}`);

// Closing: margin × leverage is only a ceiling then.
const sold = await session.placeOrder({ ...order, side: "short", margin: 1000, reduceOnly: true });
const { balance } = await session.account();
console.log(`${sold.status}: position ${sold.positionAfter.size}, balance ${balance}`);
client.close();
