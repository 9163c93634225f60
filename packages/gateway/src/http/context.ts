/** What an operation may use besides the request: clock, catalog, nonces, readiness, the venue. */

import type { Market } from "@perpgate/protocol";
import type { NonceIssuer } from "../auth/nonce-issuer.js";
import type { CostBudgets } from "../limits/cost-budget.js";
import type { AddressLimits } from "../limits/limits.js";
import type { VenueApi } from "../venue/venue-gateway.js";

/** One condition of readiness, by a clock of its own; a reason says what is still missing. */
export interface ReadinessProbe {
  readonly name: string;
  notReadyReason(): string | undefined;
}

export interface GatewayContext {
  readonly version: string;
  /** Unix milliseconds. Passed in, so that tests decide what time it is. */
  readonly clock: () => number;
  readonly markets: () => readonly Market[];
  readonly nonces: NonceIssuer;
  readonly addressLimits: AddressLimits;
  readonly budgets: CostBudgets;
  /** Bytes that a signed body may have. */
  readonly signedBytes: number;
  readonly readiness: readonly ReadinessProbe[];
  /** Undefined until a venue is attached; the operations that need one then refuse. */
  readonly venue: VenueApi | undefined;
  /** The OpenAPI document, written out once: it is the same for everyone who asks. */
  readonly openApi: string;
}
