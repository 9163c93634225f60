/** Messages between the attestors' thread and the venue's thread. */

import type { Chain, CreditedDeposit, PendingDeposit, QueueOrder } from "@perpgate/protocol";
import type { BridgeEvent } from "../bridge-event.js";
import type { ChainBridgeConfig } from "../config/bridge-config.js";
import type { ChainConfig } from "../config/chain-config.js";
import type { VenueTerms } from "../venue-port.js";
import type { SignedVote } from "../vote.js";

/** Functions cannot be cloned: the thread looks up the dialect by chain. */
export interface ThreadData extends Omit<ChainBridgeConfig, "chains"> {
  readonly chains: readonly Omit<ChainConfig, "dialect">[];
  /** The hash of the venue's Genesis. */
  readonly venueId: string;
  /** The venue's time when the thread was started. */
  readonly nowMs: number;
}

export type ThreadRequest =
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

export type FromThread =
  | { readonly kind: "request"; readonly id: number; readonly request: ThreadRequest }
  | { readonly kind: "event"; readonly event: BridgeEvent };

export type ToThread =
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
