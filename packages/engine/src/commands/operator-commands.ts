/** What the operator does. */
import type { CohortStage, VenueConfig } from "../config.js";

/**
 * What every operator command carries. It is refused once the venue's time is past `expiresAtMs`, so
 * that one that was prepared or delayed cannot take effect later.
 */
interface OperatorCommand {
  readonly stampMs: number;
  readonly expiresAtMs: number;
}

/** The operator activates the next version of the rules, from the following command on. */
export interface Upgrade extends OperatorCommand {
  readonly kind: "Upgrade";
  readonly version: number;
}

/** Replaces the parameters. Markets keep their number; new ones are appended. */
export interface Configure extends OperatorCommand {
  readonly kind: "Configure";
  readonly config: VenueConfig;
  /**
   * Numbers of attestors whose key has changed or is gone. The engine does not know keys, so the
   * command names them. Missing: none.
   */
  readonly replacedAttestors?: readonly number[];
  /**
   * Chains whose vault, chain id or token contracts change or are gone. The engine does not know them, so
   * the command names the chains. Missing: none; the writer names none under version 2.
   */
  readonly movedChains?: readonly string[];
}

export interface SetCohort extends OperatorCommand {
  readonly kind: "SetCohort";
  readonly stage: CohortStage;
  /** Addresses, lower-case hex. */
  readonly allow: readonly string[];
  readonly disallow: readonly string[];
}

const MARKET_ACTIONS = ["reduceOnly", "halt", "resume", "settle"] as const;
export type MarketAction = (typeof MARKET_ACTIONS)[number];

/** The operator's control of one market. */
export interface ControlMarket extends OperatorCommand {
  readonly kind: "ControlMarket";
  readonly market: number;
  readonly action: MarketAction;
  /** For `settle`: the price of every position; 0 otherwise. */
  readonly priceTicks: number;
}

/** The operator stops or resumes credits and rejections of a chain or of a token. */
export interface PauseDeposits extends OperatorCommand {
  readonly kind: "PauseDeposits";
  /** The name of a chain or of a token. */
  readonly scope: string;
  readonly isPaused: boolean;
}

/** The operator reopens a rejected deposit for new votes. */
export interface RejudgeDeposit extends OperatorCommand {
  readonly kind: "RejudgeDeposit";
  readonly depositId: number;
}

/** The operator has the venue commit to what it owes now, before the next hour. */
export interface CountReserves extends OperatorCommand {
  readonly kind: "CountReserves";
}

/** The operator has settled a credit whose transaction left its chain. */
export interface SettleReorgedDeposit extends OperatorCommand {
  readonly kind: "SettleReorgedDeposit";
  readonly depositId: number;
}
