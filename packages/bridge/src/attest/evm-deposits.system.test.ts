/** Which transfers are credited, on a real EVM node with a real engine. */

import type { Token } from "@perpgate/protocol";
import type { Address } from "viem";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { Attestors } from "../testing/attestors.js";
import { DOLLAR, EvmNode, startEvmChain } from "../testing/evm-node.js";
import { VaultChain } from "../testing/vault-chain.js";

const [{ node, usdc, alice, vault }, other] = await Promise.all([
  startEvmChain(afterAll),
  EvmNode.start(42_161, afterAll),
]);
const bob = node.account(2);
const usdt = await node.token("USDT", 6);
await node.mint(usdt, alice, 1_000_000n * DOLLAR);
await node.mint(usdc, bob, 1_000_000n * DOLLAR);
let attestors: Attestors;
let alices: number;

function settings(at: EvmNode, chainId: number) {
  const tokens = { USDC: { contract: usdc }, USDT: { contract: usdt } };
  return { rpc: [at.url], chainId, vault, tokens, confirmations: 3 };
}

beforeEach(async () => {
  attestors = new Attestors(await node.timeMs());
  alices = attestors.venue.signIn(alice);
});

function attestor(changes: object = {}) {
  return attestors.attestor(attestors.chain("ethereum", { ...settings(node, 1), ...changes }));
}

/** Registers a transaction, lets it confirm, and polls once. */
async function attest(txHash: string, token: Token = "USDC", changes: object = {}) {
  const id = attestors.venue.register(alices, "ethereum", txHash, token);
  await node.mine(2);
  await attestor(changes).poll();
  return attestors.venue.deposit(id);
}

describe("credited", () => {
  test("transfer to the vault: credited to its sender, once, to the micro", async () => {
    const hash = await node.transfer(usdc, alice, vault, 123_456_789n);
    const deposit = await attest(hash);
    expect(deposit).toMatchObject({ status: "credited", confirmations: 3, required: 3 });
    expect(deposit.credits).toMatchObject([{ amountMicros: 123_456_789 }]);
    expect(attestors.venue.wallet(alice)).toBe(123_456_789);
    await attestor().poll();
    expect(attestors.venue.wallet(alice)).toBe(123_456_789);
  });

  test("transfer to a vault contract: credited like any other", async () => {
    const contract = new VaultChain(node, usdc);
    expect((await contract.deploy()).result).toBe("ok");
    const hash = await node.transfer(usdc, alice, contract.vault, 9n * DOLLAR);
    const deposit = await attest(hash, "USDC", { vault: contract.vault });
    expect(deposit).toMatchObject({ status: "credited", credits: [{ amountMicros: 9_000_000 }] });
    expect(await contract.balance(contract.vault)).toBe(9n * DOLLAR);
  });

  test("another person's hash: credited to the sender, not to the registrant", async () => {
    const hash = await node.transfer(usdc, bob, vault, 5n * DOLLAR);
    await attest(hash);
    expect([attestors.venue.wallet(alice), attestors.venue.wallet(bob)]).toEqual([0, 5_000_000]);
    // Bob signs in for the first time.
    attestors.venue.signIn(bob);
    expect(attestors.venue.wallet(bob)).toBe(5_000_000);
  });

  test("both tokens in one transaction: each matching log once; other logs: not", async () => {
    const splitter = await node.contract("Splitter");
    await node.mint(usdc, splitter, 100n * DOLLAR);
    await node.mint(usdt, splitter, 100n * DOLLAR);
    const hash = await node.pay(splitter, [
      [usdc, vault, 7n * DOLLAR],
      [usdt, vault, 50n * DOLLAR],
      [usdc, bob, 9n * DOLLAR],
      [usdc, vault, 7n * DOLLAR],
    ]);
    const deposit = await attest(hash);
    const logs = deposit.credits.map(({ logIndex, token, amountMicros }) => {
      return [logIndex, token, amountMicros];
    });
    expect(logs).toEqual([
      [0, "USDC", 7_000_000],
      [1, "USDT", 50_000_000],
      [3, "USDC", 7_000_000],
    ]);
    expect(attestors.venue.wallet(splitter)).toBe(64_000_000);
  });

  test("a token other than the registered one: credited", async () => {
    const hash = await node.transfer(usdt, alice, vault, 5n * DOLLAR);
    const deposit = await attest(hash, "USDC");
    expect(deposit).toMatchObject({ status: "credited", token: "USDC" });
    expect(deposit.credits).toMatchObject([{ token: "USDT", amountMicros: 5_000_000 }]);
  });

  test("250 transfers in one transaction: parts of 100, one per poll", async () => {
    const splitter = await node.contract("Splitter");
    await node.mint(usdc, splitter, 1_000n * DOLLAR);
    const hash = await node.pay(
      splitter,
      Array.from({ length: 250 }, (): [Address, Address, bigint] => [usdc, vault, DOLLAR]),
    );
    const id = attestors.venue.register(alices, "ethereum", hash);
    await node.mine(2);
    const one = attestor();
    const credited: number[] = [];
    while (attestors.venue.deposit(id).status !== "credited" && credited.length < 5) {
      await one.poll();
      credited.push(attestors.venue.deposit(id).credits.length);
    }
    expect(credited).toEqual([100, 200, 250]);
    expect(attestors.venue.wallet(splitter)).toBe(250_000_000);
  });

  test.each<[string, readonly number[], number, readonly number[], number]>([
    ["raised", [1, 2], 2, [100, 175], 300],
    ["raised until fewer than a part qualify", [2, 1, 1, 1, 1], 2, [100, 130], 180],
    ["lowered", [0.5, 1], 0.5, [100, 150], 137.5],
  ])(
    "250 transfers, another smallest deposit between two parts, %s: each later log once",
    async (_, dollars, minDeposit, counts, total) => {
      const splitter = await node.contract("Splitter");
      await node.mint(usdc, splitter, 1_000n * DOLLAR);
      const hash = await node.pay(
        splitter,
        Array.from({ length: 250 }, (_, i): [Address, Address, bigint] => {
          return [usdc, vault, BigInt(dollars[i % dollars.length]! * 1e6)];
        }),
      );
      const id = attestors.venue.register(alices, "ethereum", hash);
      await node.mine(2);
      await attestor().poll();
      const first = attestors.venue.deposit(id).credits.length;
      await attestor({ minDeposit }).poll();
      const { status, credits } = attestors.venue.deposit(id);
      expect([first, credits.length]).toEqual(counts);
      expect(status).toBe("credited");
      expect(attestors.venue.wallet(splitter)).toBe(total * 1e6);
    },
  );

  test("deposit and dust in one transaction: only the deposit is credited", async () => {
    const splitter = await node.contract("Splitter");
    await node.mint(usdc, splitter, 100n * DOLLAR);
    const dust = Array.from({ length: 150 }, (): [Address, Address, bigint] => [usdc, vault, 1n]);
    const hash = await node.pay(splitter, [...dust, [usdc, vault, 9n * DOLLAR]]);
    const deposit = await attest(hash);
    expect(deposit.credits).toMatchObject([{ logIndex: 150, amountMicros: 9_000_000 }]);
  });

  test("18 decimals: rounded down to a micro, the rest reported", async () => {
    const fine = await node.token("USDC", 18);
    await node.mint(fine, alice, 10n ** 30n);
    const tokens = { USDC: { contract: fine, decimals: 18 } };
    const hash = await node.transfer(fine, alice, vault, 2n * 10n ** 18n + 1_999_999_999_999n);
    const deposit = await attest(hash, "USDC", { tokens });
    expect(deposit.credits).toMatchObject([{ amountMicros: 2_000_001 }]);
    expect(attestors.happened("DustFloored")).toMatchObject([{ units: 999_999_999_999n }]);
    const dust = await node.transfer(fine, alice, vault, 999_999_999_999n);
    expect(await attest(dust, "USDC", { tokens })).toMatchObject({ reason: "amount_below_micro" });
    const huge = await node.transfer(fine, alice, vault, 10n ** 29n);
    expect(await attest(huge, "USDC", { tokens })).toMatchObject({ reason: "amount_too_large" });
  });

  test("2 decimals: a cent is 10,000 micros", async () => {
    const coarse = await node.token("USDC", 2);
    await node.mint(coarse, alice, 100n);
    const tokens = { USDC: { contract: coarse, decimals: 2 } };
    const hash = await node.transfer(coarse, alice, vault, 1n);
    const deposit = await attest(hash, "USDC", { tokens, minDeposit: 0.01 });
    expect(deposit.credits).toMatchObject([{ amountMicros: 10_000 }]);
  });

  test("token with a transfer fee: credited by the log, which is what the vault received", async () => {
    const fee = await node.contract("FeeToken");
    await node.mint(fee, alice, 100n * DOLLAR);
    const tokens = { USDT: { contract: fee } };
    const hash = await node.transfer(fee, alice, vault, 100n * DOLLAR);
    const deposit = await attest(hash, "USDT", { tokens });
    expect(deposit.credits).toMatchObject([{ amountMicros: 99_000_000 }]);
    expect(await node.balance(fee, vault)).toBe(99n * DOLLAR);
  });
});

describe("the same hash", () => {
  test("other letter case, without 0x, twice: one deposit, one credit", async () => {
    const hash = await node.transfer(usdc, alice, vault, DOLLAR);
    const id = attestors.venue.register(alices, "ethereum", hash);
    const upper = `0X${hash.slice(2).toUpperCase()}`;
    expect(attestors.venue.register(alices, "ethereum", upper)).toBe(id);
    expect(attestors.venue.register(attestors.venue.signIn(bob), "ethereum", hash.slice(2))).toBe(
      id,
    );
    await node.mine(2);
    await attestor().poll();
    expect(attestors.venue.register(alices, "ethereum", upper)).toBe(id);
    await attestor().poll();
    expect(attestors.venue.wallet(alice)).toBe(1_000_000);
  });

  test("concurrent polls and attestors of one key: one credit", async () => {
    const hash = await node.transfer(usdc, alice, vault, DOLLAR);
    attestors.venue.register(alices, "ethereum", hash);
    await node.mine(2);
    const one = attestor();
    await Promise.all([one.poll(), one.poll(), attestor().poll(), attestor().poll()]);
    expect(attestors.venue.wallet(alice)).toBe(1_000_000);
  });

  test("on two chains: credited on one, queued on the other", async () => {
    const hash = await node.transfer(usdc, alice, vault, DOLLAR);
    const here = attestors.venue.register(alices, "ethereum", hash);
    const there = attestors.venue.register(alices, "arbitrum", hash);
    expect(there).not.toBe(here);
    await node.mine(2);
    const arbitrum = attestors.attestor(attestors.chain("arbitrum", settings(other, 42_161)));
    await Promise.all([attestor().poll(), arbitrum.poll()]);
    expect(attestors.venue.deposit(here).status).toBe("credited");
    expect(attestors.venue.deposit(there).status).toBe("queued");
    // A node of Ethereum that is configured for Arbitrum is rejected.
    await attestors.attestor(attestors.chain("arbitrum", settings(node, 42_161))).poll();
    expect(attestors.venue.deposit(there).status).toBe("queued");
    expect(attestors.happened("EndpointFailed")).toMatchObject([{ reason: "serves chain 1" }]);
    expect(attestors.venue.wallet(alice)).toBe(1_000_000);
  });
});

describe("rejected, nothing credited", () => {
  const cases: readonly [
    name: string,
    reason: string,
    act: () => Promise<string>,
    token?: Token,
  ][] = [
    [
      "a failed transaction",
      "transaction_failed",
      () => node.transfer(usdc, alice, vault, 10n ** 18n),
    ],
    [
      "a contract with the same symbol",
      "wrong_contract",
      async () => {
        const fake = await node.token("USDC", 6);
        await node.mint(fake, alice, DOLLAR);
        return node.transfer(fake, alice, vault, DOLLAR);
      },
    ],
    [
      "a token that emits Transfer without moving anything",
      "wrong_contract",
      async () => node.transfer(await node.contract("FalseToken"), alice, vault, DOLLAR),
    ],
    [
      "events similar to a Transfer",
      "no_transfer",
      async () => node.shout(await node.contract("OddEvents"), vault, DOLLAR),
    ],
    ["another vault", "not_to_vault", () => node.transfer(usdc, alice, bob, DOLLAR)],
    ["zero amount", "zero_amount", () => node.transfer(usdc, alice, vault, 0n)],
    [
      "less than the minimum deposit",
      "below_min_deposit",
      () => node.transfer(usdc, alice, vault, DOLLAR - 1n),
    ],
    ["a mint, which has no sender", "no_sender", () => node.mint(usdc, vault, DOLLAR)],
    [
      "the vault to itself",
      "no_sender",
      async () => {
        await node.mint(usdc, vault, DOLLAR);
        return node.transfer(usdc, vault, vault, DOLLAR);
      },
    ],
  ];

  test.each(cases)("%s: %s", async (_, reason, act, token = "USDC") => {
    const deposit = await attest(await act(), token);
    expect(deposit).toMatchObject({ status: "rejected", reason, credits: [] });
    expect(attestors.venue.wallet(alice)).toBe(0);
  });

  test("a transfer from before the start block", async () => {
    const hash = await node.transfer(usdc, alice, vault, DOLLAR);
    const startBlock = (await node.height()) + 1;
    expect(await attest(hash, "USDC", { startBlock })).toMatchObject({
      reason: "before_start_block",
    });
  });

  test("a token that is not configured on this chain", async () => {
    const hash = await node.transfer(usdt, alice, vault, DOLLAR);
    const tokens = { USDC: { contract: usdc } };
    expect(await attest(hash, "USDT", { tokens })).toMatchObject({ reason: "wrong_contract" });
  });
});
