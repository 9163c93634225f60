/** The bridge on the wire: vaults, tokens and attestors. */

import { type Static, Type } from "typebox";
import { Count, Dollars, LogPosition, Nullable } from "../text/scalar.js";
import { Chain, Token } from "./deposit.js";

const PublicKey = Type.String({ pattern: "^[0-9a-f]{64}$", description: "Ed25519, 32 bytes." });

const BridgeToken = Type.Object({
  token: Token,
  contract: Type.String({ description: "The contract whose transfers count." }),
  decimals: Count,
});

const BridgeChain = Type.Object({
  chain: Chain,
  chainId: Count,
  vault: Type.String({ description: "Where to send tokens." }),
  confirmations: Count,
  finality: Type.Enum(["finalized", "confirmations"], {
    description: "What makes a transaction final: the chain's `finalized` block, or the count.",
  }),
  minDeposit: Dollars,
  tokens: Type.Array(BridgeToken),
});

/** The attestors from a seq on, until the next entry. */
const BridgeKeys = Type.Object({
  position: LogPosition,
  members: Type.Array(PublicKey),
  quorum: Count,
});

const WithdrawalRules = Type.Object({
  minWithdrawal: Dollars,
  fee: { ...Dollars, description: "Of each withdrawal, on top of its amount." },
  accountPerDay: Dollars,
  venuePerHour: Dollars,
  venuePerDay: Dollars,
  lifeSeconds: { ...Count, description: "From the request to the deadline." },
  chains: Type.Array(Type.Object({ chain: Type.String(), tokens: Type.Array(Type.String()) })),
});

export const BridgeInfo = Type.Object(
  {
    attestor: Type.Enum(["dev", "chain"]),
    venue: Nullable(
      Type.String({ description: "This venue's name. Votes sign `venueId` instead." }),
    ),
    venueId: Nullable(
      Type.String({
        pattern: "^[0-9a-f]{64}$",
        description: "SHA-256 of the log record of Genesis, signed by votes of format 2.",
      }),
    ),
    members: Type.Array(PublicKey, { description: "Attestors' keys, in order of their numbers." }),
    quorum: Count,
    keys: Type.Array(BridgeKeys, {
      description: "All attestors that ever were, oldest first, by the log position they begin at.",
    }),
    paused: Type.Array(Type.String(), {
      description: "Chains and tokens whose deposits are not credited or rejected at present.",
    }),
    chains: Type.Array(BridgeChain),
    withdrawals: { ...Nullable(WithdrawalRules), description: "Null: the venue takes none." },
  },
  { title: "BridgeInfo" },
);
export type BridgeInfo = Static<typeof BridgeInfo>;
