/**
 * A small venue for tests written by hand: one market with round numbers, accounts by name, and
 * each call one command. Unless a test says otherwise: one lot at one tick is one micro, taker fee
 * 500 ppm, maker fee 200 ppm, band 5 %, tiers 1 M → 50×, 1 %; 5 M → 25×, 2 %; 20 M → 10×, 5 %.
 */
import {
  type Command,
  LIMIT_ORDER,
  LONG,
  MARKET_ORDER,
  type PlaceOrder,
  SHORT,
  STOP_ORDER,
} from "../../commands.js";
import { HOUR_MS, type VenueConfig } from "../../config.js";
import type { EventKind, EventOf, VenueEvent } from "../../events/event-table.js";
import { addressOf, genesis, openSession, plainOrder } from "../commands.js";
import { plainMarket, venueConfig } from "../scenarios/listing.js";
import { SoleWriter } from "../sole-writer.js";
import { accountOf, type Market, marketOf, type Position, positionOf } from "./state.js";
import { ReferenceVenue } from "./venue.js";

const TIERS = [
  { upToMicros: 1_000_000, maxLeverage: 50, maintenancePpm: 10_000 },
  { upToMicros: 5_000_000, maxLeverage: 25, maintenancePpm: 20_000 },
  { upToMicros: 20_000_000, maxLeverage: 10, maintenancePpm: 50_000 },
];
const BENCH_MARKET = plainMarket("TESTUSD", TIERS, { impactNotionalMicros: 20_000 });

export interface Wish {
  readonly margin: number;
  readonly leverage?: number;
  readonly price?: number;
  readonly reduceOnly?: boolean;
  readonly postOnly?: boolean;
}

export function eventsOf<K extends EventKind>(
  events: readonly VenueEvent[],
  kind: K,
): readonly EventOf<K>[] {
  const isKind = (event: VenueEvent): event is VenueEvent & EventOf<K> => event.kind === kind;
  return events.filter(isKind);
}

/** The only event of that kind. */
export function only<K extends EventKind>(events: readonly VenueEvent[], kind: K): EventOf<K> {
  const [first, ...more] = eventsOf(events, kind);
  if (first === undefined || more.length > 0) {
    throw new Error(`${kind}: ${first === undefined ? 0 : more.length + 1} events`);
  }
  return first;
}

export class Bench {
  readonly venue = new ReferenceVenue();
  private readonly sessions = new Map<string, number>();
  private nonce = 0;
  private readonly writer = new SoleWriter();

  constructor(index: number, settings: Partial<VenueConfig> = {}) {
    const config = venueConfig([{ config: BENCH_MARKET }], {
      fundSeedMicros: 10_000,
      backstopCapMicros: 100_000,
      maxOpenOrders: 10,
      attestorKind: "dev",
      devCreditMicros: 1_000_000,
      ...settings,
    });
    this.apply(genesis(100 * HOUR_MS, config));
    this.apply(this.writer.joins(100 * HOUR_MS));
    this.index(index);
  }

  apply(command: Command): VenueEvent[] {
    this.writer.sends(this.venue, command);
    return this.venue.apply(command);
  }

  get now(): number {
    return this.venue.state.time;
  }

  get market(): Market {
    return marketOf(this.venue.state, 0);
  }

  /** The session of a name, opened when it is first used. */
  session(name: string): number {
    const known = this.sessions.get(name);
    if (known !== undefined) return known;
    const place = this.sessions.size + 1;
    this.apply(openSession({ stampMs: this.now, address: addressOf(place), key: name }));
    this.sessions.set(name, this.venue.state.position);
    return this.venue.state.position;
  }

  account(name: string): number {
    const session = this.venue.state.sessions.get(this.session(name));
    if (session === undefined) throw new Error(`${name} has no session`);
    return session.account;
  }

  wallet(name: string): bigint {
    return accountOf(this.venue.state, this.account(name)).wallet;
  }

  position(name: string): Position {
    return positionOf(this.venue.state, this.account(name), 0);
  }

  order(name: string, fields: Partial<PlaceOrder>): VenueEvent[] {
    const session = this.session(name);
    this.nonce += 1;
    const signed = { stampMs: this.now, session, key: name, nonce: this.nonce };
    return this.apply(plainOrder({ ...signed, marginMicros: 1, ...fields }));
  }

  private wish(name: string, wish: Wish, fields: Partial<PlaceOrder>): VenueEvent[] {
    return this.order(name, {
      marginMicros: wish.margin,
      leverage: wish.leverage ?? 1,
      priceTicks: wish.price ?? 0,
      reduceOnly: wish.reduceOnly ?? false,
      postOnly: wish.postOnly ?? false,
      ...fields,
    });
  }

  buy(name: string, wish: Wish): VenueEvent[] {
    return this.wish(name, wish, { side: LONG, type: MARKET_ORDER });
  }

  sell(name: string, wish: Wish): VenueEvent[] {
    return this.wish(name, wish, { side: SHORT, type: MARKET_ORDER });
  }

  bid(name: string, price: number, wish: Wish): VenueEvent[] {
    return this.wish(name, { ...wish, price }, { side: LONG, type: LIMIT_ORDER });
  }

  ask(name: string, price: number, wish: Wish): VenueEvent[] {
    return this.wish(name, { ...wish, price }, { side: SHORT, type: LIMIT_ORDER });
  }

  buyStop(name: string, price: number, wish: Wish): VenueEvent[] {
    return this.wish(name, { ...wish, price }, { side: LONG, type: STOP_ORDER });
  }

  index(indexTicks: number): VenueEvent[] {
    const slot = Math.max(Math.floor(this.now / 200), this.market.indexSlot + 1);
    return this.apply({ kind: "UpdateIndex", stampMs: this.now, market: 0, indexTicks, slot });
  }

  tick(): VenueEvent[] {
    return this.apply({ kind: "Tick", slot: this.venue.state.lastTick / 200 + 1 });
  }
}
