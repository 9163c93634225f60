/**
 * What accomplices try. Small moves (cross, quote, close, meet the backstop) drawn at random, and
 * longer schemes that combine them the way a thief would: push the mark, open at its edge, push it
 * back, let funding wear one side down, take from the backstop what was left to it.
 */

import type { Random } from "@perpgate/protocol/random";
import { LIMIT_ORDER, LONG, MARKET_ORDER, SHORT, type Side, STOP_ORDER } from "../../commands.js";
import { Choices } from "./choices.js";
import type { Ring } from "./ring.js";

export interface Habits {
  /** Whether they wait for funding hours. */
  readonly hours: boolean;
  /** Whether the venue pauses, so that minutes pass between two ticks. */
  readonly pauses: boolean;
  /** Whether the index is sometimes stale at the end of an hour. */
  readonly outages: boolean;
  /** Called where the index may move; a fixed one does nothing. */
  readonly index: (ring: Ring) => void;
  /** Where the index moves next (1 up, −1 down), if the ring knows it; 0 if not. */
  readonly nextStep: () => number;
}

/** A constant index. */
export const STILL = { index: () => {}, nextStep: () => 0 };

export function conspire(ring: Ring, random: Random, habits: Habits, steps: number): void {
  const scheming = new Scheming(ring, random, habits);
  for (let i = 0; i < steps; i++) scheming.step();
  scheming.cashIn();
}

class Scheming {
  private readonly choices: Choices;

  constructor(
    private readonly ring: Ring,
    private readonly random: Random,
    private readonly habits: Habits,
  ) {
    this.choices = new Choices(ring, random);
  }

  step(): void {
    // Told that the backstop's position will lose, they leave it with it; if it will win, they
    // take it.
    const foreseen = this.habits.nextStep() * this.ring.market.backstopLots;
    if (foreseen > 0) this.meetBackstop();
    if (foreseen < 0) this.cancelAll();
    const kind = this.random.weighted({
      cross: 20,
      push: 10,
      worn: this.habits.hours ? 6 : 0,
      wait: 10,
      hour: this.habits.hours ? 8 : 0,
      close: 12,
      market: 6,
      stop: 3,
      meetBackstop: foreseen < 0 ? 0 : 14,
      cancel: 5,
      squeeze: 8,
    });
    this[kind]();
    if (this.random.chance(0.7)) this.habits.index(this.ring);
  }

  /** Two members open against each other, anywhere within the band. */
  cross(): void {
    const { ring, random } = this;
    const [buyer, seller] = this.choices.two();
    const leverages = [this.choices.leverage(), this.choices.leverage()] as const;
    ring.crosses(
      buyer,
      seller,
      this.choices.price(),
      this.choices.size(),
      leverages,
      random.chance(0.5),
    );
  }

  /** Quotes that drag mid, touch and premium to one side, for some seconds. */
  push(direction = this.random.pick([1, -1])): void {
    const { ring, random } = this;
    const [bidder, asker] = this.choices.two();
    this.cancelAll();
    const { bid, ask, lots, leverage } = this.choices.quotes(direction);
    ring.order(bidder, LONG, LIMIT_ORDER, bid, lots, leverage);
    ring.order(asker, SHORT, LIMIT_ORDER, ask, lots, leverage);
    if (this.habits.pauses && random.chance(0.5)) ring.sleepsUntil(ring.now + 150_000);
    const seconds = random.pick([1, 10, 40]);
    for (let i = 0; i < seconds; i++) ring.tick(5);
  }

  wait(): void {
    const { ring, random } = this;
    const ticks = random.int(1, 5);
    for (let i = 0; i < ticks; i++) ring.tick(random.pick([1, 1, 5]));
  }

  /** To the next whole hour, with or without quotes that set its rate. */
  hour(): void {
    const { ring, random } = this;
    if (random.chance(0.5)) this.push();
    if (this.outage()) ring.passesHour(true);
    ring.passesHour(false);
    if (random.chance(0.5)) this.cancelAll();
  }

  /** One side is opened at the mark's edge and worn down by funding to where it falls. */
  worn(): void {
    const { ring, random } = this;
    const direction = random.pick([1, -1]);
    this.push(direction);
    this.cancelAll();
    const payer = this.opensAtEdge(direction);
    for (let i = 0; i < 8 && ring.lotsOf(payer) !== 0; i++) {
      this.push(direction);
      if (this.outage()) ring.passesHour(true);
      ring.passesHour(false);
    }
    this.push(-direction);
    this.cancelAll();
    this.meetBackstop();
  }

  /** Open at one edge of the mark, push it to the other so that somebody is liquidated. */
  squeeze(): void {
    const direction = this.random.pick([1, -1]);
    this.push(direction);
    this.cancelAll();
    this.opensAtEdge(direction);
    this.push(-direction);
    this.cancelAll();
    this.meetBackstop();
  }

  /** A member opens at the mark with as little margin as allowed, with a solid accomplice. */
  private opensAtEdge(direction: number): number {
    const { ring, random } = this;
    const [victim, other] = this.choices.two();
    const [tier] = ring.market.config.tiers;
    const most = tier!.maxLeverage;
    const richest = Math.min(ring.walletOf(victim) * most, ring.walletOf(other) * 3);
    const notional = Math.min(richest * 0.6, tier!.upToMicros) * random.pick([1, 1, random.next()]);
    const lots = Math.max(1, Math.floor(notional / (ring.mark * ring.market.microsPerTickLot)));
    const steep = random.pick([most, most, most - 1, Math.ceil(most * 0.8)]);
    const [buyer, seller] = direction > 0 ? [victim, other] : [other, victim];
    const leverages = direction > 0 ? ([steep, 3] as const) : ([3, steep] as const);
    ring.crosses(buyer, seller, ring.mark, lots, leverages, random.chance(0.5));
    return victim;
  }

  /** Somebody closes, alone or with an accomplice of the other side. */
  close(): void {
    const { ring, random } = this;
    const member = random.int(0, ring.terms.members - 1);
    const lots = ring.lotsOf(member);
    if (lots === 0) return;
    const side: Side = lots > 0 ? SHORT : LONG;
    const part = random.chance(0.6) ? Math.abs(lots) : random.int(1, Math.abs(lots));
    const price = this.choices.price();
    const other = random.int(0, ring.terms.members - 1);
    if (other !== member) {
      const back: Side = side > 0 ? SHORT : LONG;
      ring.order(other, back, LIMIT_ORDER, price, part, this.choices.leverage());
    }
    ring.order(member, side, LIMIT_ORDER, price, part, 10, random.chance(0.7));
  }

  market(): void {
    const { ring, random } = this;
    const member = random.int(0, ring.terms.members - 1);
    const side = random.pick<Side>([LONG, SHORT]);
    ring.order(member, side, MARKET_ORDER, 0, this.choices.size(), this.choices.leverage());
  }

  stop(): void {
    const { ring, random } = this;
    const member = random.int(0, ring.terms.members - 1);
    const side = random.pick<Side>([LONG, SHORT]);
    const price = ring.mark + side * Math.max(1, Math.floor(ring.mark * 0.004 * random.next()));
    ring.order(member, side, STOP_ORDER, price, this.choices.size(), this.choices.leverage());
  }

  /** An order exactly where the backstop would still trade, and a few ticks for it to do so. */
  meetBackstop(): void {
    const { ring, random } = this;
    const held = ring.market.backstopLots;
    if (held === 0) return;
    if (random.chance(0.5)) this.cancelAll();
    const side: Side = held > 0 ? LONG : SHORT;
    const entry = Math.abs(ring.market.backstopCost / held);
    const reach = side * Math.floor(ring.mark * 0.005);
    const price = random.pick([
      ring.mark - reach,
      ring.indexTicks,
      Math.round(entry),
      this.choices.price(),
    ]);
    const member = random.int(0, ring.terms.members - 1);
    ring.order(
      member,
      side,
      LIMIT_ORDER,
      Math.max(1, price),
      Math.abs(held),
      this.choices.leverage(),
    );
    const ticks = random.int(1, 20);
    for (let i = 0; i < ticks; i++) ring.tick();
  }

  cancel(): void {
    this.ring.cancels(this.random.int(0, this.ring.terms.members - 1));
  }

  /** Everybody out: pairs close against each other, the backstop is offered what it would take. */
  cashIn(): void {
    const { ring } = this;
    this.cancelAll();
    for (let round = 0; round < 6; round++) {
      this.meetBackstop();
      for (let member = 0; member < ring.terms.members; member++) {
        if (ring.lotsOf(member) !== 0) this.close();
      }
    }
    this.cancelAll();
    ring.tick();
  }

  /** Whether the index is away when the hour ends. */
  private outage(): boolean {
    return this.habits.outages && this.random.chance(0.3);
  }

  private cancelAll(): void {
    for (let member = 0; member < this.ring.terms.members; member++) this.ring.cancels(member);
  }
}
