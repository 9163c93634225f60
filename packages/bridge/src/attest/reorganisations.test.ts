/** Confirmations, and reorganisations before and after crediting. */

import { Registry } from "prom-client";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { observeBridge } from "../index.js";
import { Attestors } from "../testing/attestors.js";
import { DOLLAR, startEvmChain } from "../testing/evm-node.js";

const { node, usdc, alice, vault } = await startEvmChain(afterAll);
let attestors: Attestors;
let alices: number;

beforeEach(async () => {
  attestors = new Attestors(await node.timeMs());
  alices = attestors.venue.signIn(alice);
});

function attestor(changes: Partial<Parameters<Attestors["chain"]>[1]> = {}, index = 0) {
  const tokens = { USDC: { contract: usdc } };
  const settings = { rpc: [node.url], vault, tokens, confirmations: 4, recheckIntervalMs: 1_000 };
  return attestors.attestor(attestors.chain("ethereum", { ...settings, ...changes }), index);
}

describe("confirmations", () => {
  test("too few: confirming with their number; enough: credited", async () => {
    const hash = await node.transfer(usdc, alice, vault, DOLLAR);
    const id = attestors.venue.register(alices, "ethereum", hash);
    const one = attestor();
    for (const confirmations of [1, 2, 3]) {
      await one.poll();
      expect(attestors.venue.deposit(id)).toMatchObject({
        status: "confirming",
        confirmations,
        required: 4,
      });
      expect(attestors.venue.wallet(alice)).toBe(0);
      await node.mine(1);
    }
    await one.poll();
    expect(attestors.venue.deposit(id)).toMatchObject({ status: "credited", confirmations: 4 });
  });

  test("a poll without changes: no vote", async () => {
    const hash = await node.transfer(usdc, alice, vault, DOLLAR);
    attestors.venue.register(alices, "ethereum", hash);
    const one = attestor();
    await one.poll();
    await one.poll();
    await one.poll();
    expect(attestors.venue.votesInLog()).toBe(1);
  });

  test("a rejection needs them too: failed in one fork, succeeded in the next", async () => {
    const before = await node.snapshot();
    const more = 2_000_000n * DOLLAR;
    const hash = await node.transfer(usdc, alice, vault, more);
    const id = attestors.venue.register(alices, "ethereum", hash);
    const one = attestor();
    await one.poll();
    expect(attestors.venue.deposit(id).status).toBe("confirming");
    await node.revert(before);
    await node.mint(usdc, alice, more);
    expect(await node.transfer(usdc, alice, vault, more)).toBe(hash);
    await node.mine(3);
    await one.poll();
    expect(attestors.venue.deposit(id)).toMatchObject({ status: "credited" });
  });
});

describe("reorganisation before crediting", () => {
  test("transaction removed: 0 confirmations; mined in another block: credited once", async () => {
    const before = await node.snapshot();
    const hash = await node.transfer(usdc, alice, vault, DOLLAR);
    const id = attestors.venue.register(alices, "ethereum", hash);
    await node.mine(2);
    const one = attestor();
    await one.poll();
    expect(attestors.venue.deposit(id)).toMatchObject({ status: "confirming", confirmations: 3 });
    await node.revert(before);
    await node.mine(8);
    await one.poll();
    expect(attestors.venue.deposit(id)).toMatchObject({ status: "confirming", confirmations: 0 });
    expect(attestors.happened("DepositReorged")).toMatchObject([{ hadConfirmations: 3 }]);
    expect(await node.transfer(usdc, alice, vault, DOLLAR)).toBe(hash);
    await node.mine(3);
    await one.poll();
    await one.poll();
    expect(attestors.venue.deposit(id).status).toBe("credited");
    expect(attestors.venue.wallet(alice)).toBe(1_000_000);
  });

  test("a vote to credit without a quorum: withdrawn", async () => {
    attestors = new Attestors(attestors.nowMs, 3, 2);
    alices = attestors.venue.signIn(alice);
    const before = await node.snapshot();
    const hash = await node.transfer(usdc, alice, vault, DOLLAR);
    const id = attestors.venue.register(alices, "ethereum", hash);
    await node.mine(3);
    const one = attestor();
    await one.poll();
    expect(attestors.venue.deposit(id).votes.get(0)).toMatchObject({ verdict: "credit" });
    await node.revert(before);
    await node.mine(5);
    await one.poll();
    expect(attestors.venue.deposit(id).votes.get(0)).toMatchObject({
      verdict: "confirming",
      confirmations: 0,
    });
  });
});

describe("reorganisation past the confirmations, after crediting", () => {
  async function credited() {
    const before = await node.snapshot();
    const hash = await node.transfer(usdc, alice, vault, 25n * DOLLAR);
    const id = attestors.venue.register(alices, "ethereum", hash);
    await node.mine(3);
    const one = attestor();
    await one.poll();
    expect(attestors.venue.deposit(id).status).toBe("credited");
    attestors.nowMs += 1_000;
    await one.poll();
    expect(attestors.happened("CreditReorged")).toEqual([]);
    attestors.nowMs += 1_000;
    return { before, hash, id, one };
  }

  test("removed: alarm, metric, log line, and the deposit is marked, once", async () => {
    const { before, id, one } = await credited();
    await node.revert(before);
    await node.mine(10);
    await one.poll();
    attestors.nowMs += 1_000;
    await one.poll();
    const alarm = {
      kind: "CreditReorged",
      chain: "ethereum",
      depositId: id,
      reason: "transaction_gone",
      creditedMicros: 25_000_000,
    } as const;
    expect(attestors.happened("CreditReorged")).toEqual([alarm]);
    expect(
      attestors.venue.marks.map(({ vote }) => [vote.depositId, vote.verdict, vote.reason]),
    ).toEqual([[id, "reorged", "transaction_gone"]]);
    expect(attestors.venue.rejectedVotes).toEqual([]);
    const lines: string[] = [];
    const line = (fields: object, message: string) => {
      lines.push(`${message} ${JSON.stringify(fields)}`);
    };
    const registry = new Registry();
    const log = { info: line, warn: line, error: line };
    const observe = observeBridge(log, registry, ["ethereum"]);
    observe(alarm);
    expect(lines).toEqual([expect.stringContaining("ALARM")]);
    expect(await registry.metrics()).toContain(
      'perpgate_bridge_credited_reorgs_total{chain="ethereum"} 1',
    );
  });

  test("in another block with the same transfer: reported as moved", async () => {
    const { before, hash, id, one } = await credited();
    await node.revert(before);
    await node.mine(2);
    expect(await node.transfer(usdc, alice, vault, 25n * DOLLAR)).toBe(hash);
    await node.mine(5);
    await one.poll();
    expect(attestors.happened("CreditReorged")).toMatchObject([
      { depositId: id, reason: "transaction_moved" },
    ]);
    expect(attestors.venue.wallet(alice)).toBe(25_000_000);
  });

  test("removed for one attestor, moved for the next: checked again until both say the same", async () => {
    attestors = new Attestors(attestors.nowMs, 2, 2);
    alices = attestors.venue.signIn(alice);
    const before = await node.snapshot();
    const hash = await node.transfer(usdc, alice, vault, 25n * DOLLAR);
    const id = attestors.venue.register(alices, "ethereum", hash);
    await node.mine(3);
    const [one, two] = [attestor({}, 0), attestor({}, 1)];
    const pollLater = async (...polled: (typeof one)[]) => {
      attestors.nowMs += 1_000;
      for (const each of polled) await each.poll();
    };
    await pollLater(one, two);
    expect(attestors.venue.deposit(id).status).toBe("credited");
    await pollLater(one, two);
    await node.revert(before);
    await node.mine(2);
    await pollLater(one);
    expect(await node.transfer(usdc, alice, vault, 25n * DOLLAR)).toBe(hash);
    await node.mine(5);
    await pollLater(two);
    const reasons = () => attestors.venue.marks.map(({ vote }) => [vote.attestor, vote.reason]);
    const reported = [
      [0, "transaction_gone"],
      [1, "transaction_moved"],
    ];
    expect(reasons()).toEqual(reported);
    expect(attestors.venue.deposit(id).reorged).toBe("");
    await pollLater(two);
    expect(reasons()).toEqual(reported);
    await pollLater(one);
    expect(attestors.venue.deposit(id).reorged).toBe("transaction_moved");
    await pollLater(one, two);
    expect(reasons()).toEqual([...reported, [0, "transaction_moved"]]);
  });

  test("removed while the attestor was down: detected by the next process", async () => {
    const { before, id } = await credited();
    await node.revert(before);
    await node.mine(10);
    attestors.venue.restart();
    await attestor().poll();
    expect(attestors.happened("CreditReorged")).toMatchObject([
      { depositId: id, reason: "transaction_gone" },
    ]);
  });

  const CHANGES = {
    vault: () => ({ vault: alice }),
    contract: () => ({ tokens: { USDC: { contract: alice } } }),
    startBlock: () => ({ startBlock: 1_000_000 }),
  };
  test.each(Object.entries(CHANGES))(
    "credited before another %s was configured: no alarm, and watched as before",
    async (_name, changes) => {
      const { before, id } = await credited();
      const next = attestor(changes());
      await next.poll();
      attestors.nowMs += 1_000;
      await next.poll();
      expect(attestors.happened("CreditReorged")).toEqual([]);
      await node.revert(before);
      await node.mine(10);
      attestors.nowMs += 1_000;
      await next.poll();
      expect(attestors.happened("CreditReorged")).toMatchObject([
        { depositId: id, reason: "transaction_gone" },
      ]);
    },
  );
});
