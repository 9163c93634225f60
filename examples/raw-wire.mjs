#!/usr/bin/env node
/**
 * The wire without an SDK: two fresh wallets sign in, one quotes, the other takes.
 *
 *   npm start                                    # in another terminal
 *   node examples/raw-wire.mjs [http://127.0.0.1:8080]
 *
 * All that a client in another language needs: an EIP-4361 message that binds an Ed25519 session key,
 * and orders signed over the exact bytes of their body. A testnet grants money at the first sign-in.
 */
import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";

const origin = process.argv[2] ?? "http://127.0.0.1:8080";

async function call(method, path, { token, body, signature } = {}) {
  const response = await fetch(origin + path, {
    method,
    headers: {
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(signature === undefined ? {} : { "x-service-sig": signature }),
    },
    body,
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(`${method} ${path}: ${answer.code}: ${answer.message}`);
  return answer;
}

async function signIn() {
  const wallet = privateKeyToAccount(generatePrivateKey());
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const sessionKey = publicKey
    .export({ type: "spki", format: "der" })
    .subarray(-32)
    .toString("hex");
  const message = [
    `${new URL(origin).host} wants you to sign in with your Ethereum account:`,
    wallet.address,
    "",
    "Trade on the testnet.",
    "",
    `URI: ${origin}`,
    "Version: 1",
    "Chain ID: 1",
    `Nonce: ${randomBytes(12).toString("hex")}`,
    `Issued At: ${new Date().toISOString()}`,
    "Resources:",
    `- urn:perpgate:session?key=${sessionKey}`,
  ].join("\n");
  const signature = await wallet.signMessage({ message });
  const body = JSON.stringify({ message, signature, sessionKey });
  const { token } = await call("POST", "/v1/auth/siwe", { body });
  return { address: wallet.address, token, privateKey };
}

let nonce = 0;

/** The signature covers the body's bytes, so the body is made once and sent as it is. */
async function place({ token, privateKey }, order) {
  nonce += 1;
  const body = JSON.stringify({ symbol: "BTCUSD", ...order, nonce });
  const digest = createHash("sha256").update(body).digest();
  const signature = sign(null, digest, privateKey).toString("base64");
  return call("POST", "/v1/orders", { token, body, signature });
}

const [market] = await call("GET", "/v1/markets");
console.log(`${market.symbol} mark ${market.markPrice}`);
const [maker, taker] = [await signIn(), await signIn()];
const price = Math.round(market.markPrice);

const quote = await place(maker, {
  side: "short",
  type: "limit",
  margin: 500,
  leverage: 10,
  price,
});
console.log(`maker ${maker.address}: ${quote.status}, order ${quote.orderId}`);

const fill = await place(taker, { side: "long", type: "market", margin: 100, leverage: 10 });
console.log(`taker ${taker.address}: ${fill.status}`);
console.log(`  ${fill.filledSize} BTC at ${fill.avgFillPrice}, fee ${fill.feePaid}`);
console.log(`  preconfirmed in ${fill.elapsedMs} ms, for block ${fill.expectedBlock}`);

const [position] = await call("GET", "/v1/positions", { token: taker.token });
console.log(
  `  position ${position.size} from ${position.avgEntry}, liquidated at ${position.liquidationPrice}`,
);
