/**
 * Events for all traders: ticks, indexes, crashes, silent feeds, pauses, and operators.
 */

import type { Random } from "@perpgate/protocol/random";
import type { Command } from "../../commands.js";
import { type CohortStage, HOUR_MS, type VenueConfig } from "../../config.js";
import type { Market } from "../reference/state.js";
import type { ReferenceVenue } from "../reference/venue.js";
import type { Caps } from "./caps.js";
import type { Happening } from "./gateways.js";
import { indexUpdate } from "./index-feed.js";
import { FEW_TICKS } from "./listing.js";
import type { Profile } from "./profiles.js";
import type { Protection } from "./protection.js";
import type { Scenes } from "./scenes.js";
import type { Traders } from "./traders.js";

export class Weather {
  /** Until when a market's feed is silent. */
  private readonly silentUntil = new Map<number, number>();

  constructor(
    private readonly random: Random,
    private readonly profile: Profile,
    private readonly venue: ReferenceVenue,
    private readonly traders: Traders,
    private readonly scenes: Scenes,
    private readonly protection: Protection,
    private readonly caps: Caps,
    private readonly stamp: () => number,
  ) {}

  tick(): Command {
    const { random } = this;
    const last = this.venue.state.lastTick / 200;
    if (random.chance(0.01)) return { kind: "Tick", slot: last + random.pick([-1, 0, 6, 40]) };
    return { kind: "Tick", slot: last + (random.chance(0.1) ? random.int(2, 5) : 1) };
  }

  *slot(): Generator<Happening> {
    const { random, profile, scenes } = this;
    const { state } = this.venue;
    for (const market of state.markets) {
      if (random.chance(profile.silence)) {
        this.silentUntil.set(market.number, state.time + random.int(8_000, 25_000));
      }
      if (state.time < (this.silentUntil.get(market.number) ?? 0)) continue;
      if (random.chance(0.5)) yield this.walkIndex(market);
    }
    const market = random.pick(state.markets);
    if (random.chance(profile.crash)) yield* scenes.crash(market);
    if (profile.ownQuote > 0 && random.chance(profile.ownQuote)) yield* scenes.ownQuote(market);
    if (random.chance(profile.protection)) yield* this.protection.scene(market);
    if (random.chance(profile.caps)) yield* this.caps.scene(market);
    if (random.chance(profile.stopCluster)) yield* scenes.stopCluster(market);
    if (random.chance(profile.herd)) yield* scenes.herd(market);
    if (random.chance(profile.blackout)) yield* scenes.blackout(market);
    if (random.chance(profile.wall)) yield* scenes.wall(state.markets[0] ?? market);
    if (random.chance(profile.resume)) yield* this.pause();
    if (random.chance(profile.cohort) || (state.cohort !== "open" && random.chance(0.05))) {
      yield this.cohort();
    }
    if (random.chance(profile.configure)) yield this.configure();
    // What was stopped is soon looked at again: a flow without trades tests nothing.
    const urgency = market.status === "active" ? 1 : 4;
    if (profile.controls > 0 && random.chance(profile.controls * urgency)) {
      if (market.status === "active") yield* scenes.largeExits(market);
      yield this.control(market);
      if (market.status === "reduceOnly") yield* this.caps.growStops(market);
    }
    // A silence ends only when time passes.
    if (this.silentUntil.size > 0 && random.chance(profile.silence * 5)) {
      for (let at = 0; at < 12; at++) yield { kind: "Tick", slot: state.lastTick / 200 + 5 };
    }
  }

  private walkIndex(market: Market): Command {
    const { random, profile } = this;
    const start = profile.startIndex[market.number] ?? 30;
    const index = Number(market.index ?? BigInt(start));
    const noise = random.next() + random.next() + random.next() - 1.5;
    // A pull back to the start keeps a long run within the range that its tiers were made for.
    const pull = 0.01 * Math.log(start / index);
    const moved = index * (1 + (noise * 2 * profile.stepPpm) / 1e6 + pull);
    const jitter = index < 1_000 && random.chance(0.3) ? random.int(-1, 1) : 0;
    const indexTicks = Math.min(2 ** 30, Math.max(1, Math.round(moved) + jitter));
    const stampMs = this.stamp();
    if (random.chance(0.002)) {
      const [number, ticks] = random.pick([
        [99, 1],
        [market.number, 0],
        [market.number, 1.5],
        [market.number, 2 ** 33 + 1],
      ]);
      return indexUpdate(this.venue.state, stampMs, number ?? 0, ticks ?? 0);
    }
    const update = indexUpdate(this.venue.state, stampMs, market.number, indexTicks);
    return random.chance(0.01) ? { ...update, slot: update.slot - random.int(1, 3) } : update;
  }

  /** The writers were away: seconds, or hours with funding due. */
  private *pause(): Generator<Happening> {
    const { random } = this;
    const { state } = this.venue;
    const away = random.pick([random.int(0, 20_000), HOUR_MS, random.int(0, 4 * HOUR_MS)]);
    const stampMs = state.time + (random.chance(0.05) ? -5_000 : away);
    yield { kind: random.chance(0.3) ? "AskTime" : "Restart", stampMs };
    for (const market of state.markets) if (random.chance(0.8)) yield this.walkIndex(market);
    yield this.tick();
  }

  private cohort(): Command {
    const { random, traders } = this;
    const stage: CohortStage = random.pick(["open", "open", "open", "allowlist", "closed"]);
    const some = (): string[] =>
      traders.all.filter(() => random.chance(0.3)).map((trader) => trader.address);
    return {
      kind: "SetCohort",
      ...this.operatorTimes(),
      stage,
      allow: some(),
      disallow: random.chance(0.3) ? some() : [],
    };
  }

  /** A control of a market; settled for good while others are left. */
  private control(market: Market): Command {
    const { random } = this;
    const left = this.venue.state.markets.filter(({ settlement }) => settlement === null).length;
    // One by one over the flow, so that most of it trades.
    const settled = this.venue.state.markets.length - left;
    const isTime = left > 2 && this.venue.state.position > 2_000 * (settled + 1);
    const action = random.weighted({
      reduceOnly: 6,
      halt: 3,
      resume: market.status === "active" ? 1 : 12,
      settle: isTime && market.bids.length + market.asks.length > 0 ? 30 : 0,
    });
    const number = random.chance(0.02) ? 99 : market.number;
    const price = Math.round(Number(market.mark) * (0.4 + 1.2 * random.next()));
    const wrong = random.chance(0.1) ? random.pick([0, 1.5, -3, 2 ** 53 - 1]) : price;
    const priceTicks = action === "settle" ? wrong : 0;
    return {
      kind: "ControlMarket",
      ...this.operatorTimes(),
      market: number,
      action,
      priceTicks,
    };
  }

  /** One in seven has expired. */
  private operatorTimes(): { stampMs: number; expiresAtMs: number } {
    const { position, time } = this.venue.state;
    const stampMs = this.stamp();
    return { stampMs, expiresAtMs: position % 7 === 0 ? time - 1 : stampMs + 60_000 };
  }

  /** Other fees, tiers and limits, a new market, or a configuration that cannot be taken. */
  private configure(): Command {
    const { random, profile } = this;
    const { state } = this.venue;
    const part = random.pick([1, 1, 1, 2]);
    const markets = state.config.markets.map((market, number) => ({
      ...market,
      takerFeePpm: random.pick([500, 500, 900, 0]),
      makerFeePpm: random.pick([200, 200, 700, 0]),
      tiers: (profile.config.markets[number] ?? FEW_TICKS.config).tiers.map((tier) => {
        return { ...tier, upToMicros: tier.upToMicros / part };
      }),
    }));
    const config: VenueConfig = {
      ...state.config,
      markets,
      maxOpenOrders: random.pick([profile.config.maxOpenOrders, 3]),
    };
    // One listing in three raises a limit, too, and is refused.
    const raised = state.position % 3 === 0 ? 1 : 0;
    const backstopCapMicros = config.backstopCapMicros + raised;
    const added = { ...FEW_TICKS.config, symbol: `NEW${markets.length}USD` };
    const wrong: VenueConfig[] = [
      { ...config, fundSeedMicros: config.fundSeedMicros + 1 },
      { ...config, markets: markets.slice(1) },
      { ...config, attestorKind: "chain" },
    ];
    const kind = random.weighted({ parameters: 6, listing: 2, wrong: 2 });
    const full = markets.length > profile.config.markets.length + 1;
    const times = this.operatorTimes();
    if (kind === "wrong") return { kind: "Configure", ...times, config: random.pick(wrong) };
    if (kind === "parameters" || full) return { kind: "Configure", ...times, config };
    return {
      kind: "Configure",
      ...times,
      config: { ...config, backstopCapMicros, markets: [...markets, added] },
    };
  }
}
