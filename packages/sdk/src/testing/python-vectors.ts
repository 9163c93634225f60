/** What the TypeScript packages make of fixed input, for the tests of the Python package. */

import { keccak_256 } from "@noble/hashes/sha3.js";
import {
  ACKNOWLEDGED_FIELDS,
  ACKNOWLEDGED_KIND,
  type AcknowledgedField,
  AMEND_FIELDS,
  acknowledgementOf,
  BookMirror,
  type BookSide,
  END_REASONS,
  encodeSide,
  exitId,
  hexFromBytes,
  type Level,
  microsPerTickLot,
  mix32,
  ORDER_FIELDS,
  PLAIN_LEAF_BYTES,
  STOP_LOSS_EXIT,
  stepOf,
  TAKE_PROFIT_EXIT,
  typeWord,
} from "@perpgate/protocol/core";
import { Random } from "@perpgate/protocol/random";
import { inclusionRanges, rootOfLeafHashes } from "@perpgate/protocol/receipts";
import { encodeFrame } from "@perpgate/protocol/stream-frame";
import { sampleBooks } from "@perpgate/protocol/testing";
import { privateKeyToAccount } from "viem/accounts";
import { type NewOrder, orderText } from "../orders/order-body.js";
import { siweText } from "../sign-in/siwe-message.js";

const random = new Random(35, "python");
const MARKETS = [
  { symbol: "BTCUSD", tickSize: 0.1, lotSize: 0.00001 },
  { symbol: "ETHUSD", tickSize: 0.01, lotSize: 0.0001 },
  { symbol: "SOLUSD", tickSize: 0.001, lotSize: 0.001 },
] as const;

export async function pythonVectors(): Promise<object> {
  return {
    keccak: keccaks(),
    wallets: await wallets(),
    messages: messages(),
    frames: frames(),
    sides: sides(),
    mirror: mirror(),
    orders: orders(),
    fields: { place: ORDER_FIELDS, amend: AMEND_FIELDS },
    trees: trees(),
    leaves: { markets: MARKETS, cases: leaves() },
  };
}

function bytes(count: number): Uint8Array {
  return Uint8Array.from({ length: count }, () => random.below(256));
}

function keccaks(): string[][] {
  return [0, 1, 7, 135, 136, 137, 271, 272, 500].map((length) => {
    const data = bytes(length);
    return [hexFromBytes(data), hexFromBytes(keccak_256(data))];
  });
}

function wallets(): Promise<object[]> {
  const messages = ["", "hello", "Grüße, 世界 🎉", "x".repeat(300), "two\nlines"];
  return Promise.all(
    messages.map(async (message) => {
      const privateKey = `0x${hexFromBytes(bytes(32))}` as const;
      const { address, signMessage } = privateKeyToAccount(privateKey);
      return { privateKey, address, message, signature: await signMessage({ message }) };
    }),
  );
}

function messages(): object[] {
  const given = { domain: "a.example:8080", address: "0xAbc", uri: "https://a.example:8080" };
  const plain = { ...given, nonce: "n0nce123", statement: "Trade.", chainId: 1, sessionKey: "ab" };
  const issuedAt = new Date(1_780_318_800_123);
  const expiresAt = new Date(1_780_400_000_000);
  const caps = {
    maxOrderNotional: 10_000.1234567,
    maxNotional: 5e4,
    symbols: ["BTCUSD", "ETHUSD"],
  };
  const seconds = { issued_at: issuedAt.getTime() / 1e3 };
  const python = { ...given, nonce: plain.nonce, session_key: "ab", chain_id: 1, ...seconds };
  return [
    { text: siweText({ ...plain, issuedAt }), fields: { ...python, statement: "Trade." } },
    { text: siweText({ ...plain, statement: "", issuedAt }), fields: python },
    {
      text: siweText({ ...plain, issuedAt, expiresAt, caps }),
      fields: {
        ...python,
        statement: "Trade.",
        expires_at: expiresAt.getTime() / 1e3,
        max_order_notional: caps.maxOrderNotional,
        max_notional: caps.maxNotional,
        symbols: caps.symbols,
      },
    },
  ];
}

function frames(): object[] {
  const values = [
    { t: "ok", d: { op: "subscribe", id: 1, streams: ["fills"], seq: 2 ** 40 } },
    {
      t: "trades",
      s: "BTCUSD",
      d: [{ id: "11-0", price: 65_010, size: 0.01538, time: 1_780_318_799_900 }],
    },
    { t: "account", d: { type: "update", seq: 7, balance: -0.1, reason: null, live: true } },
    {
      t: "x",
      d: ["é".repeat(40), Array.from({ length: 40 }, (_, i) => i - 20), 2 ** 53 - 1, 1e300],
    },
  ];
  return values.map((frame) => ({ frame, bytes: hexFromBytes(encodeFrame(frame)) }));
}

function sides(): object[] {
  return sampleBooks(11).flatMap(({ bids, asks }) => [
    packed("bid", bids.slice(0, 200)),
    packed("ask", asks.slice(0, 200)),
  ]);
}

function packed(side: BookSide, levels: readonly Level[]): object {
  const sum = levels.reduce((total, level) => (total + mix32(side, ...level)) % 2 ** 32, 0);
  return { side, levels, bytes: hexFromBytes(encodeSide(levels, side)), sum };
}

/** A snapshot and two hundred changes of a small book, with the levels after each. */
function mirror(): object[] {
  const copy = new BookMirror();
  const held = { bid: new Map<number, number>(), ask: new Map<number, number>() };
  return Array.from({ length: 200 }, (_, number) => {
    const changed = { bid: new Map<number, number>(), ask: new Map<number, number>() };
    for (let count = random.below(5); count >= 0; count--) {
      const side = random.below(2) === 0 ? "bid" : "ask";
      const tick = side === "bid" ? 1_000 - random.below(30) : 1_001 + random.below(30);
      changed[side].set(tick, random.below(3) === 0 ? 0 : 1 + random.below(10_000));
    }
    const levelsOf = (side: BookSide): Level[] => {
      const levels = [...changed[side]].filter(([tick, lots]) => lots > 0 || held[side].has(tick));
      for (const [tick, lots] of levels) {
        if (lots > 0) held[side].set(tick, lots);
        else held[side].delete(tick);
      }
      return levels.sort((a, b) => (side === "bid" ? b[0] - a[0] : a[0] - b[0]));
    };
    const [bids, asks] = [encodeSide(levelsOf("bid"), "bid"), encodeSide(levelsOf("ask"), "ask")];
    const sum = (["bid", "ask"] as const).reduce(
      (total, side) =>
        [...held[side]].reduce((t, [tick, lots]) => t + mix32(side, tick, lots), total),
      0,
    );
    const kind =
      number === 0
        ? { type: "snapshot", block: 1, tick: 0.1, lot: 0.00001 }
        : { type: "delta", prev: number + 9 };
    const payload = { ...kind, seq: number + 10, time: number, sum: sum % 2 ** 32 };
    const verdict = copy.apply({ ...payload, bids, asks });
    if (verdict.kind !== "applied") throw new Error(`frame ${number} is ${verdict.kind}`);
    return {
      payload: { ...payload, bids: hexFromBytes(bids), asks: hexFromBytes(asks) },
      bids: copy.prices("bid"),
      asks: copy.prices("ask"),
    };
  });
}

function orders(): object[] {
  const plain = { symbol: "BTCUSD", side: "long", type: "limit", price: 64_999.9 } as const;
  const given: NewOrder[] = [
    { ...plain, margin: 100, leverage: 5 },
    {
      ...plain,
      size: 0.00001,
      leverage: 5,
      postOnly: true,
      reduceOnly: false,
      clientOrderId: "a-1",
    },
    {
      ...plain,
      type: "market",
      price: null,
      margin: 0.1,
      leverage: 1,
      validUntil: 1_780_318_800_000,
    },
    { ...plain, type: "stop", closePosition: true, trigger: "takeProfit", limitPrice: null },
    {
      ...plain,
      size: 0.01,
      leverage: 5,
      takeProfit: { limitPrice: 70_000.1, price: 70_000 },
      stopLoss: { price: 60_000, limitPrice: null },
    },
  ];
  return given.map((order) => ({ order, nonce: 2 ** 50, text: orderText(order, 2 ** 50) }));
}

function trees(): unknown[][] {
  const hashes = Array.from({ length: 20 }, () => bytes(32));
  return Array.from({ length: 20 }, (_, last) => last + 1).flatMap((size) => {
    const root = hexFromBytes(rootOfLeafHashes(hashes.slice(0, size)));
    return hashes.slice(0, size).map((leaf, index) => {
      const ranges = inclusionRanges(index, size);
      const path = ranges.map(({ start, end }) => rootOfLeafHashes(hashes.slice(start, end)));
      return [size, index, hexFromBytes(leaf), path.map(hexFromBytes), root];
    });
  });
}

function leaves(): object[] {
  return Array.from({ length: 300 }, (_, number) => {
    const lots = random.below(2) * random.below(1_000_000);
    const position = (random.below(2) === 0 ? 1 : -1) * random.below(1_000_000);
    const price = 10_000 + random.below(1_000_000);
    const exitKind = random.below(2) === 0 ? TAKE_PROFIT_EXIT : STOP_LOSS_EXIT;
    const values: Partial<Record<AcknowledgedField, number>> = {
      orderId: number % 6 === 0 ? exitId(1_000 + number, exitKind) : 1_000 + number,
      ackNonce: 1_000 + number + (number % 3 === 0 ? 5 : 0),
      account: 3,
      session: 6,
      market: random.below(MARKETS.length),
      side: position < 0 ? -1 : 1,
      type: typeWord(random.below(3), number % 6 === 1 ? random.below(4) : 0),
      nonce: random.below(2 ** 31) * 2 ** 20,
      status: random.below(4),
      reason: random.below(END_REASONS.length),
      filledLots: lots,
      filledMicros: lots * price + random.below(3),
      feeMicros: random.below(1_000_000),
      remainingLots: random.below(1_000),
      positionLots: position,
      positionCostMicros: position * price - random.below(1_000),
      unrealizedMicros: random.below(2_000_000) - 1_000_000,
      block: 1 + number,
      client1: number % 4 === 0 ? 1 + random.below(64) + 65 * (1 + random.below(64)) : 0,
    };
    const field = (name: AcknowledgedField) => values[name] ?? 0;
    const market = MARKETS[field("market")] ?? MARKETS[0];
    const [tick, lot] = [stepOf(market.tickSize), stepOf(market.lotSize)];
    const units = {
      symbol: market.symbol,
      tick,
      lot,
      microsPerTickLot: microsPerTickLot(tick, lot),
    };
    const words = [ACKNOWLEDGED_KIND, ...ACKNOWLEDGED_FIELDS.map(field)];
    const data = new Uint8Array(Float64Array.from(words).buffer);
    const isPlain = field("ackNonce") === field("orderId") && field("client1") === 0;
    const leaf = isPlain ? data.subarray(0, PLAIN_LEAF_BYTES) : data;
    return { bytes: hexFromBytes(leaf), ack: acknowledgementOf(field, units) };
  });
}
