/**
 * Writes the files of the static tests from calls on a live venue, each with its first request. A call of
 * one request has a response in the files too.
 */

import { writeFileSync } from "node:fs";
import { PerpgateClient, privateKeyAccount } from "@perpgate/sdk";
import { live, quote, SYMBOL } from "./venue.js";

const WALLET = `0x${"42".repeat(32)}`;
/** The fixture's session: its key signs, and nobody checks. */
const SESSION = {
  token: "fixture",
  expiresAt: 4_000_000_000_000,
  sessionKey: {
    kind: "ed25519",
    publicKey: "d04ab232742bb4ab3a1368bd4615e4e6d0224ab71a016baf8520a332c9778737",
    secret: "11".repeat(32),
  },
};
const BID = { symbol: SYMBOL, type: "limit", side: "buy", amount: 0.001, price: 60_000 };

interface Sent {
  readonly url: string;
  readonly body: string | undefined;
  readonly answer: unknown;
}

export async function recordStatic(): Promise<void> {
  const { venue, maker, newExchange } = await live();
  await quote(maker);
  const client = new PerpgateClient({ url: venue.url });
  const session = await client.signIn({ account: privateKeyAccount(WALLET), saveable: true });
  const options = { leverages: { [SYMBOL]: 5 }, session: session.save() };
  const exchange = newExchange({ privateKey: undefined, options });
  await exchange.loadMarkets();
  const requests: Record<string, object[]> = {};
  const responses: Record<string, object[]> = {};
  let sent: Sent[] = [];
  const send = exchange.fetch.bind(exchange);
  exchange.fetch = async (url, method, headers, body) => {
    const answer = await send(url, method, headers, body);
    // Receipts are checked behind the calls.
    if (!url.endsWith("/v1/honesty")) sent.push({ url, body, answer });
    return answer;
  };
  const record = async (method: string, description: string, ...args: unknown[]): Promise<void> => {
    sent = [];
    const parsedResponse = await Reflect.apply(Reflect.get(exchange, method), exchange, args);
    const [first, second] = sent;
    if (first === undefined) throw new Error(`${method} sends nothing`);
    const { url, body: output, answer: httpResponse } = first;
    const input = args.map((argument) => argument ?? null);
    const one = { description, method, input };
    requests[method] ??= [];
    requests[method].push({ ...one, url: url.replace(venue.url, "http://127.0.0.1:8080"), output });
    if (second !== undefined) return;
    responses[method] ??= [];
    responses[method].push({ ...one, httpResponse, parsedResponse });
  };
  const order = (description: string, ...args: unknown[]) =>
    record("createOrder", description, SYMBOL, ...args);
  const since = venue.nowMs();
  const later = async (): Promise<void> => {
    await venue.advance(60_000);
    await venue.setIndex("BTCUSD", 65_000);
  };

  await record("fetchTime", "time");
  await record("fetchStatus", "status");
  await record("fetchMarkets", "markets");
  await record("fetchOpenOrders", "none");
  await order("limit order that rests", "limit", "buy", 0.01, 60_000, { clientOrderId: "grid-1" });
  const [resting] = await exchange.fetchOpenOrders();
  await order("market order that is filled", "market", "buy", 0.03);
  await later();
  await order("amount and price off the lot and the tick", "limit", "sell", 0.0012345, 70_000.06);
  await order("post-only", "limit", "buy", 0.01, 60_000, { timeInForce: "PO" });
  await order("partly filled", "limit", "buy", 0.5, 65_100, { timeInForce: "IOC" });
  await order("trigger with a direction", "market", "buy", 0.01, undefined, {
    triggerPrice: 66_000,
    triggerDirection: "ascending",
    triggerPriceType: "mark",
  });
  await order("stop-loss with a limit", "limit", "sell", 0.01, 61_900, { stopLossPrice: 62_000 });
  await order("take-profit", "market", "sell", 0.01, undefined, { takeProfitPrice: 70_000 });
  await order("attached exits", "market", "buy", 0.01, undefined, {
    takeProfit: { triggerPrice: 70_000.06, price: 69_900 },
    stopLoss: { triggerPrice: 61_000 },
  });
  await order("reduce-only", "market", "sell", 0.01, undefined, { reduceOnly: true });
  await order("leverage of one order", "limit", "buy", 0.01, 60_000, { leverage: 2 });
  await record("createOrders", "one is taken, one refused", [BID, { ...BID, price: 1 }]);
  await record("fetchTicker", "one market", SYMBOL);
  await record("fetchTickers", "all markets");
  await record("fetchBidsAsks", "sizes at bid and ask", [SYMBOL]);
  await record("fetchOrderBook", "depth", SYMBOL, 5);
  await record("fetchTrades", "newest", SYMBOL);
  await record("fetchTrades", "from a time on", SYMBOL, since, 2);
  await record("fetchOHLCV", "newest", SYMBOL, "1m", undefined, 2);
  await record("fetchOHLCV", "a span", SYMBOL, "1h", since - 3_600_000, 2, { until: since });
  await record("fetchFundingRate", "rate of the hour", SYMBOL);
  await record("fetchFundingRateHistory", "past rates", SYMBOL, since, 2);
  await record("fetchOpenInterest", "open interest", SYMBOL);
  await record("fetchLeverageTiers", "one market", [SYMBOL]);
  await record("fetchBalance", "with a position");
  await record("fetchPositions", "one position");
  await record("fetchOrder", "by id", resting?.id, SYMBOL);
  await record("fetchOrder", "by client id", "", SYMBOL, { clientOrderId: "grid-1" });
  await record("fetchOpenOrders", "of all kinds", SYMBOL);
  await record("fetchOrders", "newest", SYMBOL, undefined, 2);
  await record("fetchClosedOrders", "from a time on", SYMBOL, since, 2);
  await record("fetchMyTrades", "newest", SYMBOL, undefined, 2);
  await record("fetchMyTrades", "a span", undefined, since, 2, { until: since + 1_000 });
  await record("fetchLedger", "from the beginning on", "USD", 0, 4);
  await record("fetchFundingHistory", "from a time on", SYMBOL, since, 2);
  await record("registerDeposit", "registered", "USDC", `0x${"ab".repeat(32)}`, {
    network: "ARBONE",
  });
  await later();
  await record("fetchDeposits", "credited", "USDC");
  await record("addMargin", "add", SYMBOL, 5);
  await record("reduceMargin", "reduce", SYMBOL, 1);
  await record("editOrder", "reads it first", resting?.id, SYMBOL, "limit", "buy", 0.02, 60_100);
  await record("cancelOrder", "by client id", "", SYMBOL, { clientOrderId: "grid-1" });
  const [next] = await exchange.fetchOpenOrders();
  await record("cancelOrder", "by id", next?.id, SYMBOL);
  await record("cancelOrders", "one that is unknown", ["1"], SYMBOL);
  await record("cancelAllOrders", "one market", SYMBOL);
  await record("cancelAllOrdersAfter", "a minute", 60_000);

  const write = (kind: string, value: object): void =>
    writeFileSync(
      new URL(`./static/${kind}/perpgate.json`, import.meta.url),
      `${JSON.stringify(value, null, 2)}\n`,
    );
  const shared = {
    exchange: exchange.id,
    options: { ...options, session: { ...options.session, ...SESSION } },
  };
  write("markets", exchange.markets ?? {});
  write("currencies", exchange.currencies);
  write("request", { ...shared, skipKeys: ["nonce"], outputType: "json", methods: requests });
  write("response", { ...shared, skipKeys: [], methods: responses });
}
