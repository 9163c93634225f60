/** Deposits on Tron: addresses, hashes and a node with Tron's JSON-RPC dialect. */

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type DepositPort, tronAddressOf } from "../index.js";
import { Attestors } from "../testing/attestors.js";
import { TronNode } from "../testing/tron-node.js";

/** Tether's contract on Tron, as its issuer publishes it, and its 20 bytes. */
const USDT = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t";
const USDT_BYTES = "a614f803b6fd780986a42c78ec9c7f77e6ded13c";
const ALICE = "1234567890abcdef1234567890abcdef12345678";
const VAULT = "41".repeat(20);
const START_SECONDS = 1_750_000_000;

let node: TronNode;
let attestors: Attestors;
let alices: number;

beforeEach(async () => {
  node = await TronNode.start(START_SECONDS);
  attestors = new Attestors(START_SECONDS * 1_000);
  alices = attestors.venue.signIn(`0x${ALICE}`);
});

afterEach(() => node.stop());

function attestor(changes: object = {}, port: DepositPort = attestors.venue) {
  const vault = tronAddressOf(Buffer.from(VAULT, "hex"));
  const tokens = { USDT: { contract: USDT } };
  const chain = attestors.chain("tron", {
    rpc: [node.url],
    vault,
    tokens,
    minDeposit: 0,
    ...changes,
  });
  return attestors.attestor(chain, 0, port);
}

function pay(units: bigint, changes: object = {}): string {
  return node.transact([{ contract: USDT_BYTES, from: ALICE, to: VAULT, units, ...changes }]);
}

describe("attestation", () => {
  test("transfer to the vault: credited to the account with the sender's 20 bytes", async () => {
    const id = attestors.venue.register(alices, "tron", pay(12_345_678n), "USDT");
    const one = attestor();
    await one.poll();
    expect(attestors.venue.deposit(id)).toMatchObject({
      status: "confirming",
      confirmations: 1,
      required: 20,
    });
    for (let i = 0; i < 19; i++) node.mine();
    await one.poll();
    expect(attestors.venue.deposit(id).status).toBe("credited");
    expect(attestors.venue.wallet(`0x${ALICE}`)).toBe(12_345_678);
  });

  test("hashes: registered in either form, requested in Tron's form", async () => {
    const hash = pay(1n);
    const id = attestors.venue.register(alices, "tron", hash, "USDT");
    expect(attestors.venue.register(alices, "tron", `0x${hash.toUpperCase()}`, "USDT")).toBe(id);
    await attestor().poll();
    const receipts = node.asked.filter(({ method }) => method === "eth_getTransactionReceipt");
    expect(receipts.map(({ params }) => params)).toEqual([[hash]]);
  });

  test.each([
    ["another contract", { contract: "12".repeat(20) }, "wrong_contract"],
    ["another vault", { to: "13".repeat(20) }, "not_to_vault"],
    ["nothing", { units: 0n }, "zero_amount"],
  ])("%s: rejected", async (_, changes, reason) => {
    const id = attestors.venue.register(alices, "tron", pay(5n, changes), "USDT");
    await attestor({ confirmations: 1 }).poll();
    expect(attestors.venue.deposit(id)).toMatchObject({ status: "rejected", reason });
  });

  test("a failed transaction: rejected", async () => {
    const log = { contract: USDT_BYTES, from: ALICE, to: VAULT, units: 5n };
    const id = attestors.venue.register(alices, "tron", node.transact([log], "0x0"), "USDT");
    await attestor({ confirmations: 1 }).poll();
    expect(attestors.venue.deposit(id)).toMatchObject({ reason: "transaction_failed" });
  });

  test("switch of forks: 0 confirmations", async () => {
    const id = attestors.venue.register(alices, "tron", pay(5n), "USDT");
    for (let i = 0; i < 9; i++) node.mine();
    const one = attestor();
    await one.poll();
    node.drop(10);
    for (let i = 0; i < 12; i++) node.mine();
    await one.poll();
    expect(attestors.venue.deposit(id)).toMatchObject({ status: "confirming", confirmations: 0 });
  });

  test("credited, then in another block: marked even if the venue fails at first", async () => {
    const transfer = { contract: USDT_BYTES, from: ALICE, to: VAULT, units: 5n };
    const txHash = node.transact([transfer]);
    const id = attestors.venue.register(alices, "tron", txHash, "USDT");
    const { venue } = attestors;
    let isBroken = true;
    const port = attestors.portWith({
      submit: async (votes) => {
        const isMark = votes.some(({ vote }) => vote.verdict === "reorged");
        if (isBroken && isMark) throw new Error("the venue is stopping");
        return venue.submit(votes);
      },
    });
    const one = attestor({ confirmations: 1, recheckIntervalMs: 1_000 }, port);
    const recheck = async () => {
      attestors.nowMs += 1_000;
      await one.poll();
    };
    await one.poll();
    await recheck();
    node.drop(1);
    node.mine([]);
    node.mine([{ id: txHash, status: "0x1", logs: [transfer] }]);
    await recheck();
    expect(attestors.happened("SubmitFailed")).toHaveLength(1);
    expect(attestors.venue.marks).toEqual([]);
    isBroken = false;
    await recheck();
    await recheck();
    expect(venue.marks.map(({ vote }) => [vote.depositId, vote.reason])).toEqual([
      [id, "transaction_moved"],
    ]);
  });

  test("node with a smaller batch limit: repeated in smaller batches", async () => {
    node.batchLimit = 8;
    const ids = Array.from({ length: 20 }, () =>
      attestors.venue.register(alices, "tron", pay(5n), "USDT"),
    );
    const one = attestor({ confirmations: 1, batchSize: 16 });
    await one.poll();
    expect(attestors.happened("EndpointFailed")).toMatchObject([{ reason: "rpc error -32005" }]);
    attestors.nowMs += 60_000;
    await one.poll();
    const statuses = new Set(ids.map((id) => attestors.venue.deposit(id).status));
    expect([...statuses]).toEqual(["credited"]);
  });
});
