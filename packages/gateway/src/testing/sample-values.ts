/** One valid value of each wire type, as the sample venue answers. */

import type {
  Account,
  Block,
  Book,
  BridgeInfo,
  Deposit,
  DepositQueue,
  DepositVote,
  Fill,
  FundingPayment,
  Honesty,
  LedgerEntry,
  Liability,
  LoggedAcknowledgement,
  MarginChange,
  OpenWithdrawal,
  Order,
  Position,
  Reserves,
  SessionInfo,
  Ticker,
  VenueStatus,
  Withdrawal,
} from "@perpgate/protocol";

export const MARGIN_CHANGE: MarginChange = {
  ackNonce: "43",
  symbol: "BTCUSD",
  nonce: 3,
  amount: 50,
  margin: 150,
  available: 9_850,
  time: 1_700_000_000_000,
};

export const HASH = `0x${"ab".repeat(32)}`;
export const LEAF = `0x${"00".repeat(144)}`;

export const SAMPLE_ACK: LoggedAcknowledgement = {
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
  time: 1_700_000_000_000,
};

export const ORDER: Order = {
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

export const POSITION: Position = {
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

export const FILL: Fill = {
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

export const LEDGER_ENTRY: LedgerEntry = {
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

export const PAYMENT: FundingPayment = {
  id: "42-0",
  symbol: "BTCUSD",
  amount: -0.25,
  accrued: false,
  time: 1_700_000_000_000,
};

export const BOOK: Book = {
  symbol: "BTCUSD",
  seq: 42,
  block: 7,
  time: 1_700_000_000_000,
  bids: [[64999.9, 0.5]],
  asks: [[65000.1, 0.25]],
};

export const TICKER: Ticker = {
  symbol: "BTCUSD",
  bid: 64999.9,
  bidSize: 0.25,
  ask: null,
  askSize: null,
  last: null,
  mark: 65000,
  index: 65000,
  fundingRate: 0.0000125,
  nextFundingAt: 1_700_000_400_000,
  openInterest: 0,
  volume24h: 0,
  turnover24h: 0,
  high24h: null,
  low24h: null,
  change24h: null,
  time: 1_700_000_000_000,
};

export const DEPOSIT: Deposit = {
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
  registeredAt: 1_700_000_000_000,
  settledAt: null,
};

export const VOTE: DepositVote = {
  attestor: 0,
  publicKey: "ab".repeat(32),
  verdict: "confirming",
  votedAt: 1_700_000_000_000,
  text: "perpgate deposit vote v2\n",
  signature: "cd".repeat(64),
};

export const BRIDGE: BridgeInfo = {
  withdrawals: {
    minWithdrawal: 10,
    fee: 1,
    accountPerDay: 10_000,
    venuePerHour: 50_000,
    venuePerDay: 200_000,
    lifeSeconds: 86_400,
    chains: [{ chain: "ethereum", tokens: ["USDC"] }],
  },
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

export const QUEUE: DepositQueue = {
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

export const HONESTY: Honesty = {
  logKey: "venue.example/log+c01c9b6b+AYqI4910CfGV/VLbLTy6XXLKZwm/HZQSG/N0iAG0D29c",
  witnesses: [],
  venueId: "11".repeat(32),
  issuesReceipts: true,
  since: 1,
  throughBlock: 7,
  issued: 3,
  sealed: 2,
  notKept: 0,
  sealedMs: { p50: 100, p99: 200, max: 201 },
  witnessedMs: null,
  checkpoint: { size: 7, witnesses: [], cosignedMs: null },
  conflict: null,
};

export const BLOCK: Block = {
  number: 7,
  hash: HASH,
  parentHash: HASH,
  firstPosition: "40",
  lastPosition: "42",
  ackCount: 1,
  acksRoot: HASH,
  ackListHash: HASH,
  eventsHash: HASH,
  time: 1_700_000_000_000,
};

export const STATUS: Omit<VenueStatus, "release"> = {
  engineVersion: 3,
  time: 1_700_000_000_000,
  stage: "open",
  markets: [{ symbol: "BTCUSD", status: "active" }],
  block: null,
  position: "42",
};

export const ACCOUNT: Account = {
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

export const SESSION_INFO: SessionInfo = {
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

export const TOKEN = { token: `${"t".repeat(43)}.42`, expiresAt: 1_700_000_400_000 };

export const WITHDRAWAL: Withdrawal = {
  withdrawalId: "43",
  chain: "ethereum",
  token: "USDC",
  amount: 100,
  fee: 1,
  status: "pending",
  txHash: HASH,
  deadline: 1_700_086_400_000,
  nonce: 1,
  requestedAt: 1_700_000_000_000,
  endedAt: null,
};

export const OPEN_WITHDRAWAL: OpenWithdrawal = {
  withdrawalId: "43",
  chain: "ethereum",
  token: "USDC",
  amount: 100,
  account: "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
  status: "pending",
  deadline: 1_700_086_400_000,
  requestedAt: 1_700_000_000_000,
  votes: [],
  proof: null,
};

export const RESERVES: Reserves = {
  liabilities: {
    position: "40",
    committedAt: "43",
    time: 1_700_000_000_000,
    root: HASH,
    sum: 1_000.5,
    leaves: 5,
    proof: "c2sp.org/tlog-proof@v1\n",
  },
  vaults: [
    {
      chain: "ethereum",
      token: "USDC",
      vault: "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
      holds: 1_000,
      statements: [
        { attestor: 0, publicKey: "ab".repeat(32), text: "…", signature: "cd".repeat(64) },
      ],
    },
  ],
  pendingWithdrawals: 100.5,
  difference: -0.5,
};

export const LIABILITY: Liability = {
  position: "40",
  address: `0x${"5a".repeat(20)}`,
  salt: `0x${"ab".repeat(16)}`,
  balanceMicros: 1_000_000,
  path: [{ side: "left", hash: HASH, sumMicros: 2 }],
};
