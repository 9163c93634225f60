/** Attestors that sign and watch withdrawals, on a real venue and a real chain; and each attack on them. */

import { readFileSync, statSync, writeFileSync } from "node:fs";
import { requestOfVotes, SigningRecord } from "@perpgate/bridge";
import { ATTESTORS, EvmNode } from "@perpgate/bridge/testing";
import { TestCosigner } from "@perpgate/protocol/testing";
import { newLogKey } from "@perpgate/venue";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PayingVenue } from "./testing/paying-venue.js";

const PATIENCE_MS = 180_000;
let node: EvmNode;
beforeAll(async () => {
  node = await EvmNode.start(1);
}, PATIENCE_MS);
afterAll(() => node?.stop());

/** Two attestors sign; anyone sends their signatures to the vault. */
async function requested(paying: PayingVenue, amount = 100) {
  const id = await paying.ask(amount);
  await paying.seal();
  const attestors = [await paying.attestor(0), await paying.attestor(1)] as const;
  for (const { attestor } of attestors) await attestor.poll();
  expect(await paying.read(id)).toMatchObject({ status: "attested" });
  const made = await requestOfVotes(await paying.read(id), paying.chain.domain, {
    members: ATTESTORS.map(({ address }) => address),
    quorum: 2,
  });
  if (typeof made === "string") throw new Error(made);
  const sent = await paying.chain.request(made.withdrawal, made.signatures);
  expect(sent.result).toBe("ok");
  const poll = async () => {
    for (const { attestor } of attestors) await attestor.poll();
  };
  return { id, attestors, made, sent, poll };
}

describe("a withdrawal", () => {
  test(
    "signed, requested, pending, paid: each step in the log, the amount on the chain, nothing twice",
    async () => {
      const paying = await PayingVenue.start(node);
      const before = await paying.balance();
      const { id, poll, sent } = await requested(paying);
      expect(await paying.balance()).toBe(Number(before) - 100.5);
      // Both attestors have stated what the vault holds at a finalized block.
      expect(await paying.holdings()).toMatchObject({
        holds: 400,
        statements: [{ attestor: 0 }, { attestor: 1 }],
      });
      await poll();
      expect(await paying.read(id)).toMatchObject({ status: "pending", txHash: sent.hash });
      await paying.passDispute();
      const paid = await paying.chain.finalize(BigInt(id));
      expect(paid.result).toBe("ok");
      await paying.follow();
      await poll();
      expect(await paying.read(id)).toMatchObject({ status: "paid", txHash: paid.hash });
      expect(await paying.chain.balance(paying.chain.vault)).toBe(300_000_000n);
      expect(await paying.chain.balance(`0x${paying.at.address}`)).toBe(100_000_000n);
      expect(paying.failures()).toEqual([]);
      expect(await paying.holdings()).toMatchObject({ holds: 300 });
      const position = paying.at.venue.at.venue.seq;
      await poll();
      expect(paying.at.venue.at.venue.seq).toBe(position);
    },
    PATIENCE_MS,
  );

  test(
    "a payment whose block is replaced before it is final is not said to be paid",
    async () => {
      const paying = await PayingVenue.start(node);
      const { id, poll } = await requested(paying);
      await paying.passDispute();
      const fork = await node.snapshot();
      expect((await paying.chain.finalize(BigInt(id))).result).toBe("ok");
      // Finality stays behind the payment.
      const final = await node.rpc("eth_getBlockByNumber", ["0x1", false]);
      const [first, second] = [await paying.attestor(2), await paying.attestor(2)];
      for (const proxy of [...first.proxies, ...second.proxies]) {
        proxy.lie = ({ method, params }, result) =>
          method === "eth_getBlockByNumber" && params[0] === "finalized" ? final : result;
      }
      await first.attestor.poll();
      expect((await paying.read(id)).votes).toMatchObject(
        expect.arrayContaining([expect.objectContaining({ attestor: 2, verdict: "pending" })]),
      );
      await node.revert(fork);
      await poll();
      expect(await paying.read(id)).toMatchObject({ status: "pending" });
      expect((await paying.chain.finalize(BigInt(id))).result).toBe("ok");
      await paying.follow();
      await poll();
      expect(await paying.read(id)).toMatchObject({ status: "paid" });
    },
    PATIENCE_MS,
  );

  test(
    "never requested: expired after its deadline at a finalized block, and credited once",
    async () => {
      const paying = await PayingVenue.start(node);
      const before = await paying.balance();
      const id = await paying.ask(100);
      await paying.seal();
      const attestors = [await paying.attestor(0), await paying.attestor(1)];
      for (const { attestor } of attestors) await attestor.poll();
      await node.letTimePass(3_700);
      await paying.follow();
      for (const { attestor } of attestors) await attestor.poll();
      expect(await paying.read(id)).toMatchObject({ status: "expired" });
      expect(await paying.balance()).toBe(before);
      for (const { attestor } of attestors) await attestor.poll();
      expect(await paying.balance()).toBe(before);
    },
    // An hour in ticks.
    3 * PATIENCE_MS,
  );
});

describe("what an attestor does not sign", () => {
  test(
    "without a proof, under a checkpoint without its witness, or of another log",
    async () => {
      const paying = await PayingVenue.start(node);
      const id = await paying.ask(100);
      const one = await paying.attestor(0);
      await one.attestor.poll();
      expect(paying.failures()).toEqual([]);
      await paying.seal();
      const { witnessKeys = [] } = paying.proofKeys;
      const stranger = new TestCosigner("witness.example/w2").text;
      const logKey = newLogKey("venue.example/log").key.text;
      for (const [changed, reason] of [
        [{ witnessKeys: [...witnessKeys, stranger] }, "1 of the 2 cosignatures"],
        [{ logKey }, "did not sign"],
      ] as const) {
        const proofKeys = { ...paying.proofKeys, ...changed };
        const other = await paying.attestor(2, { proofKeys });
        await other.attestor.poll();
        expect(paying.failures().at(-1)).toContain(reason);
      }
      expect((await paying.read(id)).votes).toEqual([]);
      await one.attestor.poll();
      expect((await paying.read(id)).votes).toMatchObject([{ attestor: 0, verdict: "signed" }]);
    },
    PATIENCE_MS,
  );

  test(
    "with all but one endpoint lost, or endpoints that differ: it says nothing, and never falls back",
    async () => {
      const paying = await PayingVenue.start(node);
      const id = await paying.ask(100);
      await paying.seal();
      const one = await paying.attestor(0);
      one.proxies[1].behaviour = "down";
      // A failed poll: an attestor that only keeps silent looks healthy.
      await expect(one.attestor.poll()).rejects.toThrow("1 endpoints answered, and 2 must agree");
      expect((await paying.read(id)).votes).toEqual([]);
      const other = await paying.attestor(1);
      // This endpoint says that the vault is locked.
      other.proxies[1].lie = ({ method, params }, result) => {
        const { data } = Object(params[0]);
        return method === "eth_call" && data === "0xa4e2d634"
          ? `0x${"1".padStart(64, "0")}`
          : result;
      };
      await other.attestor.poll();
      expect((await paying.read(id)).votes).toEqual([]);
      const third = await paying.attestor(2);
      await third.attestor.poll();
      expect((await paying.read(id)).votes).toMatchObject([{ attestor: 2 }]);
    },
    PATIENCE_MS,
  );

  test(
    "above the vault's cap of an hour, counting what it has signed, also after a restart",
    async () => {
      const paying = await PayingVenue.start(node);
      // 1 % of what the vault holds, or the floor of 1,000 dollars: lowered to 150.
      const caps = { token: paying.chain.token, hourFloor: 150_000_000n, dayFloor: 5_000_000_000n };
      expect((await paying.chain.administer("SetCaps", caps)).result).toBe("ok");
      await paying.follow();
      const ids = [await paying.ask(100, 1), await paying.ask(100, 2)];
      await paying.seal();
      const one = await paying.attestor(0);
      await one.attestor.poll();
      const again = await paying.attestor(0, { recordPath: one.recordPath });
      await again.attestor.poll();
      const votes = await Promise.all(ids.map(async (id) => (await paying.read(id)).votes.length));
      expect(votes).toEqual([1, 0]);
    },
    PATIENCE_MS,
  );

  test(
    "a second payment under an id: its record refuses, whatever the venue says",
    async () => {
      const paying = await PayingVenue.start(node);
      const id = await paying.ask(100);
      await paying.seal();
      const one = await paying.attestor(0);
      const scope = `1 ${paying.chain.vault.slice(2).toLowerCase()} ${paying.chain.token.slice(2).toLowerCase()}`;
      one.record.add({ id, digest: `0x${"ab".repeat(32)}`, scope, amount: "1", atMs: 0 });
      await one.attestor.poll();
      expect(paying.failures()).toEqual([expect.stringContaining("other data")]);
      expect((await paying.read(id)).votes).toEqual([]);
    },
    PATIENCE_MS,
  );

  test(
    "another payment in the vault under its id: an alarm, and no vote",
    async () => {
      const paying = await PayingVenue.start(node);
      const id = await paying.ask(100);
      await paying.seal();
      // A quorum of stolen keys signs twice the amount.
      const data = await paying.chain.withdrawal({ id: BigInt(id), amount: 200_000_000n });
      expect((await paying.chain.request(data)).result).toBe("ok");
      const one = await paying.attestor(0);
      await one.attestor.poll();
      expect(paying.events).toContainEqual(
        expect.objectContaining({ kind: "WithdrawalFailed", isAlarm: true, withdrawalId: id }),
      );
      expect((await paying.read(id)).votes).toEqual([]);
    },
    PATIENCE_MS,
  );
});

test("the record: for its owner alone, a torn line is dropped, a damaged one stops the start", async () => {
  const paying = await PayingVenue.start(node);
  await paying.ask(100);
  await paying.seal();
  const { attestor, recordPath } = await paying.attestor(0);
  await attestor.poll();
  expect(statSync(recordPath).mode & 0o777).toBe(0o600);
  const whole = readFileSync(recordPath, "utf8");
  writeFileSync(recordPath, `${whole}{"id":7,"di`);
  new SigningRecord(recordPath).close();
  expect(readFileSync(recordPath, "utf8")).toBe(whole);
  writeFileSync(recordPath, `{"id":7}\n${whole}`);
  expect(() => new SigningRecord(recordPath)).toThrow("cannot be read");
}, 180_000);
