/** Attestors that sign and watch withdrawals, on a real venue and a real chain; and each attack on them. */

import { cpSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import {
  privateKeyFromSeed,
  publicKeyHex,
  requestOfVotes,
  type WithdrawalPort,
} from "@perpgate/bridge";
import { ATTESTORS, EvmNode, keysOf } from "@perpgate/bridge/testing";
import type { OpenWithdrawal } from "@perpgate/protocol";
import { TestCosigner } from "@perpgate/protocol/testing";
import { newLogKey } from "@perpgate/venue";
import { afterAll, describe, expect, test } from "vitest";
import { temporaryFolder } from "../../testing/perpgate-process.js";
import { MEMBERS } from "./testing/attested-venue.js";
import { PayingVenue } from "./testing/paying-venue.js";

const PATIENCE_MS = 180_000;
const node = await EvmNode.start(1, afterAll);

/** A venue that answers with other open withdrawals than its log has. */
const lying =
  (changed: (rows: readonly OpenWithdrawal[]) => readonly OpenWithdrawal[]) =>
  (venue: WithdrawalPort): WithdrawalPort => ({
    terms: () => venue.terms(),
    submitOnWithdrawals: (votes) => venue.submitOnWithdrawals(votes),
    submitHoldings: (statements) => venue.submitHoldings(statements),
    openWithdrawals: async (chain, after) => {
      const { rows, next } = await venue.openWithdrawals(chain, after);
      return { rows: changed(rows), next };
    },
  });

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
    "paid, and the newest block of every endpoint is one of before: never said to be unpaid",
    async () => {
      const paying = await PayingVenue.start(node);
      const { id } = await requested(paying);
      const stale = await node.rpc("eth_getBlockByNumber", ["latest", false]);
      await paying.passDispute();
      expect((await paying.chain.finalize(BigInt(id))).result).toBe("ok");
      await node.letTimePass(3_700);
      await paying.follow();
      const attestors = [await paying.attestor(0), await paying.attestor(1)];
      for (const proxy of attestors.flatMap(({ proxies }) => proxies)) {
        // The finalized block is of a node that is ahead of it.
        proxy.lie = ({ method, params }, result) =>
          method === "eth_getBlockByNumber" && params[0] === "latest" ? stale : result;
      }
      for (const { attestor } of attestors) await attestor.poll();
      expect(await paying.read(id)).toMatchObject({ status: "paid" });
      expect(await paying.balance()).toBe(299.5);
    },
    // An hour in ticks.
    3 * PATIENCE_MS,
  );

  test(
    "a chain that was halted for an hour: paid when it is back",
    async () => {
      const paying = await PayingVenue.start(node);
      const { id, poll } = await requested(paying);
      await poll();
      // No block, while the venue goes on.
      await paying.at.venue.at.advance(1_800_000);
      await poll();
      expect(await paying.read(id)).toMatchObject({ status: "pending" });
      await paying.passDispute();
      expect((await paying.chain.finalize(BigInt(id))).result).toBe("ok");
      await paying.follow();
      await poll();
      expect(await paying.read(id)).toMatchObject({ status: "paid" });
      expect(paying.failures()).toEqual([]);
    },
    3 * PATIENCE_MS,
  );

  test(
    "a relayer that lies: the vault refuses what it changed, the venue what it says; the honest one pays",
    async () => {
      const paying = await PayingVenue.start(node);
      const id = await paying.ask(100);
      await paying.seal();
      const attestors = [await paying.attestor(0), await paying.attestor(1)];
      for (const { attestor } of attestors) await attestor.poll();
      const row = await paying.read(id);
      const group = { members: ATTESTORS.map(({ address }) => address), quorum: 2 };
      const made = await requestOfVotes(row, paying.chain.domain, group);
      if (typeof made === "string") throw new Error(made);
      const { withdrawal, signatures } = made;
      for (const changes of [
        { account: node.account(7) },
        { amount: withdrawal.amount * 2n },
        { id: withdrawal.id + 1n },
        { deadline: withdrawal.deadline + 60n },
      ]) {
        const forged = { ...withdrawal, ...changes };
        expect((await paying.chain.request(forged, signatures)).result).toBe("SignerUnknown");
      }
      // It says that both have seen the payment: the votes of both, with another verdict.
      const votes = row.votes.map(({ text, signature }) => ({
        text: text
          .replace("verdict signed", "verdict paid")
          .replace("block -", `block 9 ${"cd".repeat(32)}`)
          .replace("transaction -", `transaction ${"ab".repeat(32)}`)
          .replace(/signature [0-9a-f]+/, "signature -"),
        signature,
      }));
      const said = await paying.at.venue.post("/v1/bridge/votes", JSON.stringify({ votes }));
      expect([said.status, said.body.code]).toEqual([401, "invalid_signature"]);
      expect((await paying.chain.request(withdrawal, signatures)).result).toBe("ok");
      expect(await paying.read(id)).toMatchObject({ status: "attested" });
    },
    PATIENCE_MS,
  );

  test(
    "an attestor rotated with both of its keys: its vote is void, and the new one signs and is paid",
    async () => {
      const paying = await PayingVenue.start(node);
      const id = await paying.ask(100);
      await paying.seal();
      for (const index of [0, 1]) await (await paying.attestor(index)).attestor.poll();
      expect(await paying.read(id)).toMatchObject({ status: "attested" });
      const seed = "d4".repeat(32);
      const [account] = keysOf("new attestor", 1);
      const attestors = [account!, ATTESTORS[1]!, ATTESTORS[2]!]
        .map(({ address }) => address)
        .sort((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1));
      const rotation = { attestors, quorum: 2n };
      expect((await paying.chain.administer("SetAttestors", rotation)).result).toBe("ok");
      await paying.follow();
      await paying.replaceMembers([publicKeyHex(privateKeyFromSeed(seed)), ...MEMBERS.slice(1)]);
      expect(await paying.read(id)).toMatchObject({ status: "queued" });
      const group = { members: attestors, quorum: 2 };
      const joined = async () => requestOfVotes(await paying.read(id), paying.chain.domain, group);
      expect(await joined()).toBe("1 of 2 attestors of the vault have signed");
      // The old one is no member any more, and says nothing.
      await (await paying.attestor(0)).attestor.poll();
      expect(await joined()).toBe("1 of 2 attestors of the vault have signed");
      await (await paying.attestor(0, { seed, account: account! })).attestor.poll();
      expect(await paying.read(id)).toMatchObject({ status: "attested" });
      const made = await joined();
      if (typeof made === "string") throw new Error(made);
      expect((await paying.chain.request(made.withdrawal, made.signatures)).result).toBe("ok");
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
      one.record.close();
      const again = await paying.attestor(0, { recordPath: one.recordPath });
      await again.attestor.poll();
      const votes = await Promise.all(ids.map(async (id) => (await paying.read(id)).votes.length));
      expect(votes).toEqual([1, 0]);
    },
    PATIENCE_MS,
  );

  test(
    "what a venue asks for without its log: another payee, amount, token, id or deadline, another's proof",
    async () => {
      const paying = await PayingVenue.start(node);
      const ids = [await paying.ask(100, 1), await paying.ask(50, 2)];
      await paying.seal();
      const other = (row: OpenWithdrawal) => `${Number(row.withdrawalId) + 1_000}`;
      const changes: readonly [
        (row: OpenWithdrawal, proofs: readonly (string | null)[]) => Partial<OpenWithdrawal>,
        string,
      ][] = [
        [() => ({ account: node.account(7) }), "proof is of another payment"],
        [({ amount }) => ({ amount: amount + 1 }), "proof is of another payment"],
        [({ deadline }) => ({ deadline: deadline + 1_000 }), "proof is of another payment"],
        [(row) => ({ withdrawalId: other(row) }), "proof is of another payment"],
        [() => ({ token: "USDT" }), "no USDT here"],
        [(_, proofs) => ({ proof: proofs[0] ?? null }), "proof is of another payment"],
        [({ proof }) => ({ proof: proof?.replace("index ", "index 1") ?? null }), "not proven"],
      ];
      for (const [change, reason] of changes) {
        const between = lying((rows) => {
          const proofs = rows.map(({ proof }) => proof).reverse();
          return rows.slice(0, 1).map((row) => ({ ...row, ...change(row, proofs) }));
        });
        const { attestor, recordPath } = await paying.attestor(0, { between });
        await attestor.poll();
        expect(paying.failures().at(-1)).toContain(reason);
        expect(readFileSync(recordPath, "utf8")).toBe("");
      }
      expect(paying.failures()).toHaveLength(changes.length);
      for (const id of ids) expect((await paying.read(id)).votes).toEqual([]);
    },
    PATIENCE_MS,
  );

  test(
    "under a forked checkpoint: the venue's key signed it, and no witness; a cosignature of the other does not fit",
    async () => {
      const paying = await PayingVenue.start(node);
      // Up to here both histories are one.
      const folder = join(temporaryFolder(), "fork");
      cpSync(paying.at.venue.at.directory, folder, { recursive: true, filter: isNoSocket });
      await paying.ask(100);
      await paying.seal();
      const [honest] = await paying.open();
      const forked = await paying.fork(folder);
      await forked.ask(300);
      const [row] = await forked.open();
      expect(row).toMatchObject({ amount: 300 });
      const cosignature = /^\u2014 witness\.example.*$/m.exec(honest?.proof ?? "")?.[0] ?? "";
      expect(cosignature).not.toBe("");
      for (const [proof, reason] of [
        [row?.proof ?? "", "0 of the 1 cosignatures"],
        [`${row?.proof ?? ""}${cosignature}\n`, "witness.example/w1"],
      ] as const) {
        const between = lying((rows) => rows.map((each) => ({ ...each, proof })));
        const { url } = forked;
        const { attestor, recordPath } = await paying.attestor(0, { url, between });
        await attestor.poll();
        expect(paying.failures().at(-1)).toContain(reason);
        expect(readFileSync(recordPath, "utf8")).toBe("");
      }
    },
    PATIENCE_MS,
  );

  test(
    "killed between its record and its vote: it signs the same data again, and no more",
    async () => {
      const paying = await PayingVenue.start(node);
      const id = await paying.ask(100);
      await paying.seal();
      const signatures: string[] = [];
      const silent = (venue: WithdrawalPort): WithdrawalPort => ({
        ...lying((rows) => rows)(venue),
        submitOnWithdrawals: async (votes) => {
          signatures.push(...votes.map(({ vote }) => vote.vaultSignature));
          throw new Error("the connection is lost");
        },
      });
      const killed = await paying.attestor(0, { between: silent });
      await expect(killed.attestor.poll()).rejects.toThrow("lost");
      const written = readFileSync(killed.recordPath, "utf8");
      expect(written.split("\n")).toHaveLength(2);
      expect((await paying.read(id)).votes).toEqual([]);
      const { record, recordPath } = killed;
      record.close();
      await (await paying.attestor(0, { recordPath })).attestor.poll();
      const { votes } = await paying.read(id);
      expect(votes).toMatchObject([{ attestor: 0, verdict: "signed" }]);
      expect(votes[0]?.text).toContain(`signature ${signatures[0]}\n`);
      expect(readFileSync(recordPath, "utf8")).toBe(written);
    },
    PATIENCE_MS,
  );

  test(
    "a flood of one account's withdrawals: another's is signed with the first that are read",
    async () => {
      const paying = await PayingVenue.start(node);
      const id = await paying.ask(100);
      await paying.seal();
      let askedFor = 0;
      let signedAfter = 0;
      const between = (venue: WithdrawalPort): WithdrawalPort => ({
        ...lying((rows) => [
          ...Array.from({ length: 200 }, (_, i) => ({
            ...rows[0]!,
            withdrawalId: String(100_000 + i),
            account: node.account(7),
            proof: null,
          })),
          ...rows,
        ])(venue),
        submitOnWithdrawals: (votes) => {
          signedAfter = askedFor;
          return venue.submitOnWithdrawals(votes);
        },
      });
      const { attestor, proxies } = await paying.attestor(0, { between });
      const ENTRY = paying.chain.callData("withdrawal", [1n]).slice(0, 10);
      proxies[0].lie = ({ params }, result) => {
        if (String(Object(params[0]).data).startsWith(ENTRY)) askedFor++;
        return result;
      };
      await attestor.poll();
      expect((await paying.read(id)).votes).toMatchObject([{ attestor: 0, verdict: "signed" }]);
      expect([signedAfter, askedFor]).toEqual([32, 201]);
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
    "a request of the vault that no withdrawal of the log is: an alarm, once; none for an honest one",
    async () => {
      const paying = await PayingVenue.start(node);
      const { poll, attestors } = await requested(paying);
      await poll();
      for (const { watch } of [...attestors, await paying.attestor(2)]) await watch.poll();
      expect(paying.failures()).toEqual([]);
      // A quorum of stolen keys takes an id that no log reaches.
      const id = 2n ** 60n + 1n;
      const data = await paying.chain.withdrawal({ id, amount: 200_000_000n });
      expect((await paying.chain.request(data)).result).toBe("ok");
      const one = await paying.attestor(2);
      // One endpoint hides it.
      one.proxies[0].lie = ({ method }, result) => (method === "eth_getLogs" ? [] : result);
      for (let i = 0; i < 3; i++) await one.watch.poll();
      const alarms = paying.events.filter((event) => event.kind === "WithdrawalFailed");
      expect(alarms).toMatchObject([
        { isAlarm: true, reason: expect.stringContaining(`request ${id}`) },
      ]);
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

/** A copy of a folder in use: its sockets and locks belong to the process. */
function isNoSocket(path: string): boolean {
  return !statSync(path).isSocket();
}
