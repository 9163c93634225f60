/**
 * The whole state of the reference venue as plain objects. Nothing is cached: what can be derived
 * (levels, reserved sums, equity) is derived where it is needed.
 */
import type { OrderTypeCode, Side } from "../../commands.js";
import type { CohortStage, MarketConfig, VenueConfig } from "../../config.js";
import type { VenueEvent } from "../../events/event-table.js";

/** An open order: a resting limit or a pending stop. */
export interface Order {
  readonly id: number;
  readonly account: number;
  /** The session that placed it. */
  readonly session: number;
  readonly market: number;
  readonly side: Side;
  readonly type: OrderTypeCode;
  price: bigint;
  readonly leverage: bigint;
  readonly reduceOnly: boolean;
  resting: boolean;
  /** Pending: whether a tick has found the mark at or beyond its price. */
  reached: boolean;
  /** Position of the command that queued it last. */
  rank: number;
  /** Of a pending stop: where it waits (version 3). */
  line: StopLine;
  /** Of one that closes the position: whether it was triggered, and closes what it finds. */
  triggered: boolean;
  /** Of an exit: the position of the command in which it began to cover lots. */
  coversSince: number;
  /** The maxNotional of the session that placed or last amended it; 0: none. */
  cap: bigint;
  /** Null for a plain order. */
  extra: Extra | null;
  readonly postOnly: boolean;
  /** Filled and remaining. */
  lots: bigint;
  remaining: bigint;
  closing: bigint;
  reserve: bigint;
}

export interface StopLine {
  /** Whether it is in it: an exit is from the end of the command in which it began to cover lots. */
  isIn: boolean;
  closes: boolean;
  turn: number;
  size: number;
  /** Position of the tick that moved it to its line; 0: none. */
  movedAt: number;
  /** Whether its account has too little left to close for a line by size. */
  isStale: boolean;
  /** Whether it has reached the limit of a turn. */
  isBehind: boolean;
  /** Its number among all stops that were ever reached; 0: not reached. */
  place: number;
}

/** What an order has beyond the plain terms. */
export interface Extra {
  /** 0: money decided the lots. */
  size: bigint;
  /** 0: no margin was sent. */
  readonly margin: bigint;
  /** 0: never. */
  expiresAt: number;
  readonly timeInForce: number;
  readonly trigger: number;
  /** 0: none. */
  limit: bigint;
  readonly closePosition: boolean;
  readonly selfTrade: number;
  readonly clientId: string;
  /** The maxOrderNotional of the session that placed or last amended it; 0: none. */
  cap: bigint;
  /** Notional of its fills, and of what opened of them. */
  filled: bigint;
  opened: bigint;
}

export interface Position {
  readonly account: number;
  readonly market: number;
  lots: bigint;
  cost: bigint;
  margin: bigint;
  realized: bigint;
  funding: bigint;
  /** The market's cumulative funding up to which it has settled. */
  settledFunding: bigint;
  /** Open orders of the account in the market by rank: one that is queued again is the last. */
  orders: Order[];
}

export interface Account {
  readonly number: number;
  readonly address: string;
  wallet: bigint;
  /** By market number; the listing may grow. */
  positions: Position[];
  /** Dead-man's switch; 0 if disarmed. */
  cancelAt: number;
  /** Position at which its switch fired, while older orders are still to be ended; else 0. */
  firedAt: number;
  /** Whether it had the grant of its first sign-in. */
  granted: boolean;
}

export interface Market {
  readonly number: number;
  config: MarketConfig;
  /** Resting orders, best first, then by rank. */
  bids: Order[];
  asks: Order[];
  /** Null until the first UpdateIndex. */
  index: bigint | null;
  /** The beginning of its slot. */
  indexTime: number;
  /** Slot of the last index, accepted or held back. */
  indexSlot: number;
  /** Every accepted index with its time. */
  accepted: { index: bigint; time: number }[];
  held: { index: bigint; since: number; near: number } | null;
  /** Time of the last start, jump or resume, until an index of its slot or later is accepted. */
  awaits: number | null;
  mark: bigint;
  /** The mark at which a tick last left no liquidation waiting; null before the first. */
  settledMark: bigint | null;
  /** Whose liquidation has reached the limit of a turn, since when they wait, and later turns they have had. */
  behind: { readonly account: number; readonly since: number; turns: bigint }[];
  /** By side, the triggered stop that a tick looked at last in order to try it again. */
  lookedAgain: Map<Side, number>;
  markTime: number | null;
  ema: bigint;
  last: bigint | null;
  premiumSum: bigint;
  premiumCount: bigint;
  /** Of the hour, those without a sample included. */
  liveTicks: bigint;
  /** Σ mark·u·rate of all hours, in billionths of a micro per lot. */
  cumulativeFunding: bigint;
  backstop: { lots: bigint; cost: bigint };
  status: "active" | "reduceOnly" | "halted" | "settling" | "settled";
  /** The work of a control that is not done yet; `account` is the next. */
  sweep: { phase: "reduce" | "cancel" | "losers" | "winners"; account: number } | null;
  settlement: Settlement | null;
}

export interface Settlement {
  readonly price: bigint;
  /** Lots of the positions settled so far; they are worth the price. */
  lots: bigint;
  /** What is lacking (negative) or left over. */
  pool: bigint;
  /** What the winners have gained, and what of it is paid. */
  gains: bigint;
  payout: bigint;
}

export interface Session {
  readonly number: number;
  readonly account: number;
  readonly tokenHash: string;
  readonly expiresAt: number;
  readonly maxOrderNotional: bigint;
  readonly maxNotional: bigint;
  readonly markets: readonly number[];
  key: string;
  /** Remembered nonce → order id. */
  nonces: Map<number, number>;
  cancelOnDisconnect: boolean;
}

/** A live writer. */
export interface Writer {
  /** Position of its join. */
  readonly number: number;
  readonly id: string;
  readonly name: string;
  readonly versions: readonly [number, number];
  counter: number;
  /** Since the last tick. */
  hasWritten: boolean;
  /** Ticks in a row without a batch. */
  missed: number;
  ask: { readonly time: number; ticks: number } | null;
  /** By the asking writer: asks since its own last batch. */
  readonly asks: Map<number, number>;
  /** Connected there. */
  readonly sessions: Set<number>;
}

/** What differs between versions of the rules. */
export interface Rules {
  readonly liquidationFeePpm: bigint;
  /** The hour's premium is divided by all live ticks, not by those with a sample. */
  readonly thinTicksCount: boolean;
  /** The mid that the mark averages needs deep sides near the index, and has a bound. */
  readonly midIsBounded: boolean;
  /** Stops wait in lines. */
  readonly stopsInLines: boolean;
  /** Accounts take turns in having orders ended that are over, and these never fill. */
  readonly endsInRounds: boolean;
  /** Liquidations and stops take turns. */
  readonly takesTurns: boolean;
  /** Work is counted in orders, not in makers alone. */
  readonly workOfOrders: boolean;
  /** A triggered closePosition order keeps to the lots of that moment. */
  readonly triggeredLotsAreFixed: boolean;
  /** Orders may have exits attached. */
  readonly exitsAreKnown: boolean;
  /** The backstop holds what the hour's budget covers, and never trades beyond the index. */
  readonly fundIsSheltered: boolean;
  /** Deleveraging takes from all winners by profit, not from the first by rank. */
  readonly winnersShare: boolean;
  /** Steep leverage has a limit. */
  readonly leverageIsLimited: boolean;
  /** The open orders of an account are bounded by its equity. */
  readonly ordersNeedEquity: boolean;
  /** Orders wait for the liquidations of a jump. */
  readonly jumpsAreSettled: boolean;
  /** One core may lead. */
  readonly coresLead: boolean;
  /** Unsigned requests that are sent again are executed once. */
  readonly requestsAreKept: boolean;
  /** Cancels of one order are acknowledged. */
  readonly cancelsAreSealed: boolean;
}

/** A signed batch, as far as its operations have come. */
export interface Batch {
  readonly first: number;
  last: number;
  readonly session: number;
  readonly nonce: number;
  readonly count: number;
  unitsLeft: number;
}

/** A market's liquidations in a tick; version 2 has one for all markets, which shares with stops. */
export interface Liquidations {
  /** First turns that are left, and later ones. */
  first: number;
  later: number;
  /** Chosen, without a turn so far. */
  waiting: { readonly position: Position; readonly shortfall: bigint }[];
  /** Whether more may be due than were chosen, that orders have to wait for. */
  isMore: boolean;
}

export interface State {
  /** The rules by version; the engine's own list is not used here. */
  readonly versions: ReadonlyMap<number, Rules>;
  version: number;
  started: boolean;
  config: VenueConfig;
  position: number;
  time: number;
  lastTick: number;
  /** Accounts 1, 2, …; index 0 is account 1. */
  accounts: Account[];
  markets: Market[];
  sessions: Map<number, Session>;
  /** "address nonce" → until when it must be remembered. */
  siweNonces: Map<string, number>;
  cohort: CohortStage;
  allowed: Set<string>;
  fund: bigint;
  fees: bigint;
  /** Funding that payers have settled and receivers have not, signed. */
  fundingPool: bigint;
  deposits: bigint;
  /** What the fund had gained, minute by minute. */
  fundSamples: { minute: number; result: bigint }[];
  nextFundingAt: number;
  /** Sessions whose orders up to that position are still to be canceled. */
  carriedDisconnects: { account: number; session: number; position: number }[];
  /** Accounts with orders that are over: before their first turn, and after it. */
  fresh: number[];
  again: number[];
  /** How many stops were ever reached. */
  reachedStops: number;
  /** Live writers, by joining. */
  writers: Writer[];
  writerIds: Set<string>;
  /** The core that leads: of which epoch, since how many ticks; and who was connected before. */
  epoch: number;
  epochTicks: number;
  former: Set<number>;
  /** Switches that came due later wait for the former to return. */
  switchesHeld: number;
  /** The writer of the batch in progress, and whether it is the batch of its join. */
  writing: string | null;
  isJoining: boolean;
  /** Null: no batch was accepted yet. */
  ticksOfBatch: number | null;
  /** The batch that the last operation of one belonged to. */
  batch: Batch | null;
  /** When operator commands were executed. */
  operations: number[];
  /** Unsigned requests by id: where each was executed or refused first. */
  requests: Map<string, { readonly position: number; readonly time: number }>;
  block: { number: number; firstPosition: number; acks: number; executed: boolean };
  /** State of the current command. */
  events: VenueEvent[];
  touched: Position[];
  budget: number;
  work: {
    /** Whose command it is, if it is one of a session. */
    account: number | null;
    spent: number;
    limit: number;
    perMarket: number;
    /** Next to the others, for makers that are over. */
    forOver: number;
    /** The market that a tick serves just now. */
    served: number | null;
    spentIn: Map<number, number>;
    /** `spent` at which the turn in progress ends. */
    turnEnd: number;
  };
  /** Orders that settle has ended. */
  endedBySettle: number;
  /** Orders that the liquidations of the command have canceled. */
  liquidatedOrders: number;
  /** By market; in version 2 one for all. */
  liquidations: Liquidations[];
  /** The stop that takes from the book just now, and what it has taken. */
  serving: { readonly order: Order; readonly taker: { readonly filled: bigint } } | null;
  disconnectBudget: { cancels: number; looks: number };
  /** Exits whose lots the command has changed, their own fills apart. */
  resizedExits: Set<Order>;
  /** The events that a fill-or-kill order of the command has undone. */
  undone: VenueEvent[];
}

const VERSION_2: Rules = {
  // "0.5 % of the closed notional goes to the fund."
  liquidationFeePpm: 5_000n,
  thinTicksCount: false,
  midIsBounded: false,
  stopsInLines: false,
  endsInRounds: false,
  takesTurns: false,
  workOfOrders: false,
  triggeredLotsAreFixed: false,
  exitsAreKnown: false,
  fundIsSheltered: false,
  winnersShare: false,
  leverageIsLimited: false,
  ordersNeedEquity: false,
  jumpsAreSettled: false,
  coresLead: false,
  requestsAreKept: false,
  cancelsAreSealed: false,
};

const VERSION_3: Rules = {
  ...VERSION_2,
  thinTicksCount: true,
  midIsBounded: true,
  stopsInLines: true,
  endsInRounds: true,
  takesTurns: true,
  workOfOrders: true,
  triggeredLotsAreFixed: true,
  exitsAreKnown: true,
  fundIsSheltered: true,
  winnersShare: true,
  leverageIsLimited: true,
  ordersNeedEquity: true,
  jumpsAreSettled: true,
  coresLead: true,
  requestsAreKept: true,
  cancelsAreSealed: true,
};

export const VERSIONS: ReadonlyMap<number, Rules> = new Map([
  [2, VERSION_2],
  [3, VERSION_3],
]);

export function newState(versions: ReadonlyMap<number, Rules>): State {
  return {
    versions,
    version: 0,
    started: false,
    config: {
      markets: [],
      fundSeedMicros: 0,
      backstopCapMicros: 0,
      fundLossPerHourPpm: 0,
      maxOpenOrders: 0,
      attestorKind: "dev",
      attestors: 1,
      attestorQuorum: 1,
      devCreditMicros: 0,
    },
    position: 0,
    time: 0,
    lastTick: 0,
    accounts: [],
    markets: [],
    sessions: new Map(),
    siweNonces: new Map(),
    cohort: "closed",
    allowed: new Set(),
    fund: 0n,
    fees: 0n,
    fundingPool: 0n,
    deposits: 0n,
    fundSamples: [],
    nextFundingAt: 0,
    carriedDisconnects: [],
    reachedStops: 0,
    fresh: [],
    again: [],
    writers: [],
    writerIds: new Set(),
    epoch: 0,
    epochTicks: 0,
    former: new Set(),
    switchesHeld: 0,
    writing: null,
    isJoining: false,
    ticksOfBatch: null,
    batch: null,
    operations: [],
    requests: new Map(),
    block: { number: 1, firstPosition: 1, acks: 0, executed: false },
    events: [],
    touched: [],
    budget: 0,
    work: {
      account: null,
      spent: 0,
      limit: 0,
      perMarket: 0,
      forOver: 0,
      served: null,
      spentIn: new Map(),
      turnEnd: 0,
    },
    endedBySettle: 0,
    liquidatedOrders: 0,
    liquidations: [],
    serving: null,
    disconnectBudget: { cancels: 0, looks: 0 },
    resizedExits: new Set(),
    undone: [],
  };
}

export function newMarket(number: number, config: MarketConfig): Market {
  return {
    number,
    config,
    bids: [],
    asks: [],
    index: null,
    indexTime: 0,
    indexSlot: 0,
    accepted: [],
    held: null,
    awaits: null,
    mark: 0n,
    settledMark: null,
    behind: [],
    lookedAgain: new Map(),
    markTime: null,
    ema: 0n,
    last: null,
    premiumSum: 0n,
    premiumCount: 0n,
    liveTicks: 0n,
    cumulativeFunding: 0n,
    backstop: { lots: 0n, cost: 0n },
    status: "active",
    sweep: null,
    settlement: null,
  };
}

export function rulesOf(state: State): Rules {
  const rules = state.versions.get(state.version);
  if (rules === undefined) throw new Error(`no rules of version ${state.version}`);
  return rules;
}

export function accountOf(state: State, number: number): Account {
  const account = state.accounts[number - 1];
  if (account === undefined) throw new Error(`no account ${number}`);
  return account;
}

export function marketOf(state: State, number: number): Market {
  const market = state.markets[number];
  if (market === undefined) throw new Error(`no market ${number}`);
  return market;
}

export function positionOf(state: State, account: number, market: number): Position {
  const { positions } = accountOf(state, account);
  for (let next = positions.length; next <= market; next++) {
    positions.push({
      account,
      market: next,
      lots: 0n,
      cost: 0n,
      margin: 0n,
      realized: 0n,
      funding: 0n,
      settledFunding: 0n,
      orders: [],
    });
  }
  const position = positions[market];
  if (position === undefined) throw new Error(`no market ${market}`);
  return position;
}

/** Whether the core that leads has led for so short that connections of before may come back. */
export function isReturning({ epoch, epochTicks }: State): boolean {
  return epoch > 0 && epochTicks < 25;
}
