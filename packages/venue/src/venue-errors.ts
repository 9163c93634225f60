/** Reasons why a venue does not open. Each message says what to do about it. */

import type { LogSeq } from "@perpgate/journal";

type ConfigRule =
  | "configuration_invalid"
  | "log_not_begun"
  | "log_key_differs"
  | "listing_mismatch"
  | "attestor_kind_fixed"
  | "fund_seed_fixed"
  | "market_removed"
  | "tick_fixed"
  | "lot_fixed"
  | "raises_and_lists"
  | "withdrawals_too_early"
  | "withdrawals_open";

/** The configuration does not fit the data folder. */
export class ConfigRefused extends Error {
  override readonly name = "ConfigRefused";
  constructor(
    readonly rule: ConfigRule,
    message: string,
  ) {
    super(message);
  }
}

/** The log was pruned, and the history that covered the pruned part is missing or unusable. */
export class HistoryLost extends Error {
  override readonly name = "HistoryLost";
  constructor(first: LogSeq, reason: string, advice = "") {
    super(
      `the log begins at batch ${first.batch}, so the history cannot be rebuilt: ${reason}; ` +
        "nothing was removed; restore the history folder from a backup, or put the removed files of " +
        `the journal back${advice}`,
    );
  }
}

/** A history row differs from what was written. The history can be rebuilt from the log. */
export class HistoryDamaged extends Error {
  override readonly name = "HistoryDamaged";
  constructor(
    readonly reason: string,
    options?: ErrorOptions,
  ) {
    super(`the history is damaged: ${reason}`, options);
  }
}

/** The wall clock is so far ahead of the log that the operator must confirm it. */
export class ClockRefused extends Error {
  override readonly name = "ClockRefused";
  constructor(
    readonly logMs: number,
    readonly wallMs: number,
    limitMs: number,
  ) {
    const days = (ms: number): string => (ms / 86_400_000).toFixed(1);
    super(
      `the clock says ${new Date(wallMs).toISOString()}, ${days(wallMs - logMs)} days after the ` +
        `log's last time, ${new Date(logMs).toISOString()}, and nothing on this machine shows that ` +
        `so much time has passed (up to ${days(limitMs)} days need no proof)`,
    );
  }
}
