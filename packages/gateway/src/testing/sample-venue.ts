/**
 * A venue for tests of the gateway: it executes nothing, notes what it was asked, and answers each
 * question with one fixed, valid value. It is not part of the package's exports.
 */

import type { VenueApi } from "../venue/venue-gateway.js";
import {
  ACCOUNT,
  BLOCK,
  BOOK,
  BRIDGE,
  DEPOSIT,
  FILL,
  HASH,
  HONESTY,
  LEAF,
  LEDGER_ENTRY,
  MARGIN_CHANGE,
  ORDER,
  PAYMENT,
  POSITION,
  QUEUE,
  SAMPLE_ACK,
  SESSION_INFO,
  STATUS,
  TICKER,
  TOKEN,
  VOTE,
} from "./sample-values.js";

/** A sample venue, and the calls it received: the method's name and its arguments. */
export function sampleVenue(): { venue: VenueApi; calls: unknown[][] } {
  const calls: unknown[][] = [];
  const answer =
    <Answer>(name: string, value: Answer) =>
    async (...args: unknown[]): Promise<Answer> => {
      calls.push([name, ...args]);
      return value;
    };
  const trade = { id: "42-0", price: 65000.1, size: 0.5, side: "long" as const, time: 1 };
  const candle = { time: 0, open: 1, high: 2, low: 0.5, close: 1.5, volume: 3, trades: 4 };
  const canceled = { orderId: "42", status: "canceled" as const, remainingSize: 0.5 };
  const venue: VenueApi = {
    publicReads: {
      honesty: answer("honesty", HONESTY),
      book: answer("book", BOOK),
      tickers: answer("tickers", [TICKER]),
      latestBlock: answer("latestBlock", BLOCK),
      time: answer("time", { time: 1_700_000_000_000 }),
      status: answer("status", STATUS),
      conflict: () => ({}),
      ticker: answer("ticker", TICKER),
      trades: answer("trades", [trade]),
      candles: answer("candles", [candle]),
      funding: answer("funding", [{ time: 0, rate: -0.0001, markPrice: 65000 }]),
      block: answer("block", BLOCK),
    },
    accountReads: {
      account: answer("account", ACCOUNT),
      orders: answer("orders", [ORDER]),
      order: answer("order", ORDER),
      positions: answer("positions", [POSITION]),
      fills: answer("fills", [FILL]),
      ledger: answer("ledger", [LEDGER_ENTRY]),
      fundingPayments: answer("fundingPayments", [PAYMENT]),
      preconfirm: answer("preconfirm", {
        ack: SAMPLE_ACK,
        block: 7,
        index: 0,
        leaf: LEAF,
        path: [HASH],
        log: { checkpoint: "venue.example/log\n7\n…\n", path: [HASH] },
      }),
      preconfirmProof: answer("preconfirmProof", "c2sp.org/tlog-proof@v1\n"),
    },
    position: 1,
    isReplicated: false,
    ordersInFlight: 0,
    reached: () => Promise.resolve(true),
    reachedIfAnswered: () => Promise.resolve(true),
    caughtUp: () => Promise.resolve(),
    accountOf: () => 1,
    signIn: answer("signIn", TOKEN),
    rotateSession: answer("rotateSession", { ...TOKEN, sessionKey: "cd".repeat(32) }),
    endSession: answer("endSession", { endedAt: 1 }),
    sessionList: answer("sessionList", [SESSION_INFO]),
    endSessionById: answer("endSessionById", { endedAt: 1 }),
    endOtherSessions: answer("endOtherSessions", { ended: ["41"] }),
    setSessionOptions: answer("setSessionOptions", undefined),
    placeOrder: answer("placeOrder", SAMPLE_ACK),
    placeBatch: answer("placeBatch", [{ ack: SAMPLE_ACK }, { canceled }]),
    changeMargin: answer("changeMargin", MARGIN_CHANGE),
    amendOrder: answer("amendOrder", SAMPLE_ACK),
    cancelOrder: answer("cancelOrder", canceled),
    cancelAllOrders: answer("cancelAllOrders", { canceled: ["42"] }),
    cancelOrdersAfter: answer("cancelOrdersAfter", { cancelAt: null }),
    registerDeposit: answer("registerDeposit", DEPOSIT),
    deposits: answer("deposits", [DEPOSIT]),
    deposit: answer("deposit", { ...DEPOSIT, votes: [VOTE] }),
    bridge: answer("bridge", BRIDGE),
    submitVotes: answer("submitVotes", { refusals: [null, "vote_outdated"] }),
    depositQueue: answer("depositQueue", QUEUE),
  };
  return { venue, calls };
}
