/** Messages between the attestors' process and the venue's. */

import type { JsonWebKey } from "node:crypto";
import type { Chain, CreditedDeposit, PendingDeposit, QueueOrder } from "@perpgate/protocol";
import type { BridgeEvent } from "../bridge-event.js";
import type { ChainBridgeConfig } from "../config/bridge-config.js";
import type { ChainConfig } from "../config/chain-config.js";
import type { VenueTerms } from "../venue-port.js";
import type { SignedVote } from "../vote.js";

/**
 * Functions and keys cannot be sent: the process looks up the dialect by chain, and makes the keys again.
 * The private ones are in no file, argument or variable of the process that others could read.
 */
export interface AttestorData extends Omit<ChainBridgeConfig, "chains" | "members" | "attestors"> {
  /** Hex digits of the public keys. */
  readonly members: readonly string[];
  readonly attestors: readonly { readonly index: number; readonly privateKey: JsonWebKey }[];
  readonly chains: readonly Omit<ChainConfig, "dialect">[];
  /** The hash of the venue's Genesis. */
  readonly venueId: string;
  /** The venue's time when the process was started. */
  readonly nowMs: number;
}

export type AttestorRequest =
  | {
      readonly kind: "pending";
      readonly chain: Chain;
      readonly attestor: number;
      readonly order: QueueOrder;
      readonly after: number;
    }
  | {
      readonly kind: "credited";
      readonly chain: Chain;
      readonly attestor: number;
      readonly sinceMs: number;
      readonly after: number;
    }
  | { readonly kind: "terms" }
  | { readonly kind: "submit"; readonly votes: readonly SignedVote[] };

/** One entry per deposit or vote, or the venue's terms alone. */
export type ResponseRows =
  | readonly VenueTerms[]
  | readonly PendingDeposit[]
  | readonly CreditedDeposit[]
  | readonly (string | null)[];

export type FromAttestors =
  | { readonly kind: "request"; readonly id: number; readonly request: AttestorRequest }
  | { readonly kind: "event"; readonly event: BridgeEvent };

export type ToAttestors =
  /** A part of a response; long ones are split so that orders run in between. */
  | {
      readonly kind: "response";
      readonly id: number;
      readonly rows: ResponseRows;
      readonly isLast: boolean;
      /** With the last part: the `after` of the next page. */
      readonly next: number | null;
      /** The venue's time. */
      readonly nowMs: number;
    }
  | { readonly kind: "failure"; readonly id: number; readonly message: string }
  | { readonly kind: "stop" };
