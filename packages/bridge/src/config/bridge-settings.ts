/**
 * Schema of the bridge's part of a configuration file; `bridge-config.ts` interprets it. Its `title` is
 * what a setting means.
 */

import { type Static, type TProperties, Type } from "typebox";

const Whole = (minimum: number, maximum: number, title: string) =>
  Type.Optional(Type.Integer({ title, minimum, maximum }));
const Milliseconds = (maximum: number, title: string) => Whole(1, maximum, title);
const Name = (title: string) => Type.String({ title, minLength: 1 });
const DAY_MS = 86_400_000;

function Closed<P extends TProperties>(properties: P) {
  return Type.Object(properties, { additionalProperties: false });
}

const WithdrawalDollars = (title: string) =>
  Type.Number({ title, minimum: 0, maximum: 1_000_000_000 });
const Unpaid = Type.Optional(
  WithdrawalDollars("dollars that may wait to be paid there; turns the chain on"),
);

const TokenSettings = Closed({
  contract: Name("the token's contract"),
  decimals: Whole(0, 36, "the token's decimals"),
});

export const ChainSettings = Closed({
  rpc: Type.Array(
    Type.String({
      pattern: "^https?://",
      description: "an address that begins with http:// or https://",
    }),
    {
      title: "JSON-RPC addresses of the chain; use several, of different operators",
      minItems: 1,
      maxItems: 16,
    },
  ),
  vault: Name("where deposits go"),
  tokens: Closed({
    USDC: Type.Optional(TokenSettings),
    USDT: Type.Optional(TokenSettings),
  }),
  chainId: Type.Optional(
    Type.Integer({ title: "compared with what each endpoint says, at each poll", minimum: 1 }),
  ),
  confirmations: Whole(
    1,
    1_000_000,
    'required, the block itself counted; only progress with `finality: "finalized"`',
  ),
  finality: Type.Optional(
    Type.Enum(["finalized", "confirmations"], {
      title: "`finalized`: the chain's finalized block decides; `confirmations`: the count does",
    }),
  ),
  minDeposit: Type.Optional(
    Type.Number({
      title:
        "dollars; a transfer of less is not credited. All attestors and the venue must have the same",
      minimum: 0,
      maximum: 1_000_000,
    }),
  ),
  startBlock: Type.Optional(
    Type.Integer({
      title: "earlier transfers are not deposits here; set it when a vault is older than the venue",
      minimum: 0,
    }),
  ),
  pollIntervalMs: Milliseconds(3_600_000, "pause between polls"),
  timeoutMs: Milliseconds(600_000, "for one batch, to its last byte"),
  graceMs: Milliseconds(
    600_000,
    "how long a slow endpoint is waited for once `minAgreeing` others have answered",
  ),
  batchSize: Whole(2, 1_000, "calls in a batch"),
  minAgreeing: Whole(1, 16, "endpoints that must answer, all of them the same"),
  maxHeadLagMs: Milliseconds(
    DAY_MS,
    "an endpoint whose head is this much older than the others' is left out",
  ),
  maxHeadAgeMs: Milliseconds(
    365 * DAY_MS,
    "`perpgate attest` is not ready while the newest block that `minAgreeing` endpoints have is older",
  ),
  notFoundAfterMs: Milliseconds(
    365 * DAY_MS,
    "by the chain's own time; with less than a day, a hash never seen is rejected, not forgotten",
  ),
  watchMs: Milliseconds(365 * DAY_MS, "how long credited deposits are watched"),
  recheckIntervalMs: Milliseconds(DAY_MS, "how often"),
});
export type ChainSettings = Static<typeof ChainSettings>;

export const BridgeSettings = Closed({
  /** Default: `chain` if a chain is configured, otherwise `dev`. */
  attestor: Type.Optional(Type.Enum(["dev", "chain"], { title: "`dev` or `chain`" })),
  venue: Type.Optional(
    Type.String({
      title: "the venue's name, shown in `GET /v1/bridge`; votes sign its id",
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
      {
        title: "Ed25519 public keys of all attestors, in order of their numbers",
        minItems: 1,
        maxItems: 100,
      },
    ),
  ),
  /** Default: more than half of the members. */
  quorum: Whole(1, 100, "votes that settle a deposit"),
  keyFiles: Type.Optional(
    Type.Array(Type.String({ minLength: 1 }), {
      title: "files with the private keys of the attestors that run here, one each",
      maxItems: 16,
    }),
  ),
  /** Missing: the venue takes none. Dollars and seconds; in the log, the same for all gateways. */
  withdrawals: Type.Optional(
    Closed({
      minWithdrawal: WithdrawalDollars(
        "dollars; without `bridge.withdrawals` the venue takes none",
      ),
      fee: WithdrawalDollars("dollars of each withdrawal, on top of its amount"),
      accountPerDay: WithdrawalDollars("dollars of one account in a day"),
      venuePerHour: WithdrawalDollars("dollars of all accounts in an hour"),
      venuePerDay: WithdrawalDollars("dollars of all accounts in a day"),
      lifeSeconds: Whole(3_600, 604_800, "from the request to the deadline"),
      maxUnpaid: Closed({
        ethereum: Unpaid,
        arbitrum: Unpaid,
      }),
    }),
  ),
  /** Of `perpgate attest`: what an attestor signs withdrawals with. Missing: it signs none. */
  signing: Type.Optional(
    Closed({
      /** The key of the vault's attestor, as of `perpgate keygen wallet`. */
      keyFile: Name("`perpgate attest`: the key of the vault's attestor"),
      record: Name("the file with everything that was signed, on a disk that lasts"),
      /** The venue's log key, and those of its witnesses, from elsewhere than the venue. */
      logKey: Name("the venue's log key, not taken from the venue"),
      witnessKeys: Type.Optional(
        Type.Array(Type.String({ minLength: 1 }), {
          title: "verifier keys of the witnesses",
          maxItems: 32,
        }),
      ),
      require: Whole(0, 32, "cosignatures that a proof needs"),
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
