/** Commands of tests: each caller gives what it is about, and the rest is neutral. */
import {
  type AttestDeposit,
  type AttestWithdrawal,
  CANCEL_RESTING,
  type Genesis,
  GOOD_TILL_CANCELED,
  LONG,
  MARKET_ORDER,
  type OpenSession,
  type OrderExtras,
  type PlaceOrder,
  type SetCohort,
  STOP_TRIGGER,
} from "../commands.js";
import type { CohortStage, VenueConfig } from "../config.js";
import { ENGINE_VERSION } from "../versions.js";

/** What must be given, and whatever else is to differ. */
type Given<T, Required extends keyof T> = Pick<T, Required> & Partial<Omit<T, "kind">>;

/** The extras of a limit order that has no other terms than a plain one. */
export const PLAIN_EXTRAS: OrderExtras = {
  sizeLots: 0,
  timeInForce: GOOD_TILL_CANCELED,
  expiresAtMs: 0,
  clientOrderId: "",
  trigger: STOP_TRIGGER,
  limitTicks: 0,
  closePosition: false,
  selfTrade: CANCEL_RESTING,
  validUntilMs: 0,
};

/** The address of the account with that number. */
export function addressOf(number: number): string {
  return number.toString(16).padStart(40, "0");
}

/** Begins a venue under the newest rules. */
export function genesis(
  stampMs: number,
  config: VenueConfig,
  cohort: CohortStage = "open",
): Genesis {
  return { kind: "Genesis", stampMs, config, cohort, engineVersion: ENGINE_VERSION };
}

/** Opens a session of a day that may trade everything; an address's second one needs a token hash. */
export function openSession(given: Given<OpenSession, "stampMs" | "address">): OpenSession {
  return {
    kind: "OpenSession",
    key: "key",
    tokenHash: given.address,
    expiresAtMs: given.stampMs + 86_400_000,
    siweNonce: "nonce",
    siweNonceUntilMs: given.stampMs + 600_000,
    maxOrderNotionalMicros: 0,
    maxNotionalMicros: 0,
    markets: [],
    ...given,
  };
}

/** A market order to buy a dollar of the first market. */
export function plainOrder(given: Given<PlaceOrder, "stampMs" | "session" | "nonce">): PlaceOrder {
  return {
    kind: "PlaceOrder",
    key: "key",
    market: 0,
    side: LONG,
    type: MARKET_ORDER,
    marginMicros: 1_000_000,
    leverage: 1,
    priceTicks: 0,
    reduceOnly: false,
    postOnly: false,
    ...given,
  };
}

/** The vote of the first attestor that credits a deposit. */
export function creditVote(
  given: Given<AttestDeposit, "stampMs" | "depositId" | "credits">,
): AttestDeposit {
  return {
    kind: "AttestDeposit",
    attestor: 0,
    verdict: "credit",
    votedAtMs: 1,
    confirmations: 12,
    required: 12,
    reason: "",
    ...given,
  };
}

/** What the first attestor says about a withdrawal. */
export function withdrawalVote(
  given: Given<AttestWithdrawal, "stampMs" | "withdrawalId" | "verdict">,
): AttestWithdrawal {
  const { verdict } = given;
  return {
    kind: "AttestWithdrawal",
    attestor: 0,
    votedAtMs: 1,
    txHash: verdict === "pending" || verdict === "paid" ? "cd".repeat(32) : "",
    vaultSignature: verdict === "signed" ? "ef".repeat(65) : "",
    ...given,
  };
}

/** Sets the stage, and admits these addresses. */
export function setCohort(
  stampMs: number,
  stage: CohortStage,
  allow: readonly string[] = [],
  disallow: readonly string[] = [],
): SetCohort {
  return { kind: "SetCohort", stampMs, expiresAtMs: stampMs + 60_000, stage, allow, disallow };
}
