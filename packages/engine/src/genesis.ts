/** Genesis, Configure and Upgrade: how a venue begins, and how its parameters and rules change. */
import type { MarginTier } from "@perpgate/protocol/maintenance";
import type { Configure, Genesis, Upgrade } from "./commands.js";
import { configFault, HOUR_MS, raisedLimit, type VenueConfig } from "./config.js";
import { emit } from "./events/event-log.js";
import { rebuildWatches } from "./money/watch.js";
import { recomputeReserves } from "./orders/settle.js";
import { fixLots } from "./orders/trigger.js";
import { REFUSAL } from "./reasons.js";
import { refuse } from "./refuse.js";
import { accountsOf } from "./sessions/disconnect.js";
import { lineUpStops } from "./snapshot/rebuild.js";
import { NONE } from "./state/id-index.js";
import { Market } from "./state/market.js";
import type { VenueState } from "./state/venue.js";
import { COHORT_STAGES } from "./state/venue-tables.js";
import { type RuleSet, ruleSetOf } from "./versions.js";
import { strandsWithdrawals } from "./withdrawals/attest.js";

export function applyGenesis(s: VenueState, command: Genesis): boolean {
  if (s.config !== null) return refuse(s, REFUSAL.already_started);
  const rules = ruleSetOf(s.ruleSets, command.engineVersion);
  if (configFault(command.config) !== null || !mayHave(rules, command.config)) {
    return refuse(s, REFUSAL.configuration_invalid);
  }
  s.rules = rules;
  s.cohort = COHORT_STAGES.indexOf(command.cohort);
  adopt(s, command.config);
  const { fundSeedMicros } = command.config;
  s.totals.fund = fundSeedMicros;
  s.totals.deposits = fundSeedMicros;
  s.totals.nextFundingMs = (Math.floor(s.timeMs / HOUR_MS) + 1) * HOUR_MS;
  s.totals.openBlock(1, 1);
  emit.VenueStarted(s.events, { timeMs: s.timeMs, fundMicros: fundSeedMicros });
  return true;
}

/**
 * Adopts new parameters, and recomputes what depends on those that changed: the reserves of a market's
 * resting orders on its maker fee, the watches of its positions on its tiers.
 */
export function applyConfigure(s: VenueState, command: Configure): boolean {
  const { config } = command;
  if (configFault(config) !== null || !isContinuation(s, config) || !mayHave(s.rules, config)) {
    return refuse(s, REFUSAL.configuration_invalid);
  }
  if (config.markets.length > s.markets.length && raisedLimit(s.config!, config) !== null) {
    return refuse(s, REFUSAL.configuration_raises_and_lists);
  }
  if (strandsWithdrawals(s, command)) return refuse(s, REFUSAL.withdrawals_open);
  const before = s.config!.markets;
  adopt(s, config);
  emit.VenueConfigured(s.events, { markets: config.markets.length });
  before.forEach((old, number) => {
    const market = s.markets[number]!;
    // Other tiers change the liquidation price of every position.
    if (!areEqual(old.tiers, market.config.tiers)) rebuildWatches(market);
    if (old.makerFeePpm === market.config.makerFeePpm) return;
    // Halted markets too: orders rest there, are canceled, and trade again after a resume.
    s.focus = number;
    for (const row of market.positions.rowsWithOrders()) recomputeReserves(s, market, row);
  });
  return true;
}

function mayHave({ hasWithdrawals }: RuleSet, { withdrawals }: VenueConfig): boolean {
  return hasWithdrawals || withdrawals === undefined;
}

function areEqual(tiers: readonly MarginTier[], others: readonly MarginTier[]): boolean {
  if (tiers.length !== others.length) return false;
  return tiers.every(({ upToMicros, maxLeverage, maintenancePpm }, place) => {
    const other = others[place]!;
    return (
      other.upToMicros === upToMicros &&
      other.maxLeverage === maxLeverage &&
      other.maintenancePpm === maintenancePpm
    );
  });
}

/** Returns to the parameters of before a command that failed; markets that it has listed stay. */
export function recall(s: VenueState, config: VenueConfig | null): void {
  if (config === null || config === s.config) return;
  s.config = config;
  for (const [number, market] of config.markets.entries()) s.markets[number]!.configure(market);
}

/**
 * Activates the next version of the rules, if all live writers can read it. A version that only this
 * release does not know is no refusal: the others execute the command, so the process must stop.
 */
export function applyUpgrade(s: VenueState, { version }: Upgrade): boolean {
  // Before the version is looked up: a release that does not know it must go on, too.
  const lacking = s.writers.live.find(
    ({ versions: [oldest, newest] }) => version < oldest || version > newest,
  );
  if (lacking !== undefined) return refuse(s, REFUSAL.writer_lacks_version, lacking.number);
  const rules = ruleSetOf(s.ruleSets, version);
  const current = s.rules.version;
  if (version !== current + 1) return refuse(s, REFUSAL.version_not_next, current);
  s.rules = rules;
  if (version === 3) enterVersion3(s);
  emit.EngineUpgraded(s.events, { version });
  return true;
}

/** Adapts a state of version 2 to the rules of version 3. */
function enterVersion3(s: VenueState): void {
  // The ticks of this hour that had no sample were not counted.
  for (const market of s.markets) market.premiumTicks = market.premiumCount;
  s.ends.reindex(s.carriedDisconnects);
  s.ends.add(accountsOf(s.carriedDisconnects));
  lineUpStops(s);
  fixTriggered(s);
}

/** Stops that were triggered and have not closed their position keep to its present lots. */
function fixTriggered(s: VenueState): void {
  const ids: number[] = [];
  for (const { stopLines } of s.markets) {
    stopLines.forEachTriggered((order) => ids.push(s.orders.id(order)));
  }
  for (const id of ids.sort((a, b) => a - b)) {
    const order = s.orders.index.get(id);
    if (order !== NONE) fixLots(s, s.markets[s.orders.market(order)]!, order);
  }
}

/** Lists the configured markets that are new and updates those that are listed. */
export function adopt(s: VenueState, config: VenueConfig): void {
  s.config = config;
  config.markets.forEach((market, number) => {
    const listed = s.markets[number];
    if (listed !== undefined) {
      listed.configure(market);
      return;
    }
    s.figures.append();
    s.markets.push(new Market(number, market, s.figures, s.orders, s.undo, s.seed));
  });
}

/** Whether nothing differs that must not change during a venue's life. */
function isContinuation(s: VenueState, config: VenueConfig): boolean {
  const current = s.config!;
  return (
    config.fundSeedMicros === current.fundSeedMicros &&
    config.attestorKind === current.attestorKind &&
    current.markets.every((market, number) => {
      const next = config.markets[number];
      return (
        next !== undefined &&
        next.symbol === market.symbol &&
        next.microsPerTickLot === market.microsPerTickLot
      );
    })
  );
}
