/** Withdrawals: asked for with the session key, signed and watched by attestors, paid by the chain's vault. */

import { type Static, Type } from "typebox";
import { POSITION_CURSORS, WideLimit } from "../http/paging.js";
import { WITHDRAWAL_STATUSES, WITHDRAWAL_VERDICTS } from "../markets/wire-names.js";
import { OrderNonce } from "../orders/order.js";
import { Count, Dollars, LogPosition, Nullable, TimeMs } from "../text/scalar.js";
import { Chain, Token } from "./deposit.js";

export const WithdrawalBody = Type.Object(
  {
    chain: Chain,
    token: Token,
    amount: Type.Number({
      exclusiveMinimum: 0,
      maximum: 4_500_000_000,
      description: "Dollars that the vault pays, to the micro-dollar; the fee comes on top.",
    }),
    nonce: OrderNonce,
  },
  { title: "WithdrawalBody", additionalProperties: false },
);
export type WithdrawalBody = Static<typeof WithdrawalBody>;

export const Withdrawal = Type.Object(
  {
    withdrawalId: LogPosition,
    chain: Chain,
    token: Token,
    amount: Dollars,
    fee: Dollars,
    status: Type.Enum([...WITHDRAWAL_STATUSES], {
      description:
        "queued; attested: a quorum has signed; pending: on the chain, in its dispute period; paid; expired: not paid by the deadline, amount and fee are credited again.",
    }),
    txHash: Nullable(
      Type.String({ description: "Of the request, and once it is paid of the payment." }),
    ),
    deadline: { ...TimeMs, description: "Unix milliseconds; nothing is paid after it." },
    nonce: OrderNonce,
    requestedAt: TimeMs,
    endedAt: Nullable({ ...TimeMs, description: "When it was known to be paid, or expired." }),
  },
  { title: "Withdrawal" },
);
export type Withdrawal = Static<typeof Withdrawal>;
export const Withdrawals = Type.Array(Withdrawal);
export const WithdrawalsQuery = Type.Object({ limit: WideLimit, ...POSITION_CURSORS });
export type WithdrawalsQuery = Static<typeof WithdrawalsQuery>;

const WithdrawalVote = Type.Object({
  attestor: Count,
  publicKey: Type.String({ description: "The attestor's Ed25519 key, 64 hex digits." }),
  verdict: Type.Enum([...WITHDRAWAL_VERDICTS]),
  votedAt: TimeMs,
  text: Type.String({ description: "What was signed, to the byte (ASCII)." }),
  signature: Type.String({ description: "Ed25519 over the text, 128 hex digits." }),
});

/** A withdrawal with each attestor's signature for the vault and latest sighting. */
export const AttestedWithdrawal = Type.Object(
  { ...Withdrawal.properties, votes: Type.Array(WithdrawalVote) },
  { title: "AttestedWithdrawal" },
);
export type AttestedWithdrawal = Static<typeof AttestedWithdrawal>;

/** An open withdrawal as attestors and relayers read it: whom it pays, who has said what, and its proof. */
export const OpenWithdrawal = Type.Object(
  {
    withdrawalId: LogPosition,
    chain: Chain,
    token: Token,
    amount: Dollars,
    account: Type.String({ description: "The address that is paid." }),
    status: Type.Enum([...WITHDRAWAL_STATUSES]),
    deadline: TimeMs,
    requestedAt: TimeMs,
    votes: Type.Array(WithdrawalVote, { maxItems: 64 }),
    proof: Nullable(
      Type.String({
        description: "A C2SP tlog-proof of the request; null until a checkpoint covers it.",
      }),
    ),
  },
  { title: "OpenWithdrawal" },
);
export type OpenWithdrawal = Static<typeof OpenWithdrawal>;

export const OpenWithdrawals = Type.Object(
  {
    withdrawals: Type.Array(OpenWithdrawal, { maxItems: 32 }),
    next: Nullable({ ...LogPosition, description: "The `after` of the next page." }),
  },
  { title: "OpenWithdrawals" },
);
export type OpenWithdrawals = Static<typeof OpenWithdrawals>;

export const OpenWithdrawalsQuery = Type.Object({
  chain: Chain,
  after: Type.Optional({ ...LogPosition, description: "Withdrawals after this one." }),
});

export const WithdrawalIdPath = Type.Object({ id: LogPosition });
