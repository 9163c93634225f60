/**
 * Scenes: short runs of commands that lead to what random trading rarely reaches. Each is a story
 * that could happen on a venue.
 */

import type { Random } from "@perpgate/protocol/random";
import {
  type Command,
  LIMIT_ORDER,
  LONG,
  MARKET_ORDER,
  SHORT,
  type Side,
  STOP_ORDER,
} from "../../commands.js";
import { TICK_MS } from "../../config.js";
import { accountOf, type Market, positionOf } from "../reference/state.js";
import type { ReferenceVenue } from "../reference/venue.js";
import type { Happening } from "./gateways.js";
import { indexUpdate } from "./index-feed.js";
import type { Margins } from "./margins.js";
import type { Orders } from "./orders.js";
import type { Signed, Trader, Traders } from "./traders.js";

interface Actor {
  readonly trader: Trader;
  readonly session: Signed;
  readonly account: number;
  readonly wallet: number;
  readonly lots: bigint;
}

const WALL_TAKERS = ["market", "stop", "liquidation"] as const;

export class Scenes {
  private walls = 0;

  constructor(
    private readonly random: Random,
    private readonly venue: ReferenceVenue,
    private readonly traders: Traders,
    private readonly orders: Orders,
    private readonly margins: Margins,
    private readonly stamp: () => number,
  ) {}

  /** Those with a session, in random order. */
  private actors(market: Market): Actor[] {
    const { state } = this.venue;
    const actors: Actor[] = [];
    for (const trader of this.traders.all) {
      const session = this.traders.sessionOf(trader);
      const account = session && state.sessions.get(session.number)?.account;
      if (session === null || account === undefined || account === null) continue;
      const wallet = Number(state.accounts[account - 1]?.wallet ?? 0n);
      const { lots } = positionOf(state, account, market.number);
      actors.push({ trader, session, account, wallet, lots });
    }
    return actors
      .map((actor) => ({ actor, place: this.random.next() }))
      .sort((a, b) => a.place - b.place)
      .map(({ actor }) => actor);
  }

  private moveIndex(market: Market, factor: number): Command {
    const index = Math.round(Number(market.index ?? market.mark) * factor);
    const indexTicks = Math.min(2 ** 30, Math.max(1, index));
    return indexUpdate(this.venue.state, this.stamp(), market.number, indexTicks);
  }

  private changesMargin({ session, account }: Actor): Command {
    return this.margins.any(session, accountOf(this.venue.state, account));
  }

  private topOf(market: Market): number {
    return market.config.tiers.at(-1)?.upToMicros ?? 0;
  }

  /**
   * The index jumps so far that it is held back. Time passes, updates come near it, and some far from
   * both; traders try to get out meanwhile.
   */
  private *gap(market: Market, factor: number): Generator<Command> {
    const { random } = this;
    yield this.moveIndex(market, factor);
    const [actor] = this.actors(market);
    for (let i = 0; i < 20 && market.held !== null && !random.chance(0.02); i++) {
      if (actor !== undefined && random.chance(0.2)) {
        const close = { side: random.pick<Side>([LONG, SHORT]), marginMicros: 10 ** 9 };
        yield this.orders.of(actor.session, market, { ...close, reduceOnly: random.chance(0.5) });
      }
      if (actor !== undefined && random.chance(0.2)) yield this.changesMargin(actor);
      yield { kind: "Tick", slot: this.venue.state.lastTick / 200 + random.int(1, 2) };
      if (!random.chance(0.6)) continue;
      const off = random.chance(0.05) ? 0.4 : 0.02;
      const noise = 1 + off * (2 * random.next() - 1);
      const indexTicks = Math.max(1, Math.round(Number(market.held?.index ?? 1n) * noise));
      yield indexUpdate(this.venue.state, this.stamp(), market.number, indexTicks);
    }
  }

  /**
   * Quotes are pulled, the index jumps by 2 to 30 % (or by up to 60 %, and is held back first), and before the next tick can liquidate anyone
   * the winners close against newcomers, who will stand in the way of deleveraging.
   */
  *crash(market: Market): Generator<Command> {
    const { random } = this;
    const down = random.chance(0.5);
    const winner: Side = down ? SHORT : LONG;
    const size = 0.02 + 0.28 * random.next() ** 2;
    const pulled = random.next() * random.next();
    for (const { session } of this.actors(market)) {
      if (!random.chance(pulled)) continue;
      const number = random.chance(0.5) ? market.number : -1;
      const stampMs = this.stamp();
      yield { kind: "CancelAll", stampMs, session: session.number, market: number };
    }
    const gap = random.chance(0.25) ? 0.2 + 0.4 * random.next() : size;
    yield* this.gap(market, down ? 1 - gap : 1 + gap);
    if (random.chance(0.4)) return;
    const away = random.chance(0.5) ? 0 : -winner * 0.002;
    const price = Math.max(1, Math.round(Number(market.mark) * (1 + away * random.next())));
    let budget = random.int(2, 16);
    for (const actor of this.actors(market)) {
      if (budget === 0) break;
      const held = actor.lots > 0n ? LONG : actor.lots < 0n ? SHORT : 0;
      if (held === winner) {
        // Take profit: as a maker one tick inside, or with a market order.
        const side: Side = winner === LONG ? SHORT : LONG;
        const close = { side, marginMicros: 10 ** 12, reduceOnly: true };
        yield this.orders.of(actor.session, market, { ...close, type: MARKET_ORDER });
        yield this.orders.of(actor.session, market, {
          ...close,
          type: LIMIT_ORDER,
          priceTicks: price,
        });
      } else if (held === 0) {
        const leverage = random.pick(market.config.tiers).maxLeverage;
        const most = Math.min(actor.wallet * 0.9, this.topOf(market) / leverage / 2);
        yield this.orders.of(actor.session, market, {
          side: winner,
          type: LIMIT_ORDER,
          priceTicks: price,
          leverage,
          marginMicros: Math.max(1, Math.floor(most * random.next())),
        });
      } else if (random.chance(0.3)) {
        // A loser tries to get out below its bankruptcy price.
        const side: Side = held === LONG ? SHORT : LONG;
        const close = { side, marginMicros: 10 ** 12, reduceOnly: true };
        yield this.orders.of(actor.session, market, { ...close, type: MARKET_ORDER });
      }
      budget -= 1;
    }
  }

  /** Some with a position place an exit beyond the book that is larger than it. */
  *largeExits(market: Market): Generator<Command> {
    const holders = this.actors(market).filter(({ lots }) => lots !== 0n);
    for (const { session, lots } of holders.slice(0, 3)) {
      const side: Side = lots > 0n ? SHORT : LONG;
      const priceTicks = Math.max(1, Math.round(Number(market.mark) * (1 - side * 0.03)));
      const held = Math.abs(Number(lots)) * priceTicks * market.config.microsPerTickLot;
      const marginMicros = Math.ceil(held * 1.4);
      const type = LIMIT_ORDER;
      yield this.orders.of(session, market, { side, type, priceTicks, leverage: 1, marginMicros });
    }
  }

  /** Someone takes from their own quote with the money for one lot; the next level costs more. */
  *ownQuote(market: Market): Generator<Command> {
    const bid = market.bids[0]?.price ?? 0n;
    const ask = market.asks[0]?.price ?? 0n;
    const actor = this.actors(market)[0];
    if (actor === undefined || bid === 0n || ask - bid < 2n) return;
    const priceTicks = Number(ask) - 1;
    const marginMicros = priceTicks * market.config.microsPerTickLot;
    const quote = { type: LIMIT_ORDER, priceTicks, marginMicros, leverage: 1 } as const;
    yield this.orders.of(actor.session, market, { ...quote, side: SHORT });
    yield this.orders.of(actor.session, market, {
      side: LONG,
      type: MARKET_ORDER,
      marginMicros,
      leverage: 1,
    });
  }

  /** Everybody hides behind the same line; then the mark walks through it. */
  *stopCluster(market: Market): Generator<Command> {
    const { random } = this;
    const side = random.pick<Side>([LONG, SHORT]);
    const wanted = random.int(200, 420);
    const actors = this.actors(market);
    for (let placed = 0; placed < wanted; placed++) {
      const actor = random.pick(actors);
      const offset = Number(market.mark) * (0.001 + 0.012 * random.next());
      const most = Math.min(actor.wallet, this.topOf(market) / 10) / 20;
      yield this.orders.of(actor.session, market, {
        side,
        type: STOP_ORDER,
        priceTicks: Math.max(1, Math.round(Number(market.mark) + side * offset)),
        leverage: random.int(1, 8),
        marginMicros: Math.max(1, Math.floor(most * random.next())),
        reduceOnly: random.chance(0.2),
      });
    }
    yield this.moveIndex(market, 1 + side * 0.018);
    if (random.chance(0.4)) return;
    // The mark turns back while most of them still wait.
    yield { kind: "Tick", slot: this.venue.state.lastTick / TICK_MS + 1 };
    yield this.moveIndex(market, 1 - side * 0.018);
  }

  /** Everybody quotes and wants the quotes canceled on disconnect; then the gateways restart. */
  *blackout(market: Market): Generator<Happening> {
    const { random } = this;
    for (const { session, wallet } of this.actors(market)) {
      if (random.chance(0.05)) continue;
      const number = session.number;
      const stampMs = this.stamp();
      yield { kind: "SessionConnected", stampMs, session: number };
      yield { kind: "SetSessionOption", stampMs, session: number, cancelOnDisconnect: true };
      const most = Math.min(wallet / 5, this.topOf(market));
      for (let quote = 0; quote < 4; quote++) {
        const side = random.pick<Side>([LONG, SHORT]);
        const away = 1 - side * (0.02 + 0.2 * random.next());
        yield this.orders.of(session, market, {
          side,
          type: LIMIT_ORDER,
          priceTicks: Math.max(1, Math.round(Number(market.mark) * away)),
          // Within the position limit, also of a small market.
          marginMicros: Math.max(1, Math.floor((most / 8) * random.next())),
        });
      }
    }
    yield { kind: "Restart", stampMs: this.venue.state.time + random.int(0, 5_000) };
    // Some are back before their turn has come: what they send now is not meant.
    for (const { session, wallet } of this.actors(market).slice(0, 10)) {
      yield this.orders.of(session, market, {
        side: LONG,
        type: LIMIT_ORDER,
        priceTicks: Math.max(1, Math.round(Number(market.mark) * 0.95)),
        marginMicros: Math.max(1, Math.floor(wallet / 40)),
      });
    }
  }

  /** A few large accounts sell to hundreds of small ones at full leverage; then the floor drops. */
  *herd(market: Market): Generator<Command> {
    const { random } = this;
    const up = random.chance(0.3);
    const small: Side = up ? SHORT : LONG;
    const large: Side = up ? LONG : SHORT;
    const actors = this.actors(market);
    const sellers = actors.slice(0, 30);
    const price = Number(market.mark);
    const top = this.topOf(market);
    for (const seller of sellers) {
      yield this.orders.of(seller.session, market, {
        side: large,
        type: LIMIT_ORDER,
        priceTicks: price,
        leverage: 2,
        marginMicros: Math.max(1, Math.floor(Math.min(seller.wallet / 2, top / 5))),
      });
    }
    const most = market.config.tiers[0]?.maxLeverage ?? 1;
    for (const buyer of actors.slice(30)) {
      yield this.orders.of(buyer.session, market, {
        side: small,
        leverage: most,
        marginMicros: Math.max(1, Math.floor(Math.min(buyer.wallet / 20, top / most / 40))),
      });
    }
    if (random.chance(0.5)) {
      for (const { session } of sellers) {
        const stampMs = this.stamp();
        yield { kind: "CancelAll", stampMs, session: session.number, market: market.number };
      }
    }
    for (const actor of actors.slice(0, 80)) {
      const offset = Number(market.mark) * 0.01 * random.next();
      yield this.orders.of(actor.session, market, {
        side: large,
        type: STOP_ORDER,
        priceTicks: Math.max(1, Math.round(Number(market.mark) + large * (1 + offset))),
        marginMicros: Math.max(1, Math.floor(actor.wallet / 50)),
      });
    }
    yield this.moveIndex(market, 1 + large * (0.03 + 0.05 * random.next()));
  }
  /**
   * More one-lot orders than one command may meet, and a taker that wants them all: a market order, a
   * stop, or the liquidation of a position.
   */
  *wall(market: Market): Generator<Command> {
    const { random } = this;
    const kind = WALL_TAKERS[this.walls++ % WALL_TAKERS.length];
    const up = random.chance(0.5);
    const taking: Side = up ? LONG : SHORT;
    const making: Side = up ? SHORT : LONG;
    // The account to liquidate is new here: what others hold would keep them afloat.
    const newcomers: Trader[] = [];
    for (let count = 0; count < 2; count++) {
      const newcomer = { address: random.hex(40), session: null };
      newcomers.push(newcomer);
      this.traders.all.push(newcomer);
      yield* this.traders.signIn(newcomer);
    }
    const actors = this.actors(market);
    const [first, second] = actors.filter((actor) => newcomers.includes(actor.trader));
    const others = actors.filter((actor) => !newcomers.includes(actor.trader));
    if (first === undefined || second === undefined) return;
    for (const { session } of actors) {
      const stampMs = this.stamp();
      yield { kind: "CancelAll", stampMs, session: session.number, market: market.number };
    }
    const start = Number(market.mark);
    const unit = market.config.microsPerTickLot;
    const lots = 2_500;
    if (kind === "liquidation") {
      // The position to liquidate: it is closed by taking from the wall.
      const open = { priceTicks: start, marginMicros: Math.floor((start * unit * 12_000) / 25) };
      const terms = { ...open, leverage: 25, type: LIMIT_ORDER } as const;
      yield this.orders.of(second.session, market, { ...terms, side: taking });
      yield this.orders.of(first.session, market, { ...terms, side: making });
    }
    const away = kind === "liquidation" ? 0.03 : 0.01;
    const price = Math.round(start * (1 + taking * away));
    const wanted = random.int(2_400, 2_480);
    for (let placed = 0; placed < wanted; placed++) {
      const maker = others[placed % Math.max(1, others.length)];
      if (maker === undefined) return;
      yield this.orders.of(maker.session, market, {
        side: making,
        type: LIMIT_ORDER,
        priceTicks: price,
        marginMicros: price * unit,
      });
    }
    const taker = {
      side: taking,
      leverage: 10,
      marginMicros: Math.floor((price * unit * lots) / 10),
    };
    if (kind === "market") yield this.orders.of(first.session, market, taker);
    if (kind === "stop") {
      const priceTicks = Math.round(start * (1 + taking * 0.002));
      for (const { session } of [first, second]) {
        yield this.orders.of(session, market, { ...taker, type: STOP_ORDER, priceTicks });
      }
    }
    if (kind === "market") return;
    yield this.moveIndex(market, 1 + taking * (kind === "stop" ? 0.016 : 0.032));
    // Before anyone else takes from the wall.
    yield { kind: "Tick", slot: this.venue.state.lastTick / 200 + 1 };
  }
}
