/** What an attestor notices, for logs and metrics. Nothing is decided by these. */

import type { Chain } from "@perpgate/protocol";

export type BridgeEvent =
  | {
      readonly kind: "EndpointFailed";
      readonly chain: Chain;
      /** Host and number, without the path: addresses of RPC services carry keys. */
      readonly endpoint: string;
      readonly reason: string;
      /** It is not asked again before that time. */
      readonly retryAtMs: number;
    }
  | {
      /** Its head is so far behind the others' that what it says is left out. */
      readonly kind: "EndpointStale";
      readonly chain: Chain;
      readonly endpoint: string;
      readonly lagMs: number;
    }
  | {
      /** The attestor's configuration is not the venue's: it does not vote. */
      readonly kind: "ConfigurationDiffers";
      readonly chain: Chain;
      readonly difference: string;
    }
  | {
      readonly kind: "EndpointsDisagreed";
      readonly chain: Chain;
      readonly depositId: number;
      readonly endpoints: readonly string[];
    }
  | {
      /** A transaction lost confirmations before it was credited. */
      readonly kind: "DepositReorged";
      readonly chain: Chain;
      readonly depositId: number;
      readonly hadConfirmations: number;
    }
  | {
      /** The alarm: a credited deposit's transaction left its block. */
      readonly kind: "CreditReorged";
      readonly chain: Chain;
      readonly depositId: number;
      readonly reason: ReorgReason;
      readonly creditedMicros: number;
    }
  | {
      /** What was below a micro-dollar, in the token's own smallest unit. */
      readonly kind: "DustFloored";
      readonly chain: Chain;
      readonly depositId: number;
      readonly logIndex: number;
      readonly units: bigint;
    }
  | {
      readonly kind: "VoteRefused";
      readonly chain: Chain;
      readonly depositId: number;
      readonly reason: string;
    }
  | {
      /** The venue did not take a request with this vote; it is tried again alone. */
      readonly kind: "SubmitFailed";
      readonly chain: Chain;
      readonly depositId: number;
      readonly retryAtMs: number;
      readonly error: unknown;
    }
  | {
      /** A deposit could not be judged; no other deposit is held up. */
      readonly kind: "DepositFailed";
      readonly chain: Chain;
      readonly depositId: number;
      readonly retryAtMs: number;
      readonly error: unknown;
    }
  | {
      readonly kind: "PollFailed";
      readonly chain: Chain;
      readonly error: unknown;
    }
  | {
      readonly kind: "Polled";
      readonly chain: Chain;
      /** Deposits that the poll asked the chain about. */
      readonly pending: number;
      readonly votes: number;
      readonly endpoints: number;
      /** Nothing was there to ask the chain about. */
      readonly isIdle: boolean;
    };

/** `transaction_gone`: the money is not in the vault; `transaction_moved`: it is, elsewhere. */
export type ReorgReason = "transaction_gone" | "transaction_moved";

export type BridgeObserver = (event: BridgeEvent) => void;
