/**
 * The bridge on the wire: where deposits go and who attests them, and what attestors that run
 * elsewhere say and ask. A vote travels as the text that was signed, so nothing can be lost between
 * the signature and the log.
 */

import { type Static, Type } from "typebox";
import { Chain, Token } from "./deposit.js";
import { Count, LogPosition, Nullable, TimeMs } from "./scalar.js";

const PublicKey = Type.String({ pattern: "^[0-9a-f]{64}$", description: "Ed25519, 32 bytes." });

export const BridgeToken = Type.Object({
  token: Token,
  contract: Type.String({ description: "The contract whose transfers count." }),
  decimals: Count,
});

export const BridgeChain = Type.Object({
  chain: Chain,
  chainId: Count,
  vault: Type.String({ description: "Where to send tokens." }),
  confirmations: Count,
  tokens: Type.Array(BridgeToken),
});

export const BridgeInfo = Type.Object(
  {
    attestor: Type.Enum(["dev", "chain"]),
    venue: Nullable(Type.String({ description: "This venue's name in votes." })),
    members: Type.Array(PublicKey, { description: "Attestors' keys, in order of their numbers." }),
    quorum: Count,
    chains: Type.Array(BridgeChain),
  },
  { title: "BridgeInfo" },
);
export type BridgeInfo = Static<typeof BridgeInfo>;

/** Few enough for a body of 64 KiB. */
export const MAX_VOTES_PER_REQUEST = 64;

export const SubmittedVote = Type.Object(
  { text: Type.String({ maxLength: 60_000 }), signature: Type.String({ maxLength: 128 }) },
  { additionalProperties: false },
);
export type SubmittedVote = Static<typeof SubmittedVote>;

export const VotesBody = Type.Object(
  { votes: Type.Array(SubmittedVote, { minItems: 1, maxItems: MAX_VOTES_PER_REQUEST }) },
  { title: "VotesBody", additionalProperties: false },
);
export type VotesBody = Static<typeof VotesBody>;

export const VotesAnswer = Type.Object(
  {
    refusals: Type.Array(Nullable(Type.String()), {
      description: "For each vote why it does not count, or null.",
    }),
  },
  { title: "VotesAnswer" },
);
export type VotesAnswer = Static<typeof VotesAnswer>;

/** What an attestor asks for, signed as a body by its key in `X-Service-Sig`. */
export const DepositQueueBody = Type.Object(
  {
    venue: Type.String(),
    attestor: Count,
    chain: Chain,
    queue: Type.Enum(["pending", "credited"]),
    /** Deposits with a higher number only: pages follow each other by it. */
    after: LogPosition,
    /** For `credited`: no earlier than this. */
    since: TimeMs,
    /** By the attestor's clock: a request is good for a minute. */
    time: TimeMs,
  },
  { title: "DepositQueueBody", additionalProperties: false },
);
export type DepositQueueBody = Static<typeof DepositQueueBody>;

/** As votes write them: 40 hex digits, and micro-dollars. */
const QueuedCredit = Type.Object({
  logIndex: Count,
  address: Type.String(),
  amountMicros: Count,
});

const QueuedStatement = Type.Object({
  verdict: Type.Enum(["confirming", "credit", "reject", "reorged"]),
  confirmations: Count,
  required: Count,
  credits: Type.Array(QueuedCredit),
  reason: Type.String(),
});

export const QueuedDeposit = Type.Object({
  depositId: LogPosition,
  txHash: Type.String(),
  token: Token,
  status: Type.Enum(["queued", "confirming", "credited"]),
  registeredAt: TimeMs,
  creditedAt: Nullable(TimeMs),
  credits: Type.Array(QueuedCredit),
  isMarked: Type.Boolean({ description: "Nothing more to say: told as reorganised already." }),
  /** What the asker said last. */
  ownVote: Nullable(QueuedStatement),
});
export type QueuedDeposit = Static<typeof QueuedDeposit>;

export const DepositQueue = Type.Object(
  { deposits: Type.Array(QueuedDeposit), next: Nullable(LogPosition) },
  { title: "DepositQueue" },
);
export type DepositQueue = Static<typeof DepositQueue>;
