/**
 * Trades with a client that is generated from the venue's OpenAPI document; nothing of Perpgate is
 * installed.
 *
 *   npm start                                                     # in another terminal
 *   npm install openapi-typescript typescript@5 openapi-fetch viem @types/node    # in a new folder
 *   npx openapi-typescript http://127.0.0.1:8080/v1/openapi.json -o venue.d.ts
 *   npx tsc --strict --module nodenext --types node generated-client.mts
 *   node generated-client.mjs [http://127.0.0.1:8080]
 */
import { generateKeyPairSync, sign } from "node:crypto";
import createClient from "openapi-fetch";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { createSiweMessage } from "viem/siwe";
import type { components, paths } from "./venue.d.ts";

type Order = components["schemas"]["PlaceOrderBody"] | components["schemas"]["ExtendedOrderBody"];

const baseUrl = process.argv[2] ?? "http://127.0.0.1:8080";
const wallet = privateKeyToAccount(generatePrivateKey());
const sessionKey = generateKeyPairSync("ed25519");
const publicKey = sessionKey.publicKey.export({ format: "jwk" }).x ?? "";
const venue = createClient<paths>({ baseUrl });

// Sign in with Ethereum: the wallet signs once, the session key signs every order.
const issued = await venue.GET("/v1/auth/nonce");
if (issued.error !== undefined) throw new Error(issued.error.message);
const message = createSiweMessage({
  address: wallet.address,
  chainId: 1,
  domain: new URL(baseUrl).host,
  nonce: issued.data.nonce,
  uri: baseUrl,
  version: "1",
});
const signedIn = await venue.POST("/v1/auth/siwe", {
  body: {
    message,
    signature: await wallet.signMessage({ message }),
    sessionKey: Buffer.from(publicKey, "base64url").toString("hex"),
  },
});
if (signedIn.error !== undefined) throw new Error(signedIn.error.message);
const bearer = { authorization: `Bearer ${signedIn.data.token}` };

/** Signs the bytes that are sent: the text that JSON.stringify gives, for both. */
function place(body: Order) {
  const signature = sign(null, Buffer.from(JSON.stringify(body)), sessionKey.privateKey);
  return venue.POST("/v1/orders", {
    headers: bearer,
    params: { header: { "X-Service-Sig": signature.toString("hex") } },
    body,
    bodySerializer: JSON.stringify,
  });
}

const market = { symbol: "BTCUSD", type: "market", margin: 100, leverage: 5 } as const;
const bought = await place({ ...market, side: "long", nonce: 1 });
if (bought.error !== undefined) throw new Error(bought.error.message);
console.log(`bought: ${bought.data.status}, ${bought.data.filledSize} BTC`);

const { data: ticker } = await venue.GET("/v1/markets/{symbol}/ticker", {
  params: { path: { symbol: "BTCUSD" } },
});
const price = Math.round((ticker?.mark ?? 0) * 0.9);
const rested = await place({
  symbol: "BTCUSD",
  side: "long",
  type: "limit",
  size: 0.001,
  leverage: 5,
  price,
  timeInForce: "gtc",
  clientOrderId: "generated-1",
  nonce: 2,
});
console.log(`limit order: ${rested.data?.status}`);

const canceled = await venue.POST("/v1/orders/cancel", {
  headers: bearer,
  body: { clientOrderId: "generated-1" },
});
console.log(`cancel: ${canceled.data?.status}`);

const closed = await place({ ...market, side: "short", reduceOnly: true, nonce: 3 });
console.log(`closed: position ${closed.data?.positionAfter.size}`);

// The codes of errors are a union of words: a misspelt one does not compile.
const refused = await place({ ...market, side: "long", margin: 50_000, nonce: 4 });
if (refused.error?.code === "insufficient_margin") console.log(refused.error.message);
