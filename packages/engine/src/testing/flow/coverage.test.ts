/**
 * The flows must reach the rules: over the default seeds every refusal, every reason to end, every
 * kind of trade and the rarer rules occur. Otherwise agreement on them would mean nothing.
 */
import { describe, expect, test } from "vitest";
import { TRADE_KINDS } from "../../events/event-table.js";
import { END_REASONS, REFUSALS } from "../../reasons.js";
import { ReferenceVenue } from "../reference/venue.js";
import { Coverage } from "./coverage.js";
import { commands, FIRST_SEED } from "./flow.js";
import { PROFILE_NAMES } from "./profiles.js";

const COUNT = 12_000;

/** Deposits are not part of the reference. */
const UNREACHABLE_REFUSALS: readonly string[] = [
  "none",
  "deposit_kind_mismatch",
  "attestor_unknown",
  "deposit_unknown",
  "deposit_settled",
  "deposit_limit",
  "vote_outdated",
  "deposits_paused",
  "deposit_not_rejected",
  "deposit_not_reorged",
  "deposit_reorged",
  "too_many_unseen_deposits",
];
/** These stop only an arriving order, whose acknowledgement reports them. */
const UNREACHABLE_ENDS: readonly string[] = [
  "worst_price",
  "below_lot",
  "market_halted",
  "stale_index",
  // Deposits are not part of the reference.
  "deposit_reorged",
  // Of resting orders and stops: scenarios/order-size.test.ts.
  "session_order_cap_exceeded",
];

const RARE_RULES = [
  "acknowledged bankruptcy",
  "acknowledged band",
  "acknowledged below_lot",
  "acknowledged fill_limit",
  "acknowledged leverage_above_tier",
  "acknowledged not_in_cohort",
  "acknowledged open_interest_limit",
  "acknowledged session_notional_cap_exceeded",
  "acknowledged stale_index",
  "acknowledged book_empty",
  "acknowledged unfunded",
  "acknowledged worst_price",
  "acknowledged not_filled",
  "acknowledged margin_spent",
  "acknowledged self_trade",
  "acknowledged session_order_cap_exceeded",
  "rule expired in PlaceOrder",
  "rule expired in Tick",
  "rule fok canceled",
  "rule fok filled",
  "rule gtc resting",
  "rule ioc canceled",
  "rule ioc filled",
  "rule ioc pending",
  "rule size canceled",
  "rule size filled",
  "rule size pending",
  "rule size resting",
  "rule undone trade",
  "rule undone expired",
  "rule undone reduce_only",
  "rule undone self_trade",
  "rule undone unfunded",
  "event OrderReplayed",
  "event VenueConfigured",
  "event CashSettled",
  "event OrderReduced",
  "rule settled with a loss to winners",
  "rule market settled",
  "rule oldest session ended",
  "rule market halted",
  "rule market resumed",
  "event LossSocialised",
  "event IndexHeld",
  "rule a hold ends, far from the held index",
  "rule a hold ends, near the held index",
  "rule a hold goes on, far from the held index",
  "rule a hold goes on, near the held index",
  "rule backstop nets",
  "rule backstop opens",
  "rule backstop reduces",
  "rule backstop takes at a loss",
  "rule deleveraged although the fund has money",
  "rule backstop, then adl",
  "rule book, then backstop",
  "rule disconnected by CloseSession",
  "rule disconnected by Resume",
  "rule disconnected by SessionDisconnected",
  "rule disconnected by Tick",
  "rule disconnects carried over",
  "rule fund below zero",
  "rule funding, the backstop pays",
  "rule funding, the backstop receives",
  "rule funding paid",
  "rule funding received",
  "rule funding, longs pay",
  "rule funding, shorts pay",
  "rule amended in place",
  "rule amended order canceled",
  "rule amended order filled after trading",
  "rule amended order resting",
  "rule amended order resting after trading",
  "rule amended stop pending",
  "rule amended, then requested",
  "rule amendment replayed",
  "rule amendment refused: index_held",
  "rule amendment refused: insufficient_margin",
  "rule amendment refused: invalid_order",
  "rule amendment refused: leverage_above_tier",
  "rule amendment refused: market_reduce_only",
  "rule amendment refused: notional_limit",
  "rule amendment refused: post_only_would_cross",
  "rule amendment refused: session_notional_cap_exceeded",
  "rule amendment refused: session_order_cap_exceeded",
  "rule amendment refused: stale_index",
  "rule batch AmendOrder",
  "rule batch CancelOrder",
  "rule batch PlaceOrder",
  "rule batch continued",
  "rule batch refused invalid_command",
  "rule batch refused otherwise",
  "rule batch replayed",
  "rule liquidation fee",
  "rule liquidation interrupted",
  "rule liquidations wait",
  "rule change of margin replayed",
  "rule closing order outlives a liquidation",
  "rule closing order outlives deleveraging",
  "rule closing order triggered, lots are left",
  "rule closing order triggered, nothing to close",
  "rule closing order tried again, some lots closed",
  "rule closing order tried again, position closed",
  "rule two closing orders triggered in one tick",
  "rule stop-limit rests",
  "rule stop-limit rests in part: unfunded",
  "rule margin added",
  "rule margin removed",
  "rule margin not added: insufficient_margin",
  "rule margin not removed: index_held",
  "rule margin not removed: market_reduce_only",
  "rule margin not removed: stale_index",
  "rule option off",
  "rule option on",
  "rule partial liquidation",
  "rule partly filled, rests",
  "rule session expires",
  "rule session is closed",
  "rule several funding hours in a tick",
  "rule several rounds",
  "rule stops wait",
  "rule stops wait, the mark has moved back",
  "rule taker closes",
];

describe("the flows", () => {
  const total = new Coverage();
  for (const name of PROFILE_NAMES) {
    test(`${name}: the identity holds after every one of ${COUNT} commands`, () => {
      const venue = new ReferenceVenue();
      const coverage = new Coverage();
      for (const command of commands(name, FIRST_SEED, COUNT, venue)) {
        coverage.observe(command, venue.apply(command), venue.state);
      }
      // Trades are frequent: a flow that is mostly refused exercises little.
      expect(coverage.count("event Traded")).toBeGreaterThan(COUNT / 20);
      total.merge(coverage);
    });
  }

  test("the same seed gives the same commands", () => {
    const streams = [1, 1, 2].map((seed) => {
      const venue = new ReferenceVenue();
      let text = "";
      for (const command of commands("calm", seed, 500, venue)) {
        venue.apply(command);
        text += JSON.stringify(command);
      }
      return text;
    });
    expect(streams[0]).toBe(streams[1]);
    expect(streams[0]).not.toBe(streams[2]);
  });

  test("every rule occurs", () => {
    const wanted = [
      ...REFUSALS.filter((name) => !UNREACHABLE_REFUSALS.includes(name)).map((n) => `refused ${n}`),
      ...END_REASONS.filter((name) => !UNREACHABLE_ENDS.includes(name)).map((n) => `ended ${n}`),
      ...TRADE_KINDS.map((name) => `trade ${name}`),
      ...RARE_RULES,
    ];
    expect(wanted.filter((key) => total.count(key) === 0)).toEqual([]);
  });
});
