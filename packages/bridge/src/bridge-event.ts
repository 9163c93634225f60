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
      readonly kind: "PollFailed";
      readonly chain: Chain;
      readonly error: unknown;
    }
  | {
      readonly kind: "Polled";
      readonly chain: Chain;
      readonly pending: number;
      readonly votes: number;
      readonly endpoints: number;
    };

/** `transaction_gone`: the money is not in the vault; `transaction_moved`: it is, elsewhere. */
export type ReorgReason = "transaction_gone" | "transaction_moved";

export type BridgeObserver = (event: BridgeEvent) => void;
