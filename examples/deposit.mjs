#!/usr/bin/env node
/**
 * Registers a deposit and follows it to its credit.
 *
 *   npm start                                    # in another terminal
 *   node examples/deposit.mjs [http://127.0.0.1:8080] [transaction hash]
 *
 * A local testnet runs the dev attestor, which credits any hash; one is made up here. Where real
 * chains are configured, send USDC to the vault first and give the hash of that transaction.
 */
import { randomBytes } from "node:crypto";
import { PerpgateClient } from "@perpgate/sdk";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";

const [url = "http://127.0.0.1:8080", givenHash] = process.argv.slice(2);
const client = new PerpgateClient({ url });
const session = await client.signIn({ account: privateKeyToAccount(generatePrivateKey()) });
console.log(`balance ${(await session.account()).balance}`);

const { attestor, chains } = await client.bridge();
for (const { chain, vault } of chains) console.log(`${chain}: send tokens to ${vault}`);
const txHash =
  givenHash ?? (attestor === "dev" ? `0x${randomBytes(32).toString("hex")}` : undefined);
if (txHash === undefined) throw new Error("real chains: give the hash of your transaction");

const { depositId } = await session.deposit({ chain: "ethereum", txHash, token: "USDC" });
await new Promise((resolve, reject) => {
  session.stream.watchDeposits(({ deposits }) => {
    const deposit = deposits.find((candidate) => candidate.depositId === depositId);
    if (deposit === undefined) return;
    console.log(`deposit ${depositId}: ${deposit.status}`);
    if (deposit.status === "credited") resolve();
    if (deposit.status === "rejected") reject(new Error(deposit.reason));
  });
});
console.log(`balance ${(await session.account()).balance}`);
client.close();
