/** Deposits: registered by hash, attested, then credited to the sender in the chain's log. */

import { type Static, Type } from "typebox";
import { POSITION_CURSORS, WideLimit } from "../http/paging.js";
import { CHAINS, TOKENS } from "../markets/wire-names.js";
import { Address, Count, Dollars, LogPosition, Nullable, TimeMs } from "../text/scalar.js";

export const Chain = Type.Enum([...CHAINS]);
export type Chain = Static<typeof Chain>;
export const Token = Type.Enum([...TOKENS]);
export type Token = Static<typeof Token>;

export const DepositBody = Type.Object(
  {
    chain: Chain,
    // The venue checks it, because the error has a separate code: `invalid_tx_hash`.
    txHash: Type.String({
      description: "32 bytes of hex, 0x optional, case ignored.",
    }),
    token: Token,
  },
  { title: "DepositBody" },
);
export type DepositBody = Static<typeof DepositBody>;

export const DepositCredit = Type.Object({
  account: Address,
  token: Token,
  amount: Dollars,
  logIndex: Count,
});

export const Deposit = Type.Object(
  {
    depositId: LogPosition,
    chain: Chain,
    txHash: Type.String(),
    token: Type.Enum([...TOKENS], { description: "What the registrant expects." }),
    status: Type.Enum(["queued", "confirming", "credited", "rejected"]),
    confirmations: Count,
    required: Count,
    credits: Type.Array(DepositCredit),
    reason: Nullable(Type.String()),
    reorged: Nullable(
      Type.String({ description: "Why a credit is in doubt: its transaction left the chain." }),
    ),
    reorgSettled: Type.Boolean({ description: "The operator has settled that." }),
    registeredAt: TimeMs,
    settledAt: Nullable({ ...TimeMs, description: "When it was credited or rejected." }),
  },
  { title: "Deposit" },
);
export type Deposit = Static<typeof Deposit>;
export const Deposits = Type.Array(Deposit);
export const DepositsQuery = Type.Object({ limit: WideLimit, ...POSITION_CURSORS });
export type DepositsQuery = Static<typeof DepositsQuery>;

export const DepositVote = Type.Object({
  attestor: Count,
  publicKey: Type.String({ description: "The attestor's Ed25519 key, 64 hex digits." }),
  verdict: Type.Enum(["confirming", "credit", "reject", "reorged"]),
  votedAt: TimeMs,
  text: Type.String({ description: "What was signed, to the byte (ASCII)." }),
  signature: Type.String({ description: "Ed25519 over the text, 128 hex digits." }),
});
export type DepositVote = Static<typeof DepositVote>;

/** A deposit with the latest vote of each attestor, and the votes that its credit was reorganised. */
export const AttestedDeposit = Type.Object(
  { ...Deposit.properties, votes: Type.Array(DepositVote) },
  { title: "AttestedDeposit" },
);
export type AttestedDeposit = Static<typeof AttestedDeposit>;

export const DepositIdPath = Type.Object({ id: LogPosition });
