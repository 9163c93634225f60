/** The result of an order: what the venue answered, what became of the order since, and what is proven. */

import type { Order, OrderType, PreconfirmAck } from "@perpgate/protocol";
import type { PreconfirmProblem } from "@perpgate/sdk";

/** The receipt: what the venue has signed. */
export type SignedState =
  | "checking"
  /** The signatures hold. */
  | "held"
  /** The venue issues none, or its log's key could not be read. */
  | "none"
  /** The venue issues receipts and has left it out. */
  | "missing"
  /** It does not hold. */
  | "broken";

export type SealState =
  /** Executed and durable; its block is still open. */
  | "soft"
  /** The block is sealed; the proof is being verified. */
  | "sealed"
  | "proven"
  /** The proof does not match the acknowledgement. */
  | "differs"
  /** The block is sealed, and the proof could not be checked. */
  | "unproven";

export type WitnessState =
  | "pending"
  /** Under a checkpoint of the log without a cosignature that could be checked. */
  | "logged"
  /** Under a checkpoint with a cosignature that holds. */
  | "witnessed"
  /** The proof file or a cosignature in it does not hold, or there is none. */
  | "missing";

/** The order as the streams show it now. */
type LiveOrder = Pick<Order, "status" | "filledSize" | "remainingSize" | "avgFillPrice" | "reason">;

export interface OrderResult {
  readonly ack: PreconfirmAck;
  readonly type: OrderType;
  readonly replayed: boolean;
  /** From the click to the acknowledgement, signing and network included. */
  readonly browserMs: number;
  readonly live: LiveOrder;
  readonly signed: SignedState;
  readonly seal: SealState;
  /** Consecutive reads of the proof without an answer. */
  readonly lostReads: number;
  readonly witness: WitnessState;
  /** Index of its leaf in the block, once proven. */
  readonly leaf: number | undefined;
  /** Why the proof does not match. */
  readonly problems: readonly PreconfirmProblem[];
  /** Why there is no receipt that holds. */
  readonly receiptFailure: string | undefined;
  /** Why a later step failed, in words. */
  readonly failure: string | undefined;
  /** Names of those whose cosignatures hold. */
  readonly witnesses: readonly string[];
  /** The proof file, once a checkpoint covers the block. */
  readonly proofFile: string | undefined;
}

export function newResult(
  ack: PreconfirmAck,
  facts: Pick<OrderResult, "type" | "replayed" | "browserMs">,
): OrderResult {
  return {
    ack,
    ...facts,
    live: ack,
    signed: "checking",
    seal: "soft",
    lostReads: 0,
    witness: "pending",
    leaf: undefined,
    problems: [],
    receiptFailure: undefined,
    failure: undefined,
    witnesses: [],
    proofFile: undefined,
  };
}

export function isLive({ live }: OrderResult): boolean {
  return live.status === "resting" || live.status === "pending";
}
