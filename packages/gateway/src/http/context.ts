/** What handlers may use in addition to the request. */

import type { ReadinessProbe } from "@perpgate/link";
import type { NonceIssuer } from "../auth/nonce-issuer.js";
import type { Edge } from "../edge.js";
import type { CostBudgets } from "../limits/cost-budget.js";
import type { AddressLimits } from "../limits/limits.js";
import type { RefusalCounts } from "../metrics/refusal-counts.js";
import type { AddressChecksums } from "../operations/address-checksums.js";

export interface GatewayContext {
  readonly version: string;
  /** Where this gateway is, as its operator calls it. */
  readonly region?: string | undefined;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly nonces: NonceIssuer;
  readonly addressLimits: AddressLimits;
  readonly budgets: CostBudgets;
  /** Counts the errors that clients get. */
  readonly refusals: RefusalCounts;
  /** Maximum bytes of a signed body, and of a batch. */
  readonly signedBytes: number;
  readonly batchBytes: number;
  /** Of addresses in answers. */
  readonly checksums: AddressChecksums;
  /** This process's own; the core has more. */
  readonly readiness: readonly ReadinessProbe[];
  /** Undefined: operations that a core answers refuse with `venue_unavailable`. */
  readonly edge: Edge | undefined;
  /** The OpenAPI document as JSON. */
  readonly openApi: string;
  /** The AsyncAPI document as JSON. */
  readonly asyncApi: string;
}
