/**
 * A venue for tests of the gateway: it executes nothing, notes what it was asked, and answers each
 * question with one fixed, valid value. It is not part of the package's exports.
 */

import type {
  Account,
  Acknowledgement,
  Block,
  Book,
  BridgeInfo,
  Deposit,
  DepositQueue,
  DepositVote,
  Fill,
  FundingPayment,
  LedgerEntry,
  MarginChange,
  Order,
  Position,
  SessionInfo,
  Ticker,
  VenueStatus,
} from "@perpgate/protocol";
import type { VenueApi } from "../venue/venue-gateway.js";

const MARGIN_CHANGE: MarginChange = {
  ackNonce: "43",
  symbol: "BTCUSD",
  nonce: 3,
  amount: 50,
  margin: 150,
  available: 9_850,
  time: 1_700_000_000_000,
};
const HASH = `0x${"ab".repeat(32)}`;
const LEAF = `0x${"00".repeat(144)}`;

export const SAMPLE_ACK: Acknowledgement = {
  ackNonce: "42",
  orderId: "42",
  symbol: "BTCUSD",
  side: "long",
  nonce: 1,
  status: "filled",
  filledSize: 0.0153,
  remainingSize: 0,
  avgFillPrice: 65000.1,
  feePaid: 0.497251,
  positionAfter: { size: 0.0153, avgEntry: 65000.1, unrealizedPnl: -0.00153 },
  expectedBlock: 7,
  reason: null,
  clientOrderId: null,
};

const ORDER: Order = {
  orderId: "42",
  symbol: "BTCUSD",
  side: "short",
  type: "limit",
  status: "resting",
  price: 66000,
  size: 0.5,
  filledSize: 0,
  remainingSize: 0.5,
  avgFillPrice: 0,
  margin: 100,
  leverage: 10,
  reduceOnly: false,
  postOnly: true,
  nonce: 9007199254740991,
  reason: null,
  createdAt: 1_700_000_000_000,
  updatedAt: 1_700_000_000_000,
  clientOrderId: "quote-1",
  timeInForce: "gtc",
  expiresAt: null,
  trigger: null,
  limitPrice: null,
  closePosition: false,
};

const POSITION: Position = {
  symbol: "BTCUSD",
  side: "short",
  size: -0.5,
  avgEntry: 65000,
  markPrice: 65001.5,
  liquidationPrice: null,
  margin: 3250,
  leverage: 10,
  unrealizedPnl: -0.75,
  realizedPnl: 0,
  fundingPaid: 0.000001,
  updatedAt: 1_700_000_000_000,
};

const FILL: Fill = {
  id: "42-0",
  orderId: null,
  kind: "liquidation",
  symbol: "BTCUSD",
  side: "long",
  price: 65000.1,
  size: 0.00001,
  fee: 0,
  feeCurrency: "USD",
  liquidity: "taker",
  realizedPnl: -1.5,
  block: 7,
  time: 1_700_000_000_000,
  clientOrderId: null,
};

const LEDGER_ENTRY: LedgerEntry = {
  id: "42-131072",
  kind: "pnl",
  symbol: "BTCUSD",
  amount: -1.5,
  balance: 9_998.5,
  marginMoved: null,
  reference: "42-0",
  accrued: false,
  time: 1_700_000_000_000,
};

const PAYMENT: FundingPayment = {
  id: "42-0",
  symbol: "BTCUSD",
  amount: -0.25,
  accrued: false,
  time: 1_700_000_000_000,
};

const BOOK: Book = {
  symbol: "BTCUSD",
  seq: 42,
  block: 7,
  time: 1_700_000_000_000,
  bids: [[64999.9, 0.5]],
  asks: [[65000.1, 0.25]],
};

const TICKER: Ticker = {
  symbol: "BTCUSD",
  bid: 64999.9,
  ask: null,
  last: null,
  mark: 65000,
  index: 65000,
  fundingRate: 0.0000125,
  nextFundingAt: 1_700_000_400_000,
  openInterest: 0,
  volume24h: 0,
  high24h: null,
  low24h: null,
  change24h: null,
  time: 1_700_000_000_000,
};

const DEPOSIT: Deposit = {
  depositId: "43",
  chain: "ethereum",
  txHash: HASH,
  token: "USDC",
  status: "queued",
  confirmations: 0,
  required: 12,
  credits: [],
  reason: null,
  reorged: null,
  reorgSettled: false,
};

const VOTE: DepositVote = {
  attestor: 0,
  publicKey: "ab".repeat(32),
  verdict: "confirming",
  votedAt: 1_700_000_000_000,
  text: "perpgate deposit vote v2\n",
  signature: "cd".repeat(64),
};

const BRIDGE: BridgeInfo = {
  attestor: "chain",
  venue: "perpgate-testnet",
  venueId: "5e".repeat(32),
  members: ["ab".repeat(32)],
  quorum: 1,
  keys: [{ position: "1", members: ["ab".repeat(32)], quorum: 1 }],
  paused: [],
  chains: [
    {
      chain: "tron",
      chainId: 728_126_428,
      vault: "TQHgMpVzWkhSsRB4BzZgmV8uW4cFL8eaBr",
      confirmations: 20,
      finality: "confirmations",
      minDeposit: 1,
      tokens: [{ token: "USDT", contract: "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", decimals: 6 }],
    },
  ],
};

const QUEUE: DepositQueue = {
  deposits: [
    {
      depositId: "43",
      txHash: "ab".repeat(32),
      account: 7,
      status: "confirming",
      creditedParts: 0,
      registeredAt: 1_700_000_000_000,
      creditedAt: null,
      credits: [],
      isMarked: false,
      ownVote: {
        verdict: "credit",
        confirmations: 3,
        required: 3,
        credits: [
          { logIndex: 0, token: "USDC", address: "cd".repeat(20), amountMicros: 5_000_000 },
        ],
        reason: "",
        part: 1,
        parts: 1,
      },
    },
  ],
  next: null,
};

const BLOCK: Block = {
  number: 7,
  hash: HASH,
  parentHash: HASH,
  firstPosition: "40",
  lastPosition: "42",
  ackCount: 1,
  acksRoot: HASH,
  eventsHash: HASH,
  time: 1_700_000_000_000,
};

const STATUS: Omit<VenueStatus, "release"> = {
  engineVersion: 2,
  time: 1_700_000_000_000,
  stage: "open",
  markets: [{ symbol: "BTCUSD", status: "active" }],
  block: null,
  position: "42",
};

const ACCOUNT: Account = {
  address: "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
  balance: 10_000,
  available: 9_000,
  reserved: 1_000,
  positionMargin: 0,
  equity: 10_000,
  cohort: true,
  session: {
    sessionKey: "ab".repeat(32),
    kind: "ed25519",
    expiresAt: 1_700_000_400_000,
    scope: { maxOrderNotional: null, maxNotional: 50_000, symbols: ["BTCUSD"] },
    cancelOnDisconnect: false,
  },
};

const SESSION_INFO: SessionInfo = {
  id: "42",
  sessionKey: "ab".repeat(32),
  kind: "ed25519",
  domain: "localhost",
  issuedAt: 1_700_000_000_000,
  expiresAt: 1_700_000_400_000,
  scope: { maxOrderNotional: null, maxNotional: 50_000, symbols: ["BTCUSD"] },
  cancelOnDisconnect: false,
  current: true,
};

const TOKEN = { token: `${"t".repeat(43)}.42`, expiresAt: 1_700_000_400_000 };

/** A sample venue, and the calls it received: the method's name and its arguments. */
export function sampleVenue(): { venue: VenueApi; calls: unknown[][] } {
  const calls: unknown[][] = [];
  const answer =
    <Answer>(name: keyof VenueApi, value: Answer) =>
    async (...args: unknown[]): Promise<Answer> => {
      calls.push([name, ...args]);
      return value;
    };
  const trade = { id: "42-0", price: 65000.1, size: 0.5, side: "long" as const, time: 1 };
  const candle = { time: 0, open: 1, high: 2, low: 0.5, close: 1.5, volume: 3, trades: 4 };
  const canceled = { orderId: "42", status: "canceled" as const, remainingSize: 0.5 };
  const venue: VenueApi = {
    accountOf: () => 1,
    signIn: answer("signIn", TOKEN),
    rotateSession: answer("rotateSession", { ...TOKEN, sessionKey: "cd".repeat(32) }),
    endSession: answer("endSession", { endedAt: 1 }),
    sessionList: answer("sessionList", [SESSION_INFO]),
    endSessionById: answer("endSessionById", { endedAt: 1 }),
    endOtherSessions: answer("endOtherSessions", { ended: ["41"] }),
    setSessionOptions: answer("setSessionOptions", undefined),
    account: answer("account", ACCOUNT),
    placeOrder: answer("placeOrder", SAMPLE_ACK),
    placeBatch: answer("placeBatch", [{ ack: SAMPLE_ACK }, { canceled }]),
    changeMargin: answer("changeMargin", MARGIN_CHANGE),
    amendOrder: answer("amendOrder", SAMPLE_ACK),
    cancelOrder: answer("cancelOrder", canceled),
    cancelAllOrders: answer("cancelAllOrders", { canceled: ["42"] }),
    cancelOrdersAfter: answer("cancelOrdersAfter", { cancelAt: null }),
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
    }),
    book: answer("book", BOOK),
    tickers: answer("tickers", [TICKER]),
    latestBlock: answer("latestBlock", BLOCK),
    time: answer("time", { time: 1_700_000_000_000 }),
    status: answer("status", STATUS),
    ticker: answer("ticker", TICKER),
    trades: answer("trades", [trade]),
    candles: answer("candles", [candle]),
    funding: answer("funding", [{ time: 0, rate: -0.0001, markPrice: 65000 }]),
    block: answer("block", BLOCK),
    registerDeposit: answer("registerDeposit", DEPOSIT),
    deposits: answer("deposits", [DEPOSIT]),
    deposit: answer("deposit", { ...DEPOSIT, votes: [VOTE] }),
    bridge: answer("bridge", BRIDGE),
    submitVotes: answer("submitVotes", { refusals: [null, "vote_outdated"] }),
    depositQueue: answer("depositQueue", QUEUE),
  };
  return { venue, calls };
}
