/**
 * Whole commands for the whole engine: 10,000 accounts with sessions, three markets, a book of
 * 3,000 levels in the first. The flow is recorded once against an engine (order ids are log
 * positions, so cancels must know them) and then replayed on fresh engines for timing.
 *
 * Mix: 48 % limit orders that rest, 40 % cancels, 12 % orders that cross (two thirds market, one
 * third limit), spread over accounts at random; an index update and a tick every 1,000 commands. An
 * order rests 1,500 × u⁴ ticks behind the touch (u uniform), most of them close to it as in real flow.
 */
import {
  type Command,
  Engine,
  LIMIT_ORDER,
  LONG,
  MARKET_ORDER,
  type PlaceOrder,
  SHORT,
  type Side,
} from "@perpgate/engine";
import {
  addressOf,
  genesis,
  MAJOR,
  openSession,
  plainMarket,
  plainOrder,
  venueConfig,
} from "@perpgate/engine/testing";
import { Random } from "@perpgate/protocol/random";

export const SEED = 20_261_115;
/** Prices with an order when the flow begins. */
export const LEVELS = 3_000;
const DOLLAR = 1_000_000;
const START_MS = 1_800_000_000_000;
export const INDEX_TICKS = 650_000;
const KEY = "00".repeat(32);

export const CONFIG = venueConfig(
  ["BTCUSD", "ETHUSD", "SOLUSD"].map((symbol) => ({ config: plainMarket(symbol, MAJOR) })),
  { attestorKind: "dev", devCreditMicros: 100_000 * DOLLAR },
);

/** Commands that open a venue with that many accounts; account n has session n + 4. */
export function* openingCommands(accounts: number): Generator<Command> {
  // As large as it may be for all accounts together: deposits are bounded.
  const mostMicros = Math.floor(4e9 / accounts) * DOLLAR;
  const devCreditMicros = Math.min(CONFIG.devCreditMicros, mostMicros);
  yield genesis(START_MS, { ...CONFIG, devCreditMicros });
  for (const market of CONFIG.markets.keys()) {
    const index = { indexTicks: INDEX_TICKS, slot: START_MS / 200 };
    yield { kind: "UpdateIndex", stampMs: START_MS, market, ...index };
  }
  for (let account = 1; account <= accounts; account++) {
    yield openSession({
      stampMs: START_MS,
      address: addressOf(account),
      key: KEY,
      tokenHash: account.toString(16).padStart(64, "0"),
      siweNonceUntilMs: START_MS + 86_400_000,
    });
  }
}

export function sessionOf(account: number): number {
  return account + 1 + CONFIG.markets.length;
}

export function order(
  session: number,
  nonce: number,
  side: Side,
  priceTicks: number,
  marginMicros: number,
  leverage: number,
): PlaceOrder {
  const type = priceTicks === 0 ? MARKET_ORDER : LIMIT_ORDER;
  const terms = { side, marginMicros, leverage, priceTicks };
  return plainOrder({ stampMs: START_MS, session, key: KEY, nonce, type, ...terms });
}

/** Open orders at which the flow cancels instead of adding more: beyond those of a million commands. */
const MOST_OPEN = 200_000;

/** A flow, one command after another: of any length, with the memory of an engine. */
export class StreamedFlow {
  constructor(
    private readonly accounts: number,
    private readonly count: number,
  ) {}

  /** First those that open the venue, then the orders that rest, then `count` more. */
  *commands(): Generator<Command> {
    const { accounts } = this;
    const random = new Random(SEED);
    const engine = new Engine();
    const live: { id: number; session: number }[] = [];
    const nonces = new Map<number, number>();
    const place = (isBid: boolean, price: number, dollars: number, leverage: number): Command => {
      const session = sessionOf(1 + random.below(accounts));
      const nonce = (nonces.get(session) ?? 0) + 1;
      nonces.set(session, nonce);
      return order(session, nonce, isBid ? LONG : SHORT, price, dollars * DOLLAR, leverage);
    };
    const rest = (isBid: boolean, depth: number): Command => {
      const price = isBid ? INDEX_TICKS - 1 - depth : INDEX_TICKS + 1 + depth;
      return place(isBid, price, 20 + random.below(80), 1 + random.below(20));
    };
    const applied = (command: Command): Command => {
      engine.apply(command);
      if (command.kind === "PlaceOrder" && command.priceTicks > 0) {
        live.push({ id: engine.seq, session: command.session });
      }
      return command;
    };
    for (const command of openingCommands(accounts)) yield applied(command);
    for (let i = 0; i < LEVELS; i++) yield applied(rest(i % 2 === 0, i >> 1));
    let slot = START_MS / 200;
    for (let made = 0; made < this.count; made++) {
      const dice = random.next();
      const isBid = random.next() < 0.5;
      if (made % 1_000 === 998 && made + 1 < this.count) {
        const stampMs = slot++ * 200;
        const indexTicks = INDEX_TICKS + random.below(21) - 10;
        yield applied({ kind: "UpdateIndex", stampMs, market: 0, indexTicks, slot });
        yield applied({ kind: "Tick", slot });
        made++;
      } else if (dice < 0.48 && live.length < MOST_OPEN) {
        yield applied(rest(isBid, Math.floor((LEVELS / 2) * random.next() ** 4)));
      } else if (dice < 0.88 && live.length > 0) {
        const { id: orderId, session } = takeRandom(live, random);
        yield applied({ kind: "CancelOrder", stampMs: START_MS, session, orderId });
      } else {
        const price = random.next() < 0.67 ? 0 : isBid ? INDEX_TICKS + 50 : INDEX_TICKS - 50;
        yield applied(place(isBid, price, 2 + random.below(10), 10));
      }
    }
  }
}

/** A flow in memory, to be applied again and again. */
export class VenueFlow {
  readonly timed: readonly Command[];
  /** Commands that bring a fresh engine to the start of the timed part. */
  readonly opening: readonly Command[];

  constructor(accounts: number, count: number) {
    const commands = [...new StreamedFlow(accounts, count).commands()];
    const begins = commands.length - count;
    this.opening = commands.slice(0, begins);
    this.timed = commands.slice(begins);
  }

  /** A fresh engine at the start of the timed part. */
  prepare(): Engine {
    const engine = new Engine();
    for (const command of this.opening) engine.apply(command);
    return engine;
  }
}

/** Removes a random item. Some orders have filled meanwhile: canceling those is part of real flow. */
function takeRandom<T>(items: T[], random: Random): T {
  const at = random.below(items.length);
  const item = items[at]!;
  items[at] = items[items.length - 1]!;
  items.pop();
  return item;
}
