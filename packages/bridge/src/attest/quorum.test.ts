/** Two of three attestors with a real engine: one lies or is offline. */

import { afterAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { privateKeyFromSeed, type SignedVote, signVote } from "../index.js";
import { Attestors, SEEDS } from "../testing/attestors.js";
import { type EngineVenue, VENUE_ID } from "../testing/engine-venue.js";
import { DOLLAR, startEvmChain } from "../testing/evm-node.js";
import { RpcProxy } from "../testing/rpc-proxy.js";

const { node, usdc, alice, vault } = await startEvmChain(afterAll);
const mallory = node.account(3);
let attestors: Attestors;
let venue: EngineVenue;
let id: number;

beforeEach(async () => {
  attestors = new Attestors(await node.timeMs(), 3, 2);
  venue = attestors.venue;
  const hash = await node.transfer(usdc, alice, vault, 40n * DOLLAR);
  await node.mine(2);
  id = venue.register(venue.signIn(mallory), "ethereum", hash);
});

function honest(index: number, url = node.url) {
  const tokens = { USDC: { contract: usdc } };
  const chain = attestors.chain("ethereum", { rpc: [url], vault, tokens, confirmations: 3 });
  return attestors.attestor(chain, index);
}

/** A vote signed by attestor 2 with any content. */
function lie(changes: object, seed = SEEDS[2]!): SignedVote {
  return signVote(
    {
      venue: VENUE_ID,
      attestor: 2,
      depositId: id,
      chain: "ethereum",
      chainId: 1,
      vault: vault.slice(2).toLowerCase(),
      tokens: [{ token: "USDC", contract: usdc.slice(2).toLowerCase() }],
      txHash: venue.deposit(id).txHash,
      verdict: "credit",
      confirmations: 3,
      required: 3,
      block: null,
      credits: [
        {
          logIndex: 0,
          token: "USDC",
          address: mallory.slice(2).toLowerCase(),
          amountMicros: 9e12,
        },
      ],
      reason: "",
      part: 1,
      parts: 1,
      votedAtMs: attestors.nowMs,
      ...changes,
    },
    privateKeyFromSeed(seed),
  );
}

describe("2 of 3", () => {
  test("one lies, one is offline: a single honest vote credits nothing", async () => {
    await venue.submit([await lie({})]);
    await honest(0).poll();
    expect(venue.deposit(id).status).toBe("confirming");
    expect([venue.wallet(alice), venue.wallet(mallory)]).toEqual([0, 0]);
    // The third is back: two honest votes are a quorum.
    await honest(1).poll();
    expect(venue.deposit(id).status).toBe("credited");
    expect([venue.wallet(alice), venue.wallet(mallory)]).toEqual([40_000_000, 0]);
  });

  test("one is offline: the other two credit", async () => {
    await honest(0).poll();
    await honest(2).poll();
    expect(venue.wallet(alice)).toBe(40_000_000);
    await honest(1).poll();
    expect(venue.wallet(alice)).toBe(40_000_000);
    expect(attestors.happened("VoteRefused")).toEqual([]);
  });

  test("one rejects repeatedly: the others credit", async () => {
    await honest(0).poll();
    await venue.submit([await lie({ verdict: "reject", credits: [], reason: "no_transfer" })]);
    await venue.submit([await lie({ verdict: "reject", credits: [], reason: "no_transfer" })]);
    expect(venue.deposit(id).status).toBe("confirming");
    await honest(1).poll();
    expect(venue.wallet(alice)).toBe(40_000_000);
  });

  test("an attestor with a lying endpoint: outvoted", async () => {
    const proxy = await RpcProxy.start(node.url);
    proxy.lie = ({ method }, result) =>
      method === "eth_getTransactionReceipt" && typeof result === "object"
        ? { ...result, status: "0x0" }
        : result;
    await honest(2, proxy.url).poll();
    expect(venue.deposit(id).votes.get(2)).toMatchObject({ verdict: "reject" });
    await honest(0).poll();
    await honest(1).poll();
    expect(venue.wallet(alice)).toBe(40_000_000);
    await proxy.stop();
  });
});

test("attestor replaced by another key: votes again", async () => {
  await honest(2).poll();
  expect(venue.deposit(id).votes.get(2)).toMatchObject({ verdict: "credit" });
  // No second vote while the first is in the log.
  await honest(2).poll();
  expect(venue.votesInLog()).toBe(1);
  const { config } = venue.engine.state;
  if (config === null) throw new Error("no Genesis");
  venue.apply({
    kind: "Configure",
    stampMs: venue.nowMs,
    expiresAtMs: venue.nowMs + 60_000,
    config,
    replacedAttestors: [2],
  });
  await honest(0).poll();
  expect(venue.wallet(alice)).toBe(0);
  await honest(2).poll();
  expect(venue.votesInLog()).toBe(3);
  expect(venue.wallet(alice)).toBe(40_000_000);
});

describe("rejected before the log", () => {
  test.each([
    ["with another attestor's index", () => lie({ attestor: 0 }), "invalid_signature"],
    ["of an unknown attestor", () => lie({ attestor: 3 }), "attestor_unknown"],
    ["for another venue", () => lie({ venue: "77".repeat(32) }), "other_venue"],
    ["by another key", () => lie({}, "99".repeat(32)), "invalid_signature"],
    [
      "changed after it was signed",
      async () => {
        const { vote, signature } = await lie({});
        return { vote: { ...vote, depositId: id + 1 }, signature };
      },
      "invalid_signature",
    ],
  ])("a vote %s", async (_, vote, problem) => {
    const before = venue.log.length;
    expect(await venue.submit([await vote()])).toEqual([problem]);
    expect(venue.log.length).toBe(before);
  });
});

test("a node without an answer for the block of a transaction: a vote to credit stays", async () => {
  const proxy = await RpcProxy.start(node.url);
  onTestFinished(() => proxy.stop());
  const one = honest(0, proxy.url);
  await one.poll();
  const vote = { verdict: "credit", confirmations: 3 };
  expect(venue.deposit(id).votes.get(0)).toMatchObject(vote);
  proxy.fails = ({ method, params: [block] }) =>
    method === "eth_getBlockByNumber" && block !== "latest";
  await one.poll();
  expect(attestors.happened("DepositReorged")).toEqual([]);
  expect(venue.votesInLog()).toBe(1);
  await honest(1).poll();
  expect(venue.deposit(id).status).toBe("credited");
});
