/** One applied command with what can be said about it, and the shape of a check. */
import type { Command } from "../../commands.js";
import type { Engine } from "../../engine.js";
import type { EventKind, EventOf, VenueEvent } from "../../events/event-table.js";
import { REFUSALS } from "../../reasons.js";
import type { FillReplay } from "./fills.js";
import type { FundingRecord } from "./funding-record.js";
import type { WorkLimits } from "./limits.js";
import type { VenueRecord } from "./record.js";
import { FLAT, type PositionView, type View } from "./view.js";

export interface Step {
  readonly command: Command;
  readonly events: readonly VenueEvent[];
  readonly before: View;
  readonly after: View;
  readonly replay: FillReplay;
  readonly record: VenueRecord;
  readonly funding: FundingRecord;
  readonly limits: WorkLimits;
  /** Position of the command in the log. */
  readonly seq: number;
  /** For checks that try a command on a copy; must not be changed. */
  readonly engine: Engine;
}

/** A rule of the pages. `faults` returns a sentence for each violation. */
export interface Check {
  /** The sentence of the page, shortened; also the name of the test. */
  readonly rule: string;
  faults(step: Step): string[];
}

export function eventsOf<K extends EventKind>(
  events: readonly VenueEvent[],
  kind: K,
): EventOf<K>[] {
  const isOf = (event: VenueEvent): event is Extract<VenueEvent, { kind: K }> =>
    event.kind === kind;
  return events.filter(isOf) as unknown as EventOf<K>[];
}

/** Why the command was refused, or null. */
export function refusalOf({ events }: Pick<Step, "events">): string | null {
  const refused = eventsOf(events, "CommandRefused")[0];
  return refused === undefined ? null : REFUSALS[refused.refusal]!;
}

export function positionIn(view: View, market: number, account: number): PositionView {
  return view.markets[market]!.positions.get(account) ?? FLAT;
}

/** Value of one lot at the mark of that view, in micros. */
export function markUnit({ record }: Step, view: View, market: number): bigint {
  const { microsPerTickLot } = record.config.markets[market]!;
  return BigInt(view.markets[market]!.mark) * BigInt(microsPerTickLot);
}
