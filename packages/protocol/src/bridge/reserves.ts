/** What the venue owes, as it has committed to it, against what its vaults hold. */

import { type Static, Type } from "typebox";
import { Count, Dollars, LogPosition, Nullable, TimeMs } from "../text/scalar.js";
import { Chain, Token } from "./deposit.js";

const Hash = Type.String({ pattern: "^0x[0-9a-f]{64}$" });

const Commitment = Type.Object({
  position: { ...LogPosition, description: "The liabilities are those after this position." },
  committedAt: { ...LogPosition, description: "The position of the commitment." },
  time: { ...TimeMs, description: "Of the commitment, by the log's time." },
  root: { ...Hash, description: "Of the sum tree over all accounts." },
  sum: { ...Dollars, description: "What the venue owes in all." },
  leaves: Count,
  proof: Nullable(
    Type.String({
      description: "A C2SP tlog-proof of the commitment; null until a checkpoint covers it.",
    }),
  ),
});

const Holding = Type.Object({
  attestor: Count,
  publicKey: Type.String({ description: "The attestor's Ed25519 key, 64 hex digits." }),
  text: Type.String({ description: "What was signed, to the byte (ASCII)." }),
  signature: Type.String({ description: "Ed25519 over the text, 128 hex digits." }),
});

export const Reserves = Type.Object(
  {
    liabilities: Nullable(Commitment),
    vaults: Type.Array(
      Type.Object({
        chain: Chain,
        token: Token,
        vault: Type.String(),
        holds: Nullable({
          ...Dollars,
          description: "What at least a quorum of attestors has seen there in the last hour.",
        }),
        statements: Type.Array(Holding, { maxItems: 64 }),
      }),
    ),
    pendingWithdrawals: {
      ...Dollars,
      description: "Withdrawals not paid yet, with their fees; the venue owes them, too.",
    },
    difference: Nullable({
      ...Type.Number(),
      description: "Dollars that the vaults hold above the sum; null while either is unknown.",
    }),
  },
  { title: "Reserves" },
);
export type Reserves = Static<typeof Reserves>;

export const Liability = Type.Object(
  {
    position: {
      ...LogPosition,
      description: "Of the commitment, as in `GET /v1/bridge/reserves`.",
    },
    address: Type.String({ pattern: "^0x[0-9a-f]{40}$" }),
    salt: Type.String({ pattern: "^0x[0-9a-f]{32}$" }),
    balanceMicros: { ...Count, description: "What the venue owes this account, in micro-dollars." },
    path: Type.Array(
      Type.Object({
        side: Type.Enum(["left", "right"]),
        hash: Hash,
        sumMicros: Count,
      }),
      { maxItems: 53 },
    ),
  },
  { title: "Liability" },
);
export type Liability = Static<typeof Liability>;
