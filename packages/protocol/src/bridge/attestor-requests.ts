/**
 * Requests of attestors that run elsewhere, and their responses. A vote is sent as the signed text, so
 * nothing can change between the signature and the log. Separate from `bridge.ts`, so that a page that
 * shows the bridge does not load these schemas.
 */

import { type Static, Type } from "typebox";
import { Count, LogPosition, Nullable, TimeMs } from "../text/scalar.js";
import { Chain, Token } from "./deposit.js";

export const MAX_VOTES_PER_REQUEST = 64;
/** A vote of `MAX_CREDITS_PER_VOTE` credits is shorter. */
export const MAX_VOTE_TEXT = 12_000;

export const SubmittedVote = Type.Object(
  { text: Type.String({ maxLength: MAX_VOTE_TEXT }), signature: Type.String({ maxLength: 128 }) },
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

/** An attestor's request, signed with its key in `X-Service-Sig`. */
export const DepositQueueBody = Type.Object(
  {
    /** The venue's id. */
    venue: Type.String(),
    attestor: Count,
    chain: Chain,
    queue: Type.Enum(["pending", "credited"]),
    /** For `pending`: oldest first or newest first. */
    order: Type.Enum(["ascending", "descending"]),
    /** `next` of the previous page; 0 for the first page. */
    after: LogPosition,
    /** For `credited`: no earlier than this. */
    since: TimeMs,
    /** By the attestor's clock; a request is valid for a minute. */
    time: TimeMs,
  },
  { title: "DepositQueueBody", additionalProperties: false },
);
export type DepositQueueBody = Static<typeof DepositQueueBody>;

/** As in votes: 40 hex digits, and micro-dollars. */
const QueuedCredit = Type.Object({
  logIndex: Count,
  /** Left out for the token of the registration. */
  token: Type.Optional(Token),
  address: Type.String(),
  amountMicros: Count,
});

const QueuedStatement = Type.Object({
  verdict: Type.Enum(["confirming", "credit", "reject", "reorged"]),
  confirmations: Count,
  required: Count,
  credits: Type.Array(QueuedCredit),
  reason: Type.String(),
  part: Count,
  parts: Count,
});

export const QueuedDeposit = Type.Object({
  depositId: LogPosition,
  txHash: Type.String(),
  /** The number of the account that registered it. */
  account: Count,
  status: Type.Enum(["queued", "confirming", "credited"]),
  /** Parts of the transaction's logs that are credited. */
  creditedParts: Count,
  /** The highest log index that is credited, of a pending deposit that is credited in part. */
  lastCreditedLog: Type.Optional(Count),
  registeredAt: TimeMs,
  creditedAt: Nullable(TimeMs),
  credits: Type.Array(QueuedCredit),
  isMarked: Type.Boolean({ description: "A quorum has marked it as reorganised." }),
  /** The last vote of the requesting attestor; of a credited deposit only a vote `reorged`. */
  ownVote: Nullable(QueuedStatement),
});
export type QueuedDeposit = Static<typeof QueuedDeposit>;

export const DepositQueue = Type.Object(
  { deposits: Type.Array(QueuedDeposit), next: Nullable(LogPosition) },
  { title: "DepositQueue" },
);
export type DepositQueue = Static<typeof DepositQueue>;
