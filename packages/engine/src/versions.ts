/**
 * The versions of the engine's rules. Genesis records the version that a venue begins under, and
 * `Upgrade` activates the next one at its position in the log; older positions replay under the older
 * rules. Rules that differ between versions are read from here, through `VenueState.rules`, and from
 * nowhere else.
 *
 * Append only: a rule set never changes once a log was written under it.
 */
import {
  ENDS_PER_MAKER,
  FREE_PLACES,
  LIQUIDATION_CANCELS_PER_COMMAND,
  LIQUIDATION_FEE_PPM,
  LIQUIDATIONS_AND_STOPS_PER_COMMAND,
  STOP_STEPS_PER_TICK,
  STOPS_PER_TICK_AND_MARKET,
  UNITS_FOR_OVER,
  UNITS_PER_COMMAND,
  UNITS_PER_FIRST_TURN,
  UNITS_PER_TICK,
  UNITS_PER_TURN,
} from "./config.js";
import { UNITS_PER_MAKER } from "./work.js";

export interface RuleSet {
  readonly version: number;
  /** Of the notional that a liquidation closes in the book; goes to the fund. */
  readonly liquidationFeePpm: number;
  /** Work units of a command; of a tick, in all and in each market (work.ts). */
  readonly unitsPerCommand: number;
  readonly unitsPerTick: number;
  readonly unitsPerTickAndMarket: number;
  /** Next to these, in a command or tick, for makers that are over: they count against nobody else. */
  readonly unitsForOver: number;
  /** Of the first turn of a liquidation or stop in a tick's service, and of the later ones. */
  readonly unitsPerFirstTurn: number;
  readonly unitsPerTurn: number;
  /** Whether one that reached the units of its turn goes behind the others. */
  readonly takesTurns: boolean;
  /** Of an order that a command or tick ends or triggers; of one that something else ends; that it moves. */
  readonly unitsPerCancel: number;
  readonly unitsPerEnd: number;
  /** Of a stop that a tick triggers, and of a turn of a liquidation, also if it meets nobody. */
  readonly unitsPerService: number;
  readonly unitsPerMove: number;
  /** For each unit of a fill-or-kill order that is undone. */
  readonly unitsPerUnitUndone: number;
  /** Orders that `settle` ends and that count as a maker, in each turn apart; Infinity: moves count. */
  readonly endsPerMaker: number;
  /** Whether commands report their work units. */
  readonly reportsWork: boolean;
  /** In what the state keeps the work that is left to a batch: makers in version 2, units after it. */
  readonly unitsPerBatchWork: number;
  /** At most `LIQUIDATIONS_AND_STOPS_PER_COMMAND`. */
  readonly liquidationsAndStopsPerCommand: number;
  /** Orders of liquidated accounts after whose cancels a command begins no further liquidation. */
  readonly liquidationCancelsPerCommand: number;
  /** Whether accounts take turns in having orders ended that are over, and these never fill. */
  readonly endsInRounds: boolean;
  /** Whether pending stops wait in lines (state/stop-lines.ts), and how many of a market a tick serves. */
  readonly stopLines: boolean;
  readonly stopsPerTickAndMarket: number;
  /** Triggered stops of a market and side that a tick looks at in order to try some of them again. */
  readonly looksAgainPerTick: number;
  /** Whether the hour's premium is averaged over all live ticks, or over those with a deep book only. */
  readonly averagesAllTicks: boolean;
  /** Whether the mark's average takes a mid of deep sides only, and at most 1 % from the index. */
  readonly boundsMid: boolean;
  /** Whether a triggered stop that closes its position has the lots of that moment, which only shrink. */
  readonly fixesTriggeredLots: boolean;
  /** Whether orders may have exits attached. */
  readonly hasExits: boolean;
  /** Whether the backstop holds no more than the loss budget covers, and never trades beyond the index. */
  readonly sheltersFund: boolean;
  /** Whether deleveraging takes from all winners in proportion to their profit, or from the first by rank. */
  readonly deleveragesInProportion: boolean;
  /** Whether steep leverage is refused where the fund is small for it, or open interest near its bound. */
  readonly limitsLeverage: boolean;
  /** Open orders of an account in all markets that need no equity. */
  readonly freePlaces: number;
  /** Whether orders wait until a tick has served the liquidations of a jump. */
  readonly settlesJumps: boolean;
  /** Whether money can be withdrawn. */
  readonly hasWithdrawals: boolean;
  /** Whether one core may lead: from then on the log has its batches alone (writers/leader.ts). */
  readonly hasLeader: boolean;
  /** Whether cancels of one order are leaves of their block, as orders are. */
  readonly sealsCancels: boolean;
  /** Whether an unsigned request that is sent again is executed once (requests.ts). */
  readonly keepsRequests: boolean;
}

/** Release 0.2.0-testnet; frozen. Version 1 was release 0.1, whose logs do not record a version. */
const VERSION_2: RuleSet = {
  version: 2,
  liquidationFeePpm: LIQUIDATION_FEE_PPM,
  unitsPerCommand: UNITS_PER_COMMAND,
  unitsPerTick: UNITS_PER_COMMAND,
  unitsPerTickAndMarket: UNITS_PER_COMMAND,
  unitsForOver: 0,
  unitsPerFirstTurn: Number.POSITIVE_INFINITY,
  unitsPerTurn: Number.POSITIVE_INFINITY,
  takesTurns: false,
  unitsPerCancel: 0,
  unitsPerEnd: 0,
  unitsPerService: 0,
  unitsPerMove: 0,
  unitsPerUnitUndone: 0,
  endsPerMaker: ENDS_PER_MAKER,
  reportsWork: false,
  unitsPerBatchWork: UNITS_PER_MAKER,
  liquidationsAndStopsPerCommand: LIQUIDATIONS_AND_STOPS_PER_COMMAND,
  liquidationCancelsPerCommand: LIQUIDATION_CANCELS_PER_COMMAND,
  endsInRounds: false,
  stopLines: false,
  stopsPerTickAndMarket: LIQUIDATIONS_AND_STOPS_PER_COMMAND,
  looksAgainPerTick: Number.POSITIVE_INFINITY,
  averagesAllTicks: false,
  boundsMid: false,
  fixesTriggeredLots: false,
  hasExits: false,
  sheltersFund: false,
  deleveragesInProportion: false,
  limitsLeverage: false,
  freePlaces: Number.POSITIVE_INFINITY,
  settlesJumps: false,
  hasWithdrawals: false,
  hasLeader: false,
  sealsCancels: false,
  keepsRequests: false,
};

/** Release 0.3.0-testnet. It may change until that release. */
const VERSION_3: RuleSet = {
  ...VERSION_2,
  version: 3,
  endsInRounds: true,
  unitsPerTick: UNITS_PER_TICK,
  unitsForOver: UNITS_FOR_OVER,
  unitsPerFirstTurn: UNITS_PER_FIRST_TURN,
  unitsPerTurn: UNITS_PER_TURN,
  takesTurns: true,
  // The units of a turn bound them.
  liquidationCancelsPerCommand: Number.POSITIVE_INFINITY,
  unitsPerCancel: UNITS_PER_MAKER,
  unitsPerEnd: 2,
  unitsPerService: 2 * UNITS_PER_MAKER,
  unitsPerMove: 1,
  unitsPerUnitUndone: 1,
  endsPerMaker: Number.POSITIVE_INFINITY,
  reportsWork: true,
  unitsPerBatchWork: 1,
  stopLines: true,
  stopsPerTickAndMarket: STOPS_PER_TICK_AND_MARKET,
  looksAgainPerTick: STOP_STEPS_PER_TICK / 2,
  averagesAllTicks: true,
  boundsMid: true,
  fixesTriggeredLots: true,
  hasExits: true,
  sheltersFund: true,
  deleveragesInProportion: true,
  limitsLeverage: true,
  freePlaces: FREE_PLACES,
  settlesJumps: true,
  hasWithdrawals: true,
  hasLeader: true,
  sealsCancels: true,
  keepsRequests: true,
};

/** The rule sets that this release knows, ascending without gaps. */
export const RULE_SETS: readonly RuleSet[] = [VERSION_2, VERSION_3];

/** The newest version that this release knows: new venues begin under it. */
export const ENGINE_VERSION = latestVersion(RULE_SETS);

function latestVersion(sets: readonly RuleSet[]): number {
  return sets.at(-1)?.version ?? 0;
}

/** The log needs rules, or has a command, that this release does not know: it must not be applied. */
export class UnknownToRelease extends Error {
  override readonly name = "UnknownToRelease";
}

/**
 * The rules of the version that the log names.
 *
 * @throws UnknownToRelease if this release does not know it; the message names both versions.
 */
export function ruleSetOf(sets: readonly RuleSet[], version: number | undefined): RuleSet {
  const rules = sets.find((each) => each.version === version);
  if (rules !== undefined) return rules;
  const known = knownVersions(sets);
  if (version === undefined) {
    throw new UnknownToRelease(
      `the log was begun by release 0.1, engine version 1, and this release knows ${known}; ` +
        "a venue of 0.1 cannot be continued: begin a new data folder",
    );
  }
  throw new UnknownToRelease(
    `the log needs engine version ${version}, and this release knows ${known}; ` +
      "run a release that knows it",
  );
}

/** For messages. */
export function knownVersions(sets: readonly RuleSet[]): string {
  const versions = sets.map(({ version }) => version);
  return `engine version${versions.length === 1 ? "" : "s"} ${versions.join(", ")}`;
}
