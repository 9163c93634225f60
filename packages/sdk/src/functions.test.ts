/** The functions next to the client class: they trade, and a bundle holds only what it calls. */

import { fileURLToPath } from "node:url";
import {
  connect,
  newPrivateKey,
  openSession,
  PerpgateError,
  privateKeyAccount,
  request,
  requestSigned,
} from "@perpgate/sdk";
import {
  cancelOrder,
  changeMargin,
  getAccount,
  getOrders,
  getTicker,
  placeOrder,
} from "@perpgate/sdk/operations";
import { privateKeyToAccount } from "viem/accounts";
import { build } from "vite";
import { expect, test } from "vitest";
import { BID, startVenue } from "./testing/venue.js";

test("functions: sign in, read, place, cancel", async () => {
  const venue = connect(await startVenue());
  expect(await request(venue, getTicker, { params: { symbol: "BTCUSD" } })).toMatchObject({
    symbol: "BTCUSD",
  });
  const trader = await openSession(venue, { account: privateKeyAccount(newPrivateKey()) });
  expect(await request(trader, getAccount)).toMatchObject({ address: trader.address });
  const placed = await requestSigned(trader, placeOrder, BID);
  expect(placed).toMatchObject({ status: "resting", replayed: false });
  const { nonce, orderId } = placed;
  expect(await requestSigned(trader, placeOrder, { ...BID, nonce })).toMatchObject({
    orderId,
    replayed: true,
  });
  const canceled = await request(trader, cancelOrder, { params: { id: orderId } });
  expect(canceled).toMatchObject({ orderId, status: "canceled" });
  expect(await request(trader, getOrders, { query: { status: "all" } })).toHaveLength(1);
  const change = { symbol: "BTCUSD", amount: 1 };
  await expect(
    requestSigned(trader, changeMargin, change, { params: { symbol: "BTCUSD" } }),
  ).rejects.toBeInstanceOf(PerpgateError);
});

test("privateKeyAccount: the address and signatures of the same key elsewhere", async () => {
  for (const privateKey of [newPrivateKey(), newPrivateKey()]) {
    const other = privateKeyToAccount(`0x${privateKey.slice(2)}`);
    const account = privateKeyAccount(privateKey);
    expect(account.address).toBe(other.address);
    for (const message of ["", "plain", "ümlaut ✓\nand lines"]) {
      expect(await account.signMessage({ message })).toBe(await other.signMessage({ message }));
    }
  }
  expect(() => privateKeyAccount("0x12")).toThrow(RangeError);
  expect(() => privateKeyAccount(`0x${"0".repeat(64)}`)).toThrow(RangeError);
});

/** Bytes of a bundle for a page. */
async function bundled(source: string): Promise<string> {
  const entry = fileURLToPath(new URL("entry.ts", import.meta.url));
  const built = await build({
    configFile: false,
    logLevel: "silent",
    resolve: { conditions: ["perpgate-source", "module", "browser", "production"] },
    plugins: [
      {
        name: "entry",
        resolveId: (id) => (id === entry ? id : null),
        load: (id) => (id === entry ? source : null),
      },
    ],
    build: { write: false, lib: { entry, name: "it", formats: ["es"] } },
  });
  const [output] = Array.isArray(built) ? built : [];
  const [chunk] = output?.output ?? [];
  return chunk?.type === "chunk" ? chunk.code : "";
}

test("a bundle of two functions: without streams, signing and other operations", async () => {
  const index = fileURLToPath(new URL("index.ts", import.meta.url));
  const operations = fileURLToPath(new URL("operations.ts", import.meta.url));
  const whole = await bundled(`export { PerpgateClient } from ${JSON.stringify(index)};`);
  const part = await bundled(
    `import { connect, request } from ${JSON.stringify(index)};
     import { getTicker } from ${JSON.stringify(operations)};
     export const ticker = (url, symbol) => request(connect({ url }), getTicker, { params: { symbol } });`,
  );
  expect(whole.includes("/ws/v1") && whole.includes("personal_sign")).toBe(true);
  expect(part.includes("/v1/markets/{symbol}/ticker")).toBe(true);
  expect(/\/ws\/v1|\/v1\/orders|personal_sign|randomSecretKey/.exec(part)?.[0]).toBeUndefined();
  expect(part.length).toBeLessThan(whole.length / 2);
});
