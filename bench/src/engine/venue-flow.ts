/**
 * Whole commands for the whole engine: 10,000 accounts with sessions, three markets, a book of
 * 3,000 levels in the first. The flow is recorded once against an engine (order ids are log
 * positions, so cancels must know them) and then replayed on fresh engines for timing.
 *
 * Mix: 48 % limit orders that rest, 40 % cancels, 12 % orders that cross (two thirds market, one
 * third limit), spread over accounts at random; an index update and a tick every 1,000 commands.
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
  venueConfig,
} from "@perpgate/engine/testing";
import { Random } from "@perpgate/protocol/random";

const DOLLAR = 1_000_000;
const START_MS = 1_800_000_000_000;
export const INDEX_TICKS = 650_000;
const KEY = "00".repeat(32);

export const CONFIG = venueConfig(
  ["BTCUSD", "ETHUSD", "SOLUSD"].map((symbol) => ({ config: plainMarket(symbol, MAJOR) })),
  { attestorKind: "dev", devCreditMicros: 100_000 * DOLLAR },
);

/** As large as it may be for all accounts together: deposits are bounded. */
function creditFor(accounts: number): number {
  return Math.min(CONFIG.devCreditMicros, Math.floor(4e9 / accounts) * DOLLAR);
}

/** Commands that open a venue with that many accounts; account n has session n + 4. */
export function* openingCommands(accounts: number): Generator<Command> {
  yield genesis(START_MS, { ...CONFIG, devCreditMicros: creditFor(accounts) });
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
  return {
    kind: "PlaceOrder",
    stampMs: START_MS,
    session,
    key: KEY,
    nonce,
    market: 0,
    side,
    type: priceTicks === 0 ? MARKET_ORDER : LIMIT_ORDER,
    marginMicros,
    leverage,
    priceTicks,
    reduceOnly: false,
    postOnly: false,
  };
}

export class VenueFlow {
  readonly timed: Command[] = [];
  /** The orders that rest when the timed part begins. */
  private readonly resting: Command[] = [];

  constructor(
    private readonly accounts: number,
    levels: number,
    count: number,
    seed: number,
  ) {
    const random = new Random(seed);
    const engine = new Engine();
    const live: { id: number; session: number }[] = [];
    const nonces = new Map<number, number>();
    const nextNonce = (session: number): number => {
      const nonce = (nonces.get(session) ?? 0) + 1;
      nonces.set(session, nonce);
      return nonce;
    };
    const anyone = (): number => sessionOf(1 + random.below(accounts));
    const rest = (session: number, isBid: boolean, depth: number): Command => {
      const price = isBid ? INDEX_TICKS - 1 - depth : INDEX_TICKS + 1 + depth;
      const margin = (20 + random.below(80)) * DOLLAR;
      const side = isBid ? LONG : SHORT;
      return order(session, nextNonce(session), side, price, margin, 1 + random.below(20));
    };
    const apply = (command: Command, into: Command[]): void => {
      into.push(command);
      engine.apply(command);
      if (command.kind === "PlaceOrder" && command.priceTicks > 0) {
        live.push({ id: engine.seq, session: command.session });
      }
    };
    for (const command of openingCommands(accounts)) engine.apply(command);
    for (let i = 0; i < levels; i++) apply(rest(anyone(), i % 2 === 0, i >> 1), this.resting);
    let slot = START_MS / 200;
    while (this.timed.length < count) {
      if (this.timed.length % 1_000 === 998) {
        const indexTicks = INDEX_TICKS + random.below(21) - 10;
        const index = { market: 0, indexTicks, slot: slot + 1 };
        apply({ kind: "UpdateIndex", stampMs: slot * 200, ...index }, this.timed);
        slot++;
        apply({ kind: "Tick", slot }, this.timed);
        continue;
      }
      const dice = random.next();
      const session = anyone();
      const isBid = random.next() < 0.5;
      if (dice < 0.48) {
        apply(rest(session, isBid, Math.floor((levels / 2) * random.next() ** 4)), this.timed);
      } else if (dice < 0.88 && live.length > 0) {
        const at = random.below(live.length);
        const chosen = live[at]!;
        live[at] = live[live.length - 1]!;
        live.pop();
        apply(
          { kind: "CancelOrder", stampMs: START_MS, session: chosen.session, orderId: chosen.id },
          this.timed,
        );
      } else {
        const price = random.next() < 0.67 ? 0 : isBid ? INDEX_TICKS + 50 : INDEX_TICKS - 50;
        const margin = (2 + random.below(10)) * DOLLAR;
        const side = isBid ? LONG : SHORT;
        apply(order(session, nextNonce(session), side, price, margin, 10), this.timed);
      }
    }
  }

  /** Commands that bring a fresh engine to the start of the timed part. */
  *opening(): Generator<Command> {
    yield* openingCommands(this.accounts);
    yield* this.resting;
  }

  /** A fresh engine at the start of the timed part. */
  prepare(): Engine {
    const engine = new Engine();
    for (const command of this.opening()) engine.apply(command);
    return engine;
  }
}
