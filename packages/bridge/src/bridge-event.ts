/** Events of attestors, for logs and metrics only. */

import type { Chain } from "@perpgate/protocol";
import type { WithdrawalVerdict } from "@perpgate/protocol/core";
import type { VaultAction } from "./withdraw/vault-view.js";

export type BridgeEvent =
  | {
      readonly kind: "EndpointFailed";
      readonly chain: Chain;
      /** Host and number without the path, which may contain an API key. */
      readonly endpoint: string;
      readonly reason: string;
      /** Not used before this time. */
      readonly retryAtMs: number;
    }
  | {
      /** Its head is too far behind the others'; its responses are ignored. */
      readonly kind: "EndpointStale";
      readonly chain: Chain;
      readonly endpoint: string;
      readonly lagMs: number;
    }
  | {
      /** The attestor's configuration differs from the venue's: it does not vote. */
      readonly kind: "ConfigurationDiffers";
      readonly chain: Chain;
      /** The index of the attestor; a process may run several. */
      readonly attestor: number;
      readonly difference: string;
    }
  | {
      /** At most once per poll: anyone can register hashes that endpoints disagree on. */
      readonly kind: "EndpointsDisagreed";
      readonly chain: Chain;
      readonly attestor: number;
      /** The number of deposits, and the first of them. */
      readonly deposits: number;
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
      /** Alarm: the transaction of a credited deposit left its block. */
      readonly kind: "CreditReorged";
      readonly chain: Chain;
      readonly depositId: number;
      readonly reason: ReorgReason;
      readonly creditedMicros: number;
    }
  | {
      /** The remainder below a micro-dollar, in the token's smallest unit. */
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
      /** The venue rejected the request with this vote; it is retried alone. */
      readonly kind: "SubmitFailed";
      readonly chain: Chain;
      readonly depositId: number;
      readonly retryAtMs: number;
      readonly error: unknown;
    }
  | {
      /** The deposit could not be judged; others are not affected. */
      readonly kind: "DepositFailed";
      readonly chain: Chain;
      readonly depositId: number;
      readonly retryAtMs: number;
      readonly error: unknown;
    }
  | {
      /** A withdrawal was not judged, or not signed; others are not affected. */
      readonly kind: "WithdrawalFailed";
      readonly chain: Chain;
      readonly withdrawalId: number;
      /** The vault has another payment under its id. */
      readonly isAlarm: boolean;
      readonly reason: string;
    }
  | {
      readonly kind: "WithdrawalVoted";
      readonly chain: Chain;
      readonly withdrawalId: number;
      readonly verdict: WithdrawalVerdict;
      /** Why the venue refused it; null: it is in the log. */
      readonly reason: string | null;
    }
  | {
      /** A guardian locked the vault, or a change of it is in its dispute period. */
      readonly kind: "VaultChanges";
      readonly chain: Chain;
      readonly action: VaultAction;
      readonly txHash: string;
    }
  | {
      /** What the vault holds was not stated: endpoints, or the venue. */
      readonly kind: "HoldingsNotStated";
      readonly chain: Chain;
      readonly reason: string;
    }
  | {
      readonly kind: "PollFailed";
      readonly chain: Chain;
      readonly attestor: number;
      readonly of: PollSubject;
      readonly error: unknown;
    }
  | {
      readonly kind: "WithdrawalsPolled";
      readonly of: Exclude<PollSubject, "deposits">;
      readonly chain: Chain;
      readonly attestor: number;
    }
  | {
      /** Of deposits. */
      readonly kind: "Polled";
      readonly chain: Chain;
      readonly attestor: number;
      /** Deposits looked up on the chain. */
      readonly pending: number;
      readonly votes: number;
      readonly endpoints: number;
      /** There was nothing to look up. */
      readonly isIdle: boolean;
      /** Of the newest block that enough endpoints have; null if it was not read. */
      readonly headAgeMs: number | null;
      /** Older than `maxHeadAgeMs`: the endpoints are stuck, or the chain is. */
      readonly isHeadOld: boolean;
    };

/** `requests`: those of the vault, compared with the log. */
export type PollSubject = "deposits" | "withdrawals" | "requests";

/** `transaction_gone`: the transfer no longer exists; `transaction_moved`: it is in another block. */
export type ReorgReason = "transaction_gone" | "transaction_moved";

export type BridgeObserver = (event: BridgeEvent) => void;
