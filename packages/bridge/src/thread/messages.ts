/** What passes between the attestors' thread and the thread of the venue. */

import type { Chain } from "@perpgate/protocol";
import type { BridgeEvent } from "../bridge-event.js";
import type { ChainBridgeConfig } from "../config/bridge-config.js";
import type { ChainConfig } from "../config/chain-config.js";
import type { CreditedDeposit, PendingDeposit, QueueOrder } from "../venue-port.js";
import type { SignedVote } from "../vote.js";

/** Functions do not pass: the thread takes the dialect by the chain's name. */
export interface ThreadData extends Omit<ChainBridgeConfig, "chains"> {
  readonly chains: readonly Omit<ChainConfig, "dialect">[];
  /** The hash of the venue's Genesis. */
  readonly venueId: string;
  /** The venue's time when the thread was started. */
  readonly nowMs: number;
}

export type Question =
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
  | { readonly kind: "submit"; readonly votes: readonly SignedVote[] };

/** One entry for each deposit or vote asked about. */
export type AnswerRows =
  | readonly PendingDeposit[]
  | readonly CreditedDeposit[]
  | readonly (string | null)[];

export type FromThread =
  | { readonly kind: "question"; readonly id: number; readonly question: Question }
  | { readonly kind: "event"; readonly event: BridgeEvent };

export type ToThread =
  /** A part of an answer; long ones come in several, so that orders get in between. */
  | {
      readonly kind: "answer";
      readonly id: number;
      readonly rows: AnswerRows;
      readonly isLast: boolean;
      /** With the last part of a page: where the next page begins. */
      readonly next: number | null;
      /** The venue's time. */
      readonly nowMs: number;
    }
  | { readonly kind: "failure"; readonly id: number; readonly message: string }
  | { readonly kind: "stop" };
