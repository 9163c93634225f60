/** `perpgate vault` against a Hardhat node: from the deployment to an administration that is in force. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { signWithdrawal } from "@perpgate/bridge";
import { EvmNode } from "@perpgate/bridge/testing";
import { withdrawalVoteText } from "@perpgate/protocol/core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { commandHere } from "../testing/command-here.js";

const folder = mkdtempSync(join(tmpdir(), "perpgate-vault-"));
const at = (name: string) => join(folder, name);
const addresses = new Map<string, string>();
const NAMES = ["gas", "a1", "a2", "a3", "guardian", "c1", "c2", "c3", "n1", "n2"];

const node = await EvmNode.start(31_337, afterAll);
const token = await node.token("USDC", 6);
let vault = "";

beforeAll(async () => {
  for (const name of NAMES) {
    const { stdout } = await commandHere(["keygen", "wallet", at(name)]);
    addresses.set(name, stdout.trim());
  }
  for (const name of ["gas", "guardian"]) {
    await node.rpc("hardhat_setBalance", [address(name), "0xde0b6b3a7640000"]);
  }
});

afterAll(() => rmSync(folder, { recursive: true }));

function address(name: string): string {
  return addresses.get(name) ?? "";
}

function run(...words: readonly string[]) {
  return commandHere(["vault", ...words]);
}

/** Runs a command that must succeed, and returns its JSON. */
async function json(...words: readonly string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await run(...words, "--json");
  expect([code, stderr.replace(/^sent .*\n/, "")]).toEqual([0, ""]);
  return JSON.parse(stdout);
}

const chain = () => ["--rpc", node.url];
const sending = () => [...chain(), "--key-file", at("gas")];
const status = () => json("status", ...chain(), "--vault", vault);

function setup(changes: object = {}): string {
  const path = at("setup.json");
  const content = {
    venueId: `0x${"ab".repeat(32)}`,
    disputeSeconds: 200,
    disputeBlocks: 15,
    attestors: ["a1", "a2", "a3"].map(address),
    attestorQuorum: 2,
    guardians: [address("guardian")],
    coldKeys: ["c1", "c2", "c3"].map(address),
    coldQuorum: 2,
    tokens: [{ token, hourFloor: "1000000", dayFloor: "5000000" }],
    ...changes,
  };
  writeFileSync(path, JSON.stringify(content));
  return path;
}

test("deploy: prints the address, and status reads what the file says", async () => {
  const deployed = await json("deploy", ...sending(), "--setup", setup());
  expect(deployed).toMatchObject({ chainId: 31_337, vault: expect.stringMatching(/^0x/) });
  vault = String(deployed.vault);
  await node.mint(token as `0x${string}`, vault as `0x${string}`, 7_000_000n);
  const state = await status();
  expect(state).toMatchObject({
    vault,
    isLocked: false,
    sequence: "0",
    disputeSeconds: 200,
    proposal: null,
    guardians: [address("guardian")],
    attestors: { quorum: 2 },
    coldKeys: { quorum: 2 },
    tokens: [{ token, holdings: "7000000", hourCap: "1000000", hourUsed: "0" }],
  });
  const { code, stdout } = await run("status", ...chain(), "--vault", vault);
  expect(code).toBe(0);
  expect(stdout).toContain("200 s and 15 blocks");
  expect(stdout).toContain("0 of 1000000");
});

test("deploy: a file that the contract or the reader refuses costs nothing", async () => {
  const before = await node.height();
  for (const [changes, problem] of [
    [{ attestorQuorum: 1 }, "attestorQuorum"],
    [{ guardians: [] }, "guardians"],
    [{ owner: address("gas") }, "additional properties"],
    [{ coldKeys: ["a1", "c2", "c3"].map(address) }, "InvalidMembers"],
  ] as const) {
    const { code, stderr } = await run("deploy", ...sending(), "--setup", setup(changes));
    expect([code, stderr]).toEqual([1, expect.stringContaining(problem)]);
  }
  expect(await node.height()).toBe(before);
});

test("status: an address that is no vault is exit code 1", async () => {
  const { code, stderr } = await run("status", ...chain(), "--vault", token);
  expect([code, stderr]).toEqual([1, expect.stringContaining("not a vault of this release")]);
});

test("request, pay: a withdrawal by two attestors' votes; nothing is sent without a quorum", async () => {
  const { chainId } = await status();
  const deadline = Math.floor((await node.timeMs()) / 1_000) + 3_600;
  const votes = await Promise.all(["a1", "a2", "gas"].map((name) => voteOf(name, deadline)));
  const target = [...sending(), "--vault", vault];
  expect(chainId).toBe(31_337);
  const before = await node.height();
  writeFileSync(at("few"), JSON.stringify({ votes: [votes[0], votes[2]] }));
  const few = await run("request", at("few"), ...target);
  expect([few.code, few.stderr]).toEqual([1, expect.stringContaining("1 of 2 attestors")]);
  expect(await node.height()).toBe(before);
  // The vote that is no attestor's spoils nothing.
  writeFileSync(at("votes"), JSON.stringify({ votes: [votes[2], votes[1], votes[0]] }));
  expect(await json("request", at("votes"), ...target)).toMatchObject({ id: "48213" });
  const again = await run("request", at("votes"), ...target);
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("IdUsed")]);
  const early = await run("pay", "48213", ...target);
  expect([early.code, early.stderr]).toEqual([1, expect.stringContaining("DisputePeriod")]);
  await passDispute();
  await json("pay", "48213", ...target);
  expect(await node.balance(hexOf(token), hexOf(PAYEE))).toBe(900_000n);
  const twice = await run("pay", "48213", ...target);
  expect([twice.code, twice.stderr]).toEqual([1, expect.stringContaining("NotPending")]);
});

const PAYEE = "cc".repeat(20);

function hexOf(digits: string): `0x${string}` {
  return `0x${digits.replace(/^0x/, "").toLowerCase()}`;
}

/** A vote on withdrawal 48213 with the vault's signature by this key. */
async function voteOf(name: string, deadline: number): Promise<{ text: string }> {
  const venueId = hexOf("ab".repeat(32));
  const data = {
    token: hexOf(token),
    account: hexOf(PAYEE),
    amount: 900_000n,
    id: 48_213n,
    deadline: BigInt(deadline),
  };
  const key = hexOf(readFileSync(at(name), "utf8").trim());
  const domain = { venueId, chainId: 31_337, vault: hexOf(vault) };
  const signature = await signWithdrawal(domain, data, key);
  const text = withdrawalVoteText({
    ...{ venue: venueId.slice(2), attestor: 0, withdrawalId: 48_213, votedAtMs: 1 },
    ...{ chain: "ethereum", chainId: 31_337, vault: domain.vault.slice(2) },
    ...{ token: "USDC", contract: data.token.slice(2), decimals: 6, account: PAYEE },
    ...{ amount: data.amount, deadline, verdict: "signed", block: null, txHash: "" },
    vaultSignature: signature.slice(2),
  });
  return { text };
}

test("administration: prepare, sign twice, submit, finalize after the period", async () => {
  const members = ["n1", "n2"].flatMap((name) => ["--member", address(name)]);
  const target = [...chain(), "--vault", vault];
  const prepared = await json(
    ...["prepare", "attestors", ...members, "--quorum", "2", ...target],
    ...["--out", at("rotate")],
  );
  const one = await json("sign", at("rotate"), "--key-file", at("c1"), "--out", at("rotate-1"));
  const two = await json("sign", at("rotate"), "--key-file", at("c3"), "--out", at("rotate-3"));
  expect(new Set([prepared.digest, one.digest, two.digest]).size).toBe(1);

  const few = await run("submit", at("rotate-1"), ...sending());
  expect([few.code, few.stderr]).toEqual([1, expect.stringContaining("fewer signatures")]);
  await run("sign", at("rotate"), "--key-file", at("a1"), "--out", at("rotate-a"));
  const foreign = await run("submit", at("rotate-1"), at("rotate-a"), ...sending());
  expect([foreign.code, foreign.stderr]).toEqual([1, expect.stringContaining("not by a cold key")]);

  await json("submit", at("rotate-1"), at("rotate-3"), ...sending());
  const again = await run("submit", at("rotate-1"), at("rotate-3"), ...sending());
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("WrongSequence")]);
  const early = await run("finalize", at("rotate"), ...sending());
  expect([early.code, early.stderr]).toEqual([1, expect.stringContaining("DisputePeriod")]);
  await passDispute();
  await json("finalize", at("rotate"), ...sending());
  const members2 = [address("n1"), address("n2")].sort((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1));
  expect((await status()).attestors).toEqual({ members: members2, quorum: 2 });
});

test("lock, invalidate, unlock: by a guardian, then by cold keys", async () => {
  const target = [...chain(), "--vault", vault];
  const stranger = await run("lock", ...target, "--key-file", at("gas"));
  expect([stranger.code, stranger.stderr]).toEqual([1, expect.stringContaining("NotGuardian")]);
  await json("lock", ...target, "--key-file", at("guardian"));
  expect((await status()).isLocked).toBe(true);
  await administer("invalidate", "--id", "7", "--id", "9");
  await administer("caps", "--token", token, "--hour-floor", "5", "--day-floor", "6");
  await passDispute();
  await json("finalize", at("caps-2"), ...sending());
  await administer("guardians", "--member", address("n1"));
  await passDispute();
  await json("finalize", at("guardians-2"), ...sending());
  await administer("unlock");
  await passDispute();
  await json("finalize", at("unlock-2"), ...sending());
  expect(await status()).toMatchObject({
    isLocked: false,
    guardians: [address("n1")],
    tokens: [{ hourFloor: "5", dayFloor: "6" }],
  });
});

test("sign: shows what is signed, keeps the other signatures, writes no key and over no file", async () => {
  const target = [...chain(), "--vault", vault];
  await json("prepare", "guardians", "--member", address("n2"), ...target, "--out", at("g"));
  const { stdout } = await run("sign", at("g"), "--key-file", at("c1"), "--out", at("g-1"));
  for (const text of ["SetGuardians", address("n2"), vault, "sequence", "digest"]) {
    expect(stdout).toContain(text);
  }
  await json("sign", at("g-1"), "--key-file", at("c2"), "--out", at("g-2"));
  const secret = readFileSync(at("c1"), "utf8").trim();
  expect(stdout + readFileSync(at("g-2"), "utf8")).not.toContain(secret.slice(2));
  expect(JSON.parse(readFileSync(at("g-2"), "utf8")).signatures).toHaveLength(2);
  const taken = await run("sign", at("g"), "--key-file", at("c1"), "--out", at("g-1"));
  expect([taken.code, taken.stderr]).toEqual([1, expect.stringContaining("EEXIST")]);
  const twice = await run("sign", at("g-1"), "--key-file", at("c1"), "--out", at("g-3"));
  expect([twice.code, twice.stderr]).toEqual([1, expect.stringContaining("has this signature")]);
});

test("submit: data of another vault is refused before anything is sent", async () => {
  const file = JSON.parse(readFileSync(at("g-2"), "utf8"));
  for (const change of [{ chainId: 1 }, { venueId: `0x${"00".repeat(32)}` }]) {
    writeFileSync(at("other"), JSON.stringify({ ...file, ...change }));
    const { code, stderr } = await run("submit", at("other"), ...sending());
    expect([code, stderr]).toEqual([1, expect.stringContaining("another chain or venue")]);
  }
});

/** Prepares, signs with two cold keys and submits. */
async function administer(action: string, ...options: readonly string[]): Promise<void> {
  const target = [...chain(), "--vault", vault, "--out", at(`${action}-0`)];
  await json("prepare", action, ...options, ...target);
  await json("sign", at(`${action}-0`), "--key-file", at("c1"), "--out", at(`${action}-1`));
  await json("sign", at(`${action}-1`), "--key-file", at("c2"), "--out", at(`${action}-2`));
  await json("submit", at(`${action}-2`), ...sending());
}

async function passDispute(): Promise<void> {
  await node.letTimePass(200);
  await node.mine(15);
}
