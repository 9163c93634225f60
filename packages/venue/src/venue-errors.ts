/** Why a venue does not open. Each says what to do about it. */

export type ConfigRule =
  | "configuration_invalid"
  | "listing_mismatch"
  | "attestor_kind_fixed"
  | "fund_seed_fixed"
  | "market_removed"
  | "tick_fixed"
  | "lot_fixed";

/** The configuration cannot be that of this data folder. */
export class ConfigRefused extends Error {
  override readonly name = "ConfigRefused";
  constructor(
    readonly rule: ConfigRule,
    message: string,
  ) {
    super(message);
  }
}
