/** Withdrawals in the history: rows, votes, ledger, and what `verify` finds. */
import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import type { AttestWithdrawal, Command, Withdraw } from "@perpgate/engine";
import { creditVote, openSession } from "@perpgate/engine/testing";
import {
  hexFromBytes,
  voteText,
  type WithdrawalVerdict,
  type WithdrawalVote,
  withdrawalVoteText,
} from "@perpgate/protocol/core";
import { expect, onTestFinished, test } from "vitest";
import { DEFAULT_PARAMETERS, venueConfigOf } from "../listing/venue-config.js";
import type { Evidence } from "../record/record.js";
import {
  removeFolder,
  START_MS,
  signInMessage,
  TEST_MARKETS,
  TestVenue,
  temporaryFolder,
} from "../testing/test-venue.js";
import { fingerprintOf } from "../verify/key-signature.js";
import { verify } from "../verify/verify.js";

const ADDRESS = "1".padStart(40, "0");
const VAULT = "aa".repeat(20);
const CONTRACT = "bb".repeat(20);
const SCOPE = {
  chain: "ethereum",
  chainId: 1,
  vault: VAULT,
  tokens: [{ token: "USDC", contract: CONTRACT }],
} as const;
const nothing = new Uint8Array(0);

function rawOf(key: KeyObject): Buffer {
  return key.export({ format: "der", type: "spki" }).subarray(-32);
}

/** A venue with two attestors and an account that has 500 dollars. */
class Scene {
  readonly folder: string;
  readonly session: number;
  private constructor(
    readonly driver: TestVenue,
    given: { folder: string; session: number },
    private readonly owner: KeyObject,
    private readonly attestors: readonly { publicKey: KeyObject; privateKey: KeyObject }[],
    private readonly key: string,
  ) {
    this.folder = given.folder;
    this.session = given.session;
  }

  static async open(): Promise<Scene> {
    const folder = await temporaryFolder();
    onTestFinished(() => removeFolder(folder));
    const attestors = [1, 2].map(() => generateKeyPairSync("ed25519"));
    const config = venueConfigOf(TEST_MARKETS, {
      ...DEFAULT_PARAMETERS,
      attestorKind: "chain",
      attestors: 2,
      attestorQuorum: 2,
      devCredit: 0,
      withdrawals: {
        minWithdrawal: 10,
        fee: 0.5,
        accountPerDay: 1_000,
        venuePerHour: 1_000,
        venuePerDay: 1_000,
        lifeSeconds: 3_600,
        chains: [{ chain: "ethereum", chainId: 1, tokens: ["USDC"], maxUnpaid: 1_000 }],
      },
    });
    const members = attestors.map(({ publicKey }) => hexFromBytes(rawOf(publicKey)));
    const keys = { venue: "test-venue", members, chains: [SCOPE] };
    const driver = await TestVenue.open(folder, { config, attestors: keys });
    const { privateKey, publicKey } = generateKeyPairSync("ed25519");
    const raw = rawOf(publicKey);
    const key = fingerprintOf(raw);
    const resource = `urn:perpgate:session?key=${raw.toString("hex")}`;
    const siweNonce = "nonce1";
    const { seq: session } = await driver.submit(
      openSession({
        stampMs: START_MS,
        address: ADDRESS,
        key,
        tokenHash: "0".repeat(64),
        siweNonce,
      }),
      {
        signed: Buffer.from(signInMessage(ADDRESS, siweNonce, [resource])),
        signature: Buffer.from(ADDRESS),
        publicKey: raw,
      },
    );
    const scene = new Scene(driver, { folder, session }, privateKey, attestors, key);
    await scene.deposit(500);
    return scene;
  }

  get venue() {
    return this.driver.venue;
  }

  private async deposit(dollars: number): Promise<void> {
    const { venue, session } = this;
    const stampMs = venue.views.timeMs;
    const txHash = "cd".repeat(32);
    const registration = { chain: "ethereum", txHash, token: "USDC" } as const;
    const { seq: depositId } = await this.driver.submit({
      kind: "RegisterDeposit",
      stampMs,
      session,
      ...registration,
    });
    const credit = { address: ADDRESS, amountMicros: dollars * 1e6, logIndex: 0, token: "USDC" };
    for (const attestor of [0, 1]) {
      const statement = { attestor, verdict: "credit", votedAtMs: stampMs, reason: "" } as const;
      const figures = { confirmations: 12, required: 12 };
      const command = creditVote({
        stampMs,
        depositId,
        credits: [credit],
        ...statement,
        ...figures,
      });
      const text = voteText({
        ...SCOPE,
        ...statement,
        ...figures,
        venue: venue.listing.venueId ?? "",
        depositId,
        txHash,
        block: { number: 1, hash: "ef".repeat(32) },
        part: 1,
        parts: 1,
        credits: [{ ...credit, token: "USDC" }],
      });
      await this.driver.submit(command, this.byAttestor(attestor, text));
    }
  }

  private byAttestor(attestor: number, text: string): Evidence {
    const { privateKey, publicKey } = this.attestors[attestor]!;
    const signed = Buffer.from(text, "latin1");
    return { signed, signature: sign(null, signed, privateKey), publicKey: rawOf(publicKey) };
  }

  /** The evidence is of `body`, the command has `changes`. */
  async withdraw(amount: number, nonce: number, changes: Partial<Withdraw> = {}): Promise<number> {
    const signed = Buffer.from(JSON.stringify({ chain: "ethereum", token: "USDC", amount, nonce }));
    const command: Command = {
      kind: "Withdraw",
      stampMs: this.venue.views.timeMs,
      session: this.session,
      key: this.key,
      nonce,
      chain: "ethereum",
      token: "USDC",
      amountMicros: amount * 1e6,
      ...changes,
    };
    const signature = sign(null, signed, this.owner);
    return (await this.driver.submit(command, { signed, signature, publicKey: nothing })).seq;
  }

  /** The text says `changes`, the command does not. */
  async vote(
    attestor: number,
    withdrawalId: number,
    verdict: WithdrawalVerdict,
    changes: Partial<WithdrawalVote> = {},
  ): Promise<void> {
    const { venue } = this;
    const withdrawal = venue.views.withdrawal(1, withdrawalId)!;
    const votedAtMs = venue.views.timeMs;
    const command: AttestWithdrawal = {
      kind: "AttestWithdrawal",
      stampMs: votedAtMs,
      attestor,
      withdrawalId,
      verdict,
      votedAtMs,
      txHash: verdict === "pending" || verdict === "paid" ? "12".repeat(32) : "",
      vaultSignature: verdict === "signed" ? "34".repeat(65) : "",
    };
    const { txHash, vaultSignature } = command;
    const text = withdrawalVoteText({
      venue: venue.listing.venueId ?? "",
      attestor,
      withdrawalId,
      chain: "ethereum",
      chainId: 1,
      vault: VAULT,
      token: "USDC",
      contract: CONTRACT,
      decimals: 6,
      account: ADDRESS,
      amount: BigInt(withdrawal.amount * 1e6),
      deadline: withdrawal.deadline / 1_000,
      verdict,
      block: verdict === "signed" ? null : { number: 5, hash: "56".repeat(32) },
      txHash,
      vaultSignature,
      votedAtMs,
      ...changes,
    });
    await this.driver.submit(command, this.byAttestor(attestor, text));
  }

  async verified(): Promise<string | null> {
    await this.venue.close();
    const recover = async (_: Uint8Array, signature: Uint8Array) => {
      return Buffer.from(signature).toString();
    };
    const { fault } = await verify(this.folder, { signatures: recover });
    return fault === null ? null : fault.reason;
  }
}

test("a withdrawal from queued to paid: its states, its votes, the ledger, and verify", async () => {
  const scene = await Scene.open();
  const { views } = scene.venue;
  const id = await scene.withdraw(100, 7);
  expect(views.withdrawals(1)).toMatchObject([
    { withdrawalId: String(id), amount: 100, fee: 0.5, status: "queued", txHash: null, nonce: 7 },
  ]);
  expect(views.withdrawals(2)).toEqual([]);
  expect(views.withdrawal(2, id)).toBeUndefined();
  const seen = [];
  for (const verdict of ["signed", "pending", "paid"] as const) {
    for (const attestor of [0, 1]) {
      await scene.vote(attestor, id, verdict);
      seen.push(views.withdrawal(1, id)?.status);
    }
  }
  expect(seen).toEqual(["queued", "attested", "attested", "pending", "pending", "paid"]);
  const paid = views.withdrawal(1, id);
  expect(paid).toMatchObject({ txHash: `0x${"12".repeat(32)}`, endedAt: START_MS });
  expect(paid?.votes.map(({ attestor, verdict }) => [attestor, verdict])).toEqual([
    [0, "signed"],
    [0, "paid"],
    [1, "signed"],
    [1, "paid"],
  ]);
  const ledger = views.ledger(1, {});
  expect(
    ledger.map(({ kind, amount, balance, reference }) => [kind, amount, balance, reference]),
  ).toEqual([
    ["withdrawalFee", -0.5, 399.5, String(id)],
    ["withdrawal", -100, 400, String(id)],
    ["deposit", 500, 500, expect.any(String)],
  ]);
  expect(views.money(1)).toMatchObject({ available: 399.5, balance: 399.5 });
  expect(await scene.verified()).toBeNull();
});

test("an expired withdrawal: the money back in wallet and ledger, pages, a restart in between", async () => {
  const scene = await Scene.open();
  const ids = [await scene.withdraw(100, 1), await scene.withdraw(50, 2)];
  const { venue } = scene;
  await scene.driver.submit({ kind: "AskTime", stampMs: START_MS + 3_602_000 });
  for (const attestor of [0, 1]) await scene.vote(attestor, ids[0]!, "unpaid");
  const { views } = venue;
  expect(views.withdrawals(1).map(({ status }) => status)).toEqual(["queued", "expired"]);
  expect(views.withdrawals(1, { limit: 1, before: String(ids[1]) })).toMatchObject([
    { withdrawalId: String(ids[0]), endedAt: expect.any(Number) },
  ]);
  expect(views.withdrawals(1, { limit: 1, after: "0" })).toMatchObject([
    { withdrawalId: String(ids[0]) },
  ]);
  const ledger = views.ledger(1, {});
  expect(ledger.map(({ amount }) => amount)).toEqual([0.5, 100, -0.5, -50, -0.5, -100, 500]);
  expect(ledger[0]?.balance).toBe(449.5);
  const before = views.withdrawals(1);
  await venue.close();
  const { venue: again } = await TestVenue.open(scene.folder, scene.driver.options);
  expect(again.views.withdrawals(1)).toEqual(before);
  await again.close();
});

test("verify: a body, a vote's text or its amount that says something else is found", async () => {
  const bodies = await Scene.open();
  await bodies.withdraw(100, 1, { amountMicros: 101e6 });
  expect(await bodies.verified()).toMatch(/amount: signed 100000000, logged 101000000/);
  const amounts = await Scene.open();
  await amounts.vote(0, await amounts.withdraw(100, 1), "signed", { amount: 100_000_001n });
  expect(await amounts.verified()).toMatch(/about another payment/);
  const vaults = await Scene.open();
  await vaults.vote(0, await vaults.withdraw(100, 1), "signed", { vault: "ac".repeat(20) });
  expect(await vaults.verified()).toMatch(/another venue, chain id, vault or contract/);
  const signatures = await Scene.open();
  await signatures.vote(0, await signatures.withdraw(100, 1), "signed", {
    vaultSignature: "35".repeat(65),
  });
  expect(await signatures.verified()).toMatch(/says something else/);
});

test.each<[string, number | undefined, string, string | null]>([
  ["a contract with its chain", 1, "66".repeat(20), null],
  [
    "a contract without",
    undefined,
    "66".repeat(20),
    "a contract signed in, its chain is not logged",
  ],
  [
    "another chain than the message's",
    5,
    "66".repeat(20),
    "the message has the chain id 1, logged 5",
  ],
  ["a key with a chain", 1, "2".padStart(40, "0"), "a key signed in, a contract's chain is logged"],
])("verify: a sign-in by %s", async (_, contractChainId, signer, fault) => {
  const scene = await Scene.open();
  const { driver } = scene;
  const raw = rawOf(generateKeyPairSync("ed25519").publicKey);
  const [address, siweNonce] = ["2".padStart(40, "0"), "nonce2"];
  const key = fingerprintOf(raw);
  const resource = `urn:perpgate:session?key=${raw.toString("hex")}`;
  const stampMs = driver.venue.views.timeMs;
  const named = { key, tokenHash: "2".repeat(64), siweNonce };
  const chain = contractChainId === undefined ? {} : { contractChainId };
  await driver.submit(openSession({ stampMs, address, ...named, ...chain }), {
    signed: Buffer.from(signInMessage(address, siweNonce, [resource])),
    signature: Buffer.from(signer),
    publicKey: raw,
  });
  expect(await scene.verified()).toBe(fault);
});
