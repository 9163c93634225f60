/**
 * Assertions about what a bot has done on a venue: for vitest and jest by `expect.extend(sandboxMatchers)`,
 * for node:test and anything else by `assertVenue(venue)`.
 */

import type { Fill, Order, Position } from "@perpgate/protocol";
import type { Session } from "@perpgate/sdk";
import type { SandboxVenue } from "./sandbox.js";

/** What must be so of one row; a field that is not given may be anything. */
export type Wanted<Row> = Partial<Pick<Row, Scalar<Row>>>;
type Scalar<Row> = {
  [Key in keyof Row]-?: Row[Key] extends string | number | boolean | null | undefined ? Key : never;
}[keyof Row];

interface Verdict {
  readonly pass: boolean;
  /** What was found, for a failure in either direction. */
  readonly message: () => string;
}

const ASSERTIONS = {
  /** The trader has a fill with these fields. */
  toHaveFilled: (_: SandboxVenue, trader: Session, wanted: Wanted<Fill> = {}) =>
    someOf("a fill", wanted, () => trader.fills({ limit: 1_000 })),
  /** The trader has an open order with these fields. */
  toHaveOpenOrder: (_: SandboxVenue, trader: Session, wanted: Wanted<Order> = {}) =>
    someOf("an open order", wanted, () => trader.openOrders()),
  /** The trader has a position with these fields. */
  toHavePosition: (_: SandboxVenue, trader: Session, wanted: Wanted<Position> = {}) =>
    someOf("a position", wanted, () => trader.positions()),
  /** Clients were refused with this code, as often as given. */
  toHaveRefused: async (venue: SandboxVenue, code: string, times?: number): Promise<Verdict> => {
    const { refusals } = await venue.report();
    const count = refusals[code] ?? 0;
    return {
      pass: times === undefined ? count > 0 : count === times,
      message: () => `refused with ${code} ${count} times; by code: ${JSON.stringify(refusals)}`,
    };
  },
};

/** For `expect.extend` of vitest and jest. */
export const sandboxMatchers = ASSERTIONS;

type Bound = {
  [Name in keyof typeof ASSERTIONS]: (typeof ASSERTIONS)[Name] extends (
    venue: SandboxVenue,
    ...args: infer Args
  ) => unknown
    ? (...args: Args) => Promise<void>
    : never;
};

declare global {
  namespace jest {
    interface Matchers<R, T> extends Bound {}
  }
}

/** The same without a framework: each rejects with what was found, those of `not` if it holds. */
export function assertVenue(venue: SandboxVenue): Bound & { readonly not: Bound } {
  return { ...demanding(venue, true), not: demanding(venue, false) };
}

function demanding(venue: SandboxVenue, wanted: boolean): Bound {
  const demand = async (verdict: Promise<Verdict>): Promise<void> => {
    const { pass, message } = await verdict;
    if (pass !== wanted) throw new Error(message());
  };
  return {
    toHaveFilled: (...args) => demand(ASSERTIONS.toHaveFilled(venue, ...args)),
    toHaveOpenOrder: (...args) => demand(ASSERTIONS.toHaveOpenOrder(venue, ...args)),
    toHavePosition: (...args) => demand(ASSERTIONS.toHavePosition(venue, ...args)),
    toHaveRefused: (...args) => demand(ASSERTIONS.toHaveRefused(venue, ...args)),
  };
}

async function someOf<Row extends object>(
  what: string,
  wanted: Partial<Row>,
  read: () => Promise<readonly Row[]>,
): Promise<Verdict> {
  const rows = await read();
  const fields = Object.entries(wanted);
  const isSo = (row: Row) =>
    fields.every(([name, value]) =>
      Object.entries(row).some(([key, is]) => key === name && is === value),
    );
  const found = rows.filter(isSo);
  return {
    pass: found.length > 0,
    message: () =>
      `${found.length} of ${rows.length} rows are ${what} with ${JSON.stringify(wanted)}; there is ${JSON.stringify(rows)}`,
  };
}
