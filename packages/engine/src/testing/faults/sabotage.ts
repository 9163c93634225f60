/**
 * Makes a part of the engine fail once, at its k-th call, without touching the engine's source: the
 * method is replaced on its prototype for as long as a command runs, and put back whatever happens.
 */

import { IntegerOverflow } from "@perpgate/protocol/integers";
import { MaintenanceSchedule } from "@perpgate/protocol/maintenance";
import { InvariantViolation } from "../../invariants.js";
import { FillPlan } from "../../money/fill.js";
import { Ladder } from "../../state/ladder.js";
import { Market, SUM_LOTS } from "../../state/market.js";
import { StopBook } from "../../state/stop-book.js";
import { Table } from "../../state/table.js";
import { VenueState } from "../../state/venue.js";

type Interrupt = (self: unknown, args: readonly unknown[]) => void;

/** One way to fail: where, and what then happens. */
export interface Sabotage {
  readonly name: string;
  /** Whether it changes a figure and goes on, so that only the check of the invariants finds it. */
  readonly isSilent?: boolean;
  /** Calls `onCall` before every call of the method while `run` runs. */
  during(onCall: Interrupt, run: () => void): void;
  /** What the k-th call does. */
  strike(self: unknown): void;
}

function replaced<T extends object, K extends keyof T>(
  owner: T,
  method: K,
  onCall: Interrupt,
  run: () => void,
): void {
  const original = owner[method];
  if (typeof original !== "function") throw new Error(`${String(method)} is not a method`);
  const define = (value: unknown): void => {
    Object.defineProperty(owner, method, { value, configurable: true, writable: true });
  };
  define(function (this: unknown, ...args: unknown[]): unknown {
    onCall(this, args);
    return Reflect.apply(original, this, args);
  });
  try {
    run();
  } finally {
    define(original);
  }
}

function overflowIn<T extends object, K extends keyof T>(
  name: string,
  owner: T,
  method: K,
): Sabotage {
  return {
    name: `an overflow in ${name}`,
    during: (onCall, run) => replaced(owner, method, onCall, run),
    strike: () => {
      throw new IntegerOverflow("injected");
    },
  };
}

export const SABOTAGES: readonly Sabotage[] = [
  overflowIn("Ladder.add", Ladder.prototype, "add"),
  overflowIn("Ladder.remove", Ladder.prototype, "remove"),
  overflowIn("Ladder.reduce", Ladder.prototype, "reduce"),
  overflowIn("StopBook.add", StopBook.prototype, "add"),
  overflowIn("StopBook.remove", StopBook.prototype, "remove"),
  overflowIn("FillPlan.plan", FillPlan.prototype, "plan"),
  overflowIn("FillPlan.apply", FillPlan.prototype, "apply"),
  overflowIn("MaintenanceSchedule.of", MaintenanceSchedule.prototype, "of"),
  overflowIn("VenueState.addMargin", VenueState.prototype, "addMargin"),
  overflowIn("VenueState.addWallet", VenueState.prototype, "addWallet"),
  {
    name: "a micro that appears in a wallet's total",
    isSilent: true,
    during: (onCall, run) => replaced(VenueState.prototype, "addWallet", onCall, run),
    strike: (self) => {
      if (!(self instanceof VenueState)) throw new Error("not a venue");
      self.totals.wallets += 1;
    },
  },
  {
    name: "a lot that appears in a market",
    isSilent: true,
    during: (onCall, run) => {
      // Not before the sum itself is written: that would put it right again.
      const beforeOthers: Interrupt = (self, args) => {
        if (args[0] !== SUM_LOTS) onCall(self, args);
      };
      replaced(Market.prototype, "set", beforeOthers, run);
    },
    strike: (self) => {
      if (!(self instanceof Market)) throw new Error("not a market");
      self.figures.touch(self.number);
      self.figures.data[self.base + SUM_LOTS] = self.sumLots + 1;
    },
  },
  {
    name: "a violation while a row is touched",
    during: (onCall, run) => {
      // Only rows of positions: those of a market that can be named.
      const onPositions: Interrupt = (self, args) => {
        if (self instanceof Table && self.market >= 0) onCall(self, args);
      };
      replaced(Table.prototype, "touch", onPositions, run);
    },
    strike: (self) => {
      if (!(self instanceof Table)) throw new Error("not a table");
      throw new InvariantViolation("wallet_negative", self.market);
    },
  },
];

/** How often the method is called by `run`. */
export function countCalls(sabotage: Sabotage, run: () => void): number {
  let calls = 0;
  sabotage.during(() => calls++, run);
  return calls;
}

/** Runs with a failure at the k-th call, once. */
export function strikeAt(sabotage: Sabotage, k: number, run: () => void): void {
  let calls = 0;
  sabotage.during((self) => {
    calls++;
    if (calls === k) sabotage.strike(self);
  }, run);
}
