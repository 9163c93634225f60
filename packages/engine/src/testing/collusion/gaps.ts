/**
 * Rings in a venue whose index gaps by more than any maintenance, up to ±60 %, through the guard. They
 * hold both sides, know the gap, and try everything else that rings try.
 *
 * Asserted after every command, for the ring's gain over what it put in:
 *
 *     gain ≤ budget of the hours so far + what the mark took from the backstop's position
 *
 * The budget is the largest that the fund had, once for each hour begun. The last term is there
 * because the fund carries what it took over: if the mark then moves against it, no rule can undo
 * that. A ring that leaves the backstop no position before the gap has no such term: these are
 * counted apart as strict. Whenever an account is handed over, its margin is spent first.
 */

import { Random } from "@perpgate/protocol/random";
import { expect } from "vitest";
import { audit } from "../../audit.js";
import type { VenueEvent } from "../../events/event-table.js";
import { equityOf } from "../../money/fill.js";
import { NONE } from "../../state/orders.js";
import { Reached } from "./reached.js";
import { HOUR_MS, Ring, type RingTerms } from "./ring.js";
import { conspire } from "./schemes.js";
import type { World } from "./worlds.js";

const PPM = 1_000_000;
const STEPS = 12;

export interface GapResult {
  /** The ring's largest gain as a part of the fund's budget, over strict worlds. */
  worstStrict: number;
  worstName: string;
  /** The same over the other worlds, where the mark took from what the backstop carried. */
  worstCarried: number;
  strict: number;
  worlds: number;
  readonly reached: Reached;
}

export function newResult(): GapResult {
  const none = { worstStrict: 0, worstName: "", worstCarried: 0, strict: 0, worlds: 0 };
  return { ...none, reached: new Reached() };
}

export function tryGaps(where: World, seed: number, version: number, result: GapResult): void {
  const random = new Random(seed, `${where.name} gaps`);
  const terms: RingTerms = { ...where, members: random.int(2, 5), version };
  const name = `${where.name}:${seed}`;
  const book = new GapBook(terms, name, result.reached);
  const ring = new Ring(terms, (self, _command, events) => book.follow(self, events));
  if (random.chance(0.6)) straddles(ring, random);
  else conspire(ring, random, { ...HABITS, hours: random.chance(0.5), ...gapping(random) }, STEPS);
  for (let i = 0; i < 3; i++) ring.tick();
  expect(audit(ring.engine), name).toEqual([]);
  result.worlds++;
  if (book.adverse > 0) {
    result.worstCarried = Math.max(result.worstCarried, book.worst);
    return;
  }
  result.strict++;
  if (book.worst <= result.worstStrict) return;
  result.worstStrict = book.worst;
  result.worstName = name;
}

const HABITS = { hours: true, pauses: true, outages: false };

/** A random gap now and then, which the ring foresees. */
function gapping(random: Random) {
  let next = random.pick([-1, 1]);
  const index = (ring: Ring): void => {
    if (!random.chance(0.2)) return;
    gap(ring, next * random.pick([0.05, 0.1, 0.19, 0.3, 0.6]));
    next = random.pick([-1, 1]);
  };
  return { index, nextStep: () => next };
}

/** The index moves by that part and stays there; a held one is repeated until it is accepted. */
function gap(ring: Ring, part: number): void {
  const target = Math.max(1, Math.round(ring.market.index * (1 + part)));
  for (let i = 0; i < 20; i++) {
    ring.setsIndex(target);
    if (ring.market.index === target) break;
    ring.tick();
  }
  ring.tick();
}

/** Both sides at chosen leverages; then a gap that one of them cannot survive; once or more. */
function straddles(ring: Ring, random: Random): void {
  const rounds = random.int(1, 3);
  for (let round = 0; round < rounds; round++) {
    const direction = random.pick([1, -1]);
    for (let pair = random.int(1, 4); pair > 0; pair--) opensPair(ring, random, direction);
    const hours = random.pick([0, 0, 0, 1, 3]);
    for (let i = 0; i < hours; i++) ring.passesHour(false);
    gap(ring, -direction * (0.01 + 0.59 * random.next() ** 2));
    for (let i = random.int(0, 10); i > 0; i--) ring.tick(random.pick([1, 5]));
  }
}

/** The side that the gap goes against is opened with little margin, the other with more. */
function opensPair(ring: Ring, random: Random, direction: number): void {
  const { members } = ring.terms;
  const loser = random.int(0, members - 1);
  const winner = (loser + random.int(1, members - 1)) % members;
  const tiers = ring.market.config.tiers;
  const tier = random.pick(tiers);
  const steep = random.pick([tier.maxLeverage, tier.maxLeverage, random.int(1, tier.maxLeverage)]);
  const solid = random.int(1, Math.min(10, tier.maxLeverage));
  const most = Math.min(ring.walletOf(loser) * steep, ring.walletOf(winner) * solid) * 0.9;
  const notional = Math.min(most, tier.upToMicros) * random.pick([1, 1, random.next()]);
  const lots = Math.floor(notional / (ring.mark * ring.market.microsPerTickLot));
  if (lots < 1) return;
  const [buyer, seller] = direction > 0 ? [loser, winner] : [winner, loser];
  const leverages = direction > 0 ? ([steep, solid] as const) : ([solid, steep] as const);
  ring.crosses(buyer, seller, ring.mark, lots, leverages, random.chance(0.5));
}

/** What the fund and the ring have, command by command. */
class GapBook {
  /** Losses of the backstop's position by moves of the mark. */
  adverse = 0;
  /** The ring's largest gain so far, as a part of the budget. */
  worst = 0;
  private mark = 0;
  private lots = 0;
  private startMs = 0;
  private budget = 0;
  /** By account, before the command. */
  private readonly ownMoney: number[] = [];

  constructor(
    private readonly terms: RingTerms,
    private readonly name: string,
    private readonly reached: Reached,
  ) {}

  follow(ring: Ring, events: readonly VenueEvent[]): void {
    const { market, engine } = ring;
    this.reached.observe(events);
    const { fundLossPerHourPpm } = engine.state.config!;
    const unit = market.microsPerTickLot;
    const moved = this.mark === 0 ? 0 : this.lots * (market.mark - this.mark) * unit;
    if (moved < 0) this.adverse -= moved;
    this.mark = market.mark;
    this.lots = market.backstopLots;
    if (this.startMs === 0) this.startMs = ring.now;
    const position = market.backstopLots * market.markUnit - market.backstopCost;
    const worth = engine.state.totals.fund + position;
    this.budget = Math.max(this.budget, this.terms.seedMicros, worth);
    const hours = Math.floor((ring.now - this.startMs) / HOUR_MS) + 1;
    const allowed = (this.budget * fundLossPerHourPpm * hours) / PPM;
    const gain = gainOf(ring);
    this.worst = Math.max(this.worst, gain / allowed);
    if (gain > allowed + this.adverse) {
      const last = ring.story.slice(-12).map((each) => JSON.stringify(each));
      expect.fail(
        `ring ${this.name} at ${engine.seq} gains ${gain} micros; the budget of ${hours} h is ` +
          `${allowed}, moves of the mark took ${this.adverse}\n${last.join("\n")}`,
      );
    }
    this.checkMargins(ring, events);
    for (let account = 1; account < engine.state.accounts.rows; account++) {
      this.ownMoney[account] = moneyOf(ring, account);
    }
  }

  /** An account that was handed over gets nothing back: its margin was spent first. */
  private checkMargins(ring: Ring, events: readonly VenueEvent[]): void {
    const { positions } = ring.market;
    for (const event of events) {
      if (event.kind !== "Liquidated") continue;
      if (event.backstopLots + event.deleveragedLots === 0) continue;
      const { account } = event;
      // What it was paid as a maker in the same tick is its own.
      const isMaker = events.some(
        (each) => each.kind === "Traded" && each.makerAccount === account,
      );
      if (isMaker || positions.lots(positions.rowOf(account)) !== 0) continue;
      this.reached.add("handed over");
      const where = `${this.name} at ${ring.engine.seq}: account ${account}`;
      expect(moneyOf(ring, account), where).toBe(this.ownMoney[account]);
    }
  }
}

/** Wallet and what its orders reserve. */
function moneyOf({ market, engine }: Ring, account: number): number {
  const row = market.positions.rowOf(account);
  const reserved = row === NONE ? 0 : market.positions.reserved(row);
  return engine.state.wallet(account) + reserved;
}

/** What the members have, positions at mark, less what they put in. */
function gainOf(ring: Ring): number {
  const { market, engine, terms } = ring;
  let sum = 0;
  for (let member = 1; member <= terms.members; member++) {
    if (member >= engine.state.accounts.rows) continue;
    sum += engine.state.wallet(member) - terms.depositMicros;
    const row = market.positions.rowOf(member);
    if (row !== NONE) sum += equityOf(market, row) + market.positions.reserved(row);
  }
  return sum;
}
