/**
 * Rings next to honest accounts on both sides, over an hour in which the index moves as it suits the
 * ring, by up to 20 % at a time. What is counted is what anybody loses that did not take the risk: the
 * fund, with the backstop's position at mark, and accounts that are deleveraged at a price worse than the
 * mark of that moment. What an honest position loses by moves of the mark is its own risk; so is what the
 * ring wins by a position that nothing covers. A ring's gain is at most what the others lose so.
 */
import type { MarginTier } from "@perpgate/protocol/maintenance";
import { Random } from "@perpgate/protocol/random";
import { LIMIT_ORDER, LONG, SHORT, type Side } from "../../commands.js";
import { TRADE_ADL, type VenueEvent } from "../../events/event-table.js";
import { equityOf } from "../../money/fill.js";
import { NONE } from "../../state/orders.js";
import { BTC } from "../scenarios/listing.js";
import { Ring } from "./ring.js";

const USD = 1e6;
export const FUND = 1_000_000;
const MEMBERS = 12;
/** Honest winners, and as many honest losers. */
const HONEST = 8;

/** What a ring does, and what the index does to it; all parts are drawn at random and then improved. */
export interface Plan {
  /** Of the honest side that wins, in dollars; their leverage. */
  readonly honest: number;
  readonly honestLeverage: number;
  /** Of the ring, on each side; the leverage of the side that loses, and of the other. */
  readonly ring: number;
  readonly steep: number;
  readonly solid: number;
  /** How far honest winners were in profit before the ring came. */
  readonly earlier: number;
  /** Parts by which the index moves, against the steep side; the last may be back. */
  readonly moves: readonly number[];
  /** Whether winners are passed on to fresh accounts between an index and its tick. */
  readonly hides: boolean;
  /** Whether the losing side is opened again after each move. */
  readonly reopens: boolean;
  /** Whether they offer the backstop what it would take, between moves. */
  readonly meets: boolean;
}

export interface Outcome {
  /** In dollars: the ring's gain, what of it the fund lost, and what honest accounts did. */
  readonly gain: number;
  readonly fund: number;
  readonly honest: number;
}

/** What the ring gains of what others lose that did not take the risk. */
export function taken({ gain, fund, honest }: Outcome): number {
  return Math.max(0, Math.min(gain, Math.max(0, fund) + Math.max(0, honest)));
}

/** What a search looks for: what the fund loses, or all that the ring takes. */
export const OBJECTIVES = { fund: ({ fund }: Outcome) => fund, all: taken };
export type Objective = keyof typeof OBJECTIVES;

/** What everybody trades under. */
export interface Rules {
  readonly version: number;
  readonly tiers: readonly MarginTier[];
}

/** Those of a version, with the default tiers. */
export function rulesOf(version: number): Rules {
  return { version, tiers: BTC.config.tiers };
}

export function execute(plan: Plan, rules: Rules): Outcome {
  return new Hour(plan, rules).run();
}

class Hour {
  private readonly ring: Ring;
  private readonly start: number;
  private haircut = 0;
  private fresh = MEMBERS / 2;

  constructor(
    private readonly plan: Plan,
    private readonly rules: Rules,
  ) {
    const { tiers, version } = rules;
    const terms = {
      listing: { ...BTC, config: { ...BTC.config, tiers, maxOpenInterestMicros: 2e15 } },
      members: MEMBERS,
      bystanders: 2 * HONEST,
      depositMicros: 200_000_000 * USD,
      seedMicros: FUND * USD,
      capMicros: 5 * FUND * USD,
      indexTicks: 500_000,
      version,
    };
    this.ring = new Ring(terms, (_ring, _command, events) => this.observe(events));
    this.opensHonest();
    this.ring.tick();
    this.start = this.membersAtMark();
  }

  run(): Outcome {
    const { plan, ring } = this;
    this.opens(plan.ring);
    for (const move of plan.moves) {
      // The guard compares with ten seconds.
      for (let i = 0; i < 3; i++) ring.tick(5);
      if (plan.meets) this.meets();
      ring.sleepsUntil(ring.now + 11_000);
      ring.tick();
      ring.setsIndex(Math.max(1, Math.round(ring.market.index * (1 + move))));
      if (plan.hides) this.hides();
      for (let i = 0; i < 4; i++) ring.tick();
      if (plan.reopens) this.opens(plan.ring / plan.moves.length);
    }
    ring.tick();
    const { market, engine } = ring;
    const backstop = market.backstopLots * market.markUnit - market.backstopCost;
    return {
      gain: (this.membersAtMark() - this.start) / USD,
      fund: FUND - (engine.state.totals.fund + backstop) / USD,
      honest: this.haircut / USD,
    };
  }

  /** Honest winners and losers hold against each other, and do nothing more. */
  private opensHonest(): void {
    const { plan, ring } = this;
    const side: Side = plan.moves[0]! < 0 ? SHORT : LONG;
    if (plan.earlier > 0) ring.setsIndex(Math.round(500_000 * (1 - side * plan.earlier)));
    for (let i = 0; i < HONEST; i++) {
      const [winner, loser] = [MEMBERS + i, MEMBERS + HONEST + i];
      const lots = this.lots(plan.honest / HONEST);
      this.cross(side, winner, loser, lots, plan.honestLeverage, 1);
    }
    if (plan.earlier === 0) return;
    // Back in steps that the guard takes.
    const steps = Math.ceil(plan.earlier / 0.1);
    for (let i = 1; i <= steps; i++) {
      ring.tick(5);
      ring.sleepsUntil(ring.now + 11_000);
      ring.setsIndex(Math.round(500_000 * (1 - side * plan.earlier * (1 - i / steps))));
    }
  }

  /** Pairs of members, the losing side in as many accounts as its tier wants. */
  private opens(dollars: number): void {
    const { plan, ring } = this;
    const side: Side = plan.moves[0]! < 0 ? SHORT : LONG;
    const tier = this.rules.tiers.findLast((each) => each.maxLeverage >= plan.steep)!;
    const pairs = MEMBERS / 2 - 1;
    const each = Math.min(dollars / pairs, (0.95 * tier.upToMicros) / USD);
    for (let i = 0; i < pairs; i++) {
      this.cross(side, 0, 1 + i, this.lots(each), plan.solid, plan.steep);
      if (ring.lotsOf(0) === 0) return;
    }
  }

  /** One buys or sells from the other at the mark. */
  private cross(
    side: Side,
    winner: number,
    loser: number,
    lots: number,
    solid: number,
    steep: number,
  ): void {
    const { ring } = this;
    if (side === SHORT) ring.crosses(loser, winner, ring.mark, lots, [steep, solid], true);
    else ring.crosses(winner, loser, ring.mark, lots, [solid, steep], true);
    for (const each of [winner, loser]) ring.cancels(each);
  }

  /** The winner leaves its position to a fresh account with as little margin as it may have. */
  private hides(): void {
    const { ring } = this;
    const held = ring.lotsOf(0);
    if (held === 0) return;
    const back: Side = held > 0 ? SHORT : LONG;
    const parts = MEMBERS - this.fresh;
    for (let i = this.fresh; i < MEMBERS; i++) {
      const lots = Math.ceil(Math.abs(held) / parts);
      ring.order(i, held > 0 ? LONG : SHORT, LIMIT_ORDER, ring.mark, lots, 25);
      ring.order(0, back, LIMIT_ORDER, ring.mark, lots, 1, true);
      ring.cancels(i);
    }
  }

  private meets(): void {
    const { ring } = this;
    const held = ring.market.backstopLots;
    if (held === 0) return;
    const entry = Math.round(Math.abs(ring.market.backstopCost / held));
    const side: Side = held > 0 ? LONG : SHORT;
    for (const price of [entry, ring.indexTicks]) {
      ring.order(0, side, LIMIT_ORDER, price, Math.abs(held), 1);
      for (let i = 0; i < 3; i++) ring.tick();
      ring.cancels(0);
    }
  }

  private lots(dollars: number): number {
    return Math.max(1, Math.floor((dollars * USD) / this.ring.market.markUnit));
  }

  /** What honest accounts lack against the mark when they are deleveraged; less where they gain. */
  private observe(events: readonly VenueEvent[]): void {
    for (const event of events) {
      if (event.kind !== "Traded" || event.tradeKind !== TRADE_ADL) continue;
      if (event.makerAccount <= MEMBERS) continue;
      const { mark, microsPerTickLot } = this.ring.market;
      // The taker sells where longs are liquidated: the short that is closed pays the price.
      this.haircut += event.takerSide * (mark - event.priceTicks) * event.lots * microsPerTickLot;
    }
  }

  private membersAtMark(): number {
    const { market, engine } = this.ring;
    let sum = 0;
    for (let account = 1; account <= MEMBERS; account++) {
      sum += engine.state.wallet(account);
      const row = market.positions.rowOf(account);
      if (row !== NONE) sum += equityOf(market, row) + market.positions.reserved(row);
    }
    return sum;
  }
}

/** The schemes that are tried, each with what it fixes of a plan. */
export const SCHEMES: Readonly<Record<string, (random: Random) => Partial<Plan>>> = {
  "one gap": (random) => ({ moves: [-0.2 * random.next()], hides: false, reopens: false }),
  "handed over, then a gap": (random) => ({
    moves: [-0.0115, -0.2 * random.next()],
    steep: 50,
    hides: false,
  }),
  "profits passed on before the tick": (random) => ({ moves: [-0.2 * random.next()], hides: true }),
  "gap after gap, opened again": (random) => ({
    moves: Array.from(
      { length: random.int(2, 6) },
      () => (random.chance(0.5) ? 0.2 : -0.2) * random.next(),
    ),
    reopens: true,
  }),
  "worn down, then a gap": (random) => ({
    moves: [-0.9 / random.pick([5, 6, 8, 10]), -0.2 * random.next()],
    steep: random.pick([5, 6, 8, 10]),
  }),
  "buying back from the backstop": (random) => ({
    moves: [-0.0115, 0.01 * random.next(), -0.2 * random.next()],
    steep: 50,
    meets: true,
  }),
};

export function draw(
  random: Random,
  honest: number,
  scheme: (random: Random) => Partial<Plan>,
  { tiers }: Rules,
): Plan {
  const plan = {
    honest,
    honestLeverage: random.pick([1, 2, 5, 10]),
    ring: 10 ** (6 + 2.3 * random.next()),
    steep: random.pick([50, 50, 25, 10]),
    solid: random.pick([1, 1, 2, 5]),
    earlier: random.pick([0, 0, 0, 0.3]),
    moves: [-0.2],
    hides: false,
    reopens: random.chance(0.3),
    meets: random.chance(0.3),
    ...scheme(random),
  };
  const most = tiers[0]!.maxLeverage;
  const { honestLeverage, steep, solid } = plan;
  return {
    ...plan,
    honestLeverage: Math.min(most, honestLeverage),
    steep: Math.min(most, steep),
    solid: Math.min(most, solid),
  };
}

/** Changes one figure of a plan a little. */
export function vary(plan: Plan, random: Random): Plan {
  const scale = 0.7 + 0.8 * random.next();
  const moves = plan.moves.map((move) => {
    return random.chance(0.5) ? move : Math.max(-0.2, Math.min(0.2, move * scale));
  });
  return random.pick([
    { ...plan, moves },
    { ...plan, ring: plan.ring * scale },
    { ...plan, solid: 1 },
  ]);
}

export interface Found {
  readonly plan: Plan;
  readonly outcome: Outcome;
}

/** The best of that number of plans of a scheme: half drawn, half by improving the best. */
export function search(
  name: string,
  objective: Objective,
  honest: number,
  rules: Rules,
  tries: number,
): Found {
  const random = new Random(honest, name);
  const score = OBJECTIVES[objective];
  let best: Found | null = null;
  for (let i = 0; i < tries; i++) {
    const plan: Plan =
      best === null || i < tries / 2
        ? draw(random, honest, SCHEMES[name]!, rules)
        : vary(best.plan, random);
    const outcome = execute(plan, rules);
    if (best === null || score(outcome) > score(best.outcome)) best = { plan, outcome };
  }
  return best!;
}
