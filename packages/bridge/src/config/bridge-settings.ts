/** Schema of the bridge's part of a configuration file; `bridge-config.ts` interprets it. */

import { type Static, type TProperties, Type } from "typebox";

const Milliseconds = (maximum: number) => Type.Integer({ minimum: 1, maximum });
const DAY_MS = 86_400_000;

function Closed<P extends TProperties>(properties: P) {
  return Type.Object(properties, { additionalProperties: false });
}

const WithdrawalDollars = Type.Number({ minimum: 0, maximum: 1_000_000_000 });

const TokenSettings = Closed({
  /** The address of the contract. */
  contract: Type.String({ minLength: 1 }),
  decimals: Type.Optional(Type.Integer({ minimum: 0, maximum: 36 })),
});

export const ChainSettings = Closed({
  rpc: Type.Array(
    Type.String({
      pattern: "^https?://",
      description: "an address that begins with http:// or https://",
    }),
    { minItems: 1, maxItems: 16 },
  ),
  vault: Type.String({ minLength: 1 }),
  tokens: Closed({
    USDC: Type.Optional(TokenSettings),
    USDT: Type.Optional(TokenSettings),
  }),
  chainId: Type.Optional(Type.Integer({ minimum: 1 })),
  confirmations: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
  /** What makes a transaction final: the chain's `finalized` block, or the number of blocks. */
  finality: Type.Optional(Type.Enum(["finalized", "confirmations"])),
  /** Dollars; smaller transfers are not credited. */
  minDeposit: Type.Optional(Type.Number({ minimum: 0, maximum: 1_000_000 })),
  /** Transfers in earlier blocks are ignored. */
  startBlock: Type.Optional(Type.Integer({ minimum: 0 })),
  pollIntervalMs: Type.Optional(Milliseconds(3_600_000)),
  timeoutMs: Type.Optional(Milliseconds(600_000)),
  /** How long to wait for slow endpoints after enough others have responded. */
  graceMs: Type.Optional(Milliseconds(600_000)),
  batchSize: Type.Optional(Type.Integer({ minimum: 2, maximum: 1_000 })),
  /** How many endpoints must respond, all with the same result. */
  minAgreeing: Type.Optional(Type.Integer({ minimum: 1, maximum: 16 })),
  /** Endpoints whose head is older than the others' by more are ignored. */
  maxHeadLagMs: Type.Optional(Milliseconds(DAY_MS)),
  /** An attestor whose newest block is older is not ready. */
  maxHeadAgeMs: Type.Optional(Milliseconds(365 * DAY_MS)),
  notFoundAfterMs: Type.Optional(Milliseconds(365 * DAY_MS)),
  /** How long credited deposits are watched for a deep reorganisation, and how often. */
  watchMs: Type.Optional(Milliseconds(365 * DAY_MS)),
  recheckIntervalMs: Type.Optional(Milliseconds(DAY_MS)),
});
export type ChainSettings = Static<typeof ChainSettings>;

export const BridgeSettings = Closed({
  /** Default: `chain` if a chain is configured, otherwise `dev`. */
  attestor: Type.Optional(Type.Enum(["dev", "chain"])),
  /** Name of the venue, for `GET /v1/bridge`. */
  venue: Type.Optional(
    Type.String({
      pattern: "^[A-Za-z0-9._:-]{1,64}$",
      description: "1 to 64 letters, digits, . _ : and -",
    }),
  ),
  /** Public keys of all attestors by index; default: those of `keyFiles`. */
  members: Type.Optional(
    Type.Array(
      Type.String({
        pattern: "^[0-9a-fA-F]{64}$",
        description: "an Ed25519 public key: 64 hex digits",
      }),
      { minItems: 1, maxItems: 100 },
    ),
  ),
  /** Default: more than half of the members. */
  quorum: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
  /** Files with the private keys of the attestors that run in this process. */
  keyFiles: Type.Optional(Type.Array(Type.String({ minLength: 1 }), { maxItems: 16 })),
  /** Missing: the venue takes none. Dollars and seconds; in the log, the same for all gateways. */
  withdrawals: Type.Optional(
    Closed({
      minWithdrawal: WithdrawalDollars,
      fee: WithdrawalDollars,
      accountPerDay: WithdrawalDollars,
      venuePerHour: WithdrawalDollars,
      venuePerDay: WithdrawalDollars,
      /** From the request to the deadline. */
      lifeSeconds: Type.Optional(Type.Integer({ minimum: 3_600, maximum: 604_800 })),
      /** By chain: dollars that may wait to be paid there. */
      maxUnpaid: Closed({
        ethereum: Type.Optional(WithdrawalDollars),
        arbitrum: Type.Optional(WithdrawalDollars),
      }),
    }),
  ),
  /** Of `perpgate attest`: what an attestor signs withdrawals with. Missing: it signs none. */
  signing: Type.Optional(
    Closed({
      /** The key of the vault's attestor, as of `perpgate keygen wallet`. */
      keyFile: Type.String({ minLength: 1 }),
      /** The file with what was signed, which must not be lost. */
      record: Type.String({ minLength: 1 }),
      /** The venue's log key, and those of its witnesses, from elsewhere than the venue. */
      logKey: Type.String({ minLength: 1 }),
      witnessKeys: Type.Optional(Type.Array(Type.String({ minLength: 1 }), { maxItems: 32 })),
      /** Cosignatures that a proof needs; default: of all witnesses. */
      require: Type.Optional(Type.Integer({ minimum: 0, maximum: 32 })),
    }),
  ),
  chains: Type.Optional(
    Closed({
      ethereum: Type.Optional(ChainSettings),
      arbitrum: Type.Optional(ChainSettings),
      tron: Type.Optional(ChainSettings),
    }),
  ),
});
export type BridgeSettings = Static<typeof BridgeSettings>;
