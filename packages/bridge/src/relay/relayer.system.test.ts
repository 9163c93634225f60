/** The relayer on a real chain: steps, crashes, gas that is too dear, transactions that are not mined, refusals. */

import { CHAINS, hexFromBytes, type OpenWithdrawal, withdrawalVoteText } from "@perpgate/protocol";
import {
  createPublicClient,
  createWalletClient,
  type Hex,
  http,
  parseEther,
  parseGwei,
  toHex,
} from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { EvmNode } from "../testing/evm-node.js";
import { RpcProxy } from "../testing/rpc-proxy.js";
import { ATTESTORS, VaultChain } from "../testing/vault-chain.js";
import { signVaultData } from "../vault/typed-data.js";
import type { VenueTerms } from "../venue-port.js";
import { type RelayEvent, Relayer } from "./relayer.js";

const node = await EvmNode.start(1, afterAll);
let chain: VaultChain;

beforeEach(async () => {
  chain = new VaultChain(node, await node.token("USDC", 6));
  expect((await chain.deploy()).result).toBe("ok");
  await node.mint(chain.token, chain.vault, 50_000_000_000n);
});

function digitsOf(hex: string): string {
  return hex.slice(2).toLowerCase();
}

/** An open withdrawal of dollars with the votes of as many attestors. */
async function row(
  id: number,
  dollars = 1,
  { signers = 2, account = node.account(1), seconds = 3_600n } = {},
): Promise<OpenWithdrawal> {
  const deadline = (await chain.now()) + seconds;
  const amount = BigInt(dollars) * 1_000_000n;
  const data = { token: chain.token, account, amount, id: BigInt(id), deadline };
  const votes: OpenWithdrawal["votes"] = [];
  for (const [attestor, key] of ATTESTORS.slice(0, signers).entries()) {
    const signature = await signVaultData(chain.domain, "Withdrawal", data, key);
    const text = withdrawalVoteText({
      venue: digitsOf(chain.venueId),
      attestor,
      withdrawalId: id,
      chain: "ethereum",
      chainId: 1,
      vault: digitsOf(chain.vault),
      token: "USDC",
      contract: digitsOf(chain.token),
      decimals: 6,
      account: digitsOf(account),
      amount,
      deadline: Number(deadline),
      verdict: "signed",
      block: null,
      txHash: "",
      vaultSignature: digitsOf(signature),
      votedAtMs: 1,
    });
    const publicKey = hexFromBytes(new Uint8Array(32).fill(attestor));
    votes.push({ attestor, publicKey, verdict: "signed", votedAt: 1, text, signature: "" });
  }
  return {
    withdrawalId: String(id),
    chain: "ethereum",
    token: "USDC",
    amount: dollars,
    account,
    status: "attested",
    deadline: Number(deadline) * 1_000,
    requestedAt: 0,
    votes,
    proof: null,
  };
}

interface Changes {
  readonly maxFeePerGas?: bigint;
  readonly waitMs?: number;
  readonly key?: Hex;
  readonly vault?: string;
  readonly url?: string;
}

/** A relayer with a key that has an ether; `rows` is what the venue lists. */
async function relaying(rows: OpenWithdrawal[], changes: Changes = {}) {
  const { key = generatePrivateKey(), vault = chain.vault, url = node.url } = changes;
  const account = privateKeyToAccount(key);
  const fund = (ether: string) =>
    node.rpc("hardhat_setBalance", [account.address, toHex(parseEther(ether))]);
  await fund("1");
  const transport = http(url, { batch: true, retryCount: 0 });
  const events: RelayEvent[] = [];
  const time = { nowMs: 0 };
  const token = { token: "USDC", contract: digitsOf(chain.token), decimals: 6 } as const;
  const scope = { chain: CHAINS[0]!, chainId: 1, vault: digitsOf(vault), minDepositMicros: 1 };
  const terms: VenueTerms = {
    venueId: digitsOf(chain.venueId),
    members: [],
    chains: [{ ...scope, tokens: [token] }],
  };
  const relayer = new Relayer({
    chain: "ethereum",
    client: createPublicClient({ transport, pollingInterval: 50 }),
    wallet: createWalletClient({ account, transport }),
    account,
    port: { terms: async () => terms, openWithdrawals: async () => ({ rows, next: null }) },
    maxFeePerGas: changes.maxFeePerGas ?? parseGwei("100"),
    waitMs: changes.waitMs ?? 60_000,
    clock: () => time.nowMs,
    uniform: () => 0.5,
    observe: (event) => events.push(event),
  });
  const happened = (kind: RelayEvent["kind"]) => events.filter((event) => event.kind === kind);
  return { relayer, events, happened, time, key, fund };
}

const paid = () => chain.balance(node.account(1));

test("a quorum's votes: requested, and paid after the dispute period, once; too few votes: left alone", async () => {
  const { relayer, happened } = await relaying([await row(1), await row(2, 1, { signers: 1 })]);
  await relayer.poll();
  expect(await chain.status(1n)).toBe("pending");
  await relayer.poll();
  expect(await paid()).toBe(0n);
  await chain.passDispute();
  await relayer.poll();
  await relayer.poll();
  expect(await paid()).toBe(1_000_000n);
  expect(await chain.status(2n)).toBe("unknown");
  expect(happened("Mined")).toMatchObject([
    { id: 1, step: "request" },
    { id: 1, step: "finalize" },
  ]);
  expect(happened("Refused")).toEqual([]);
}, 180_000);

test("two relayers, one of them started again at each poll: one payment, no failed transaction", async () => {
  const rows = [await row(1), await row(2)];
  const first = await relaying(rows);
  const { key } = first;
  await first.relayer.poll();
  await (await relaying(rows, { key })).relayer.poll();
  await chain.passDispute();
  const second = await relaying(rows);
  await Promise.all([(await relaying(rows, { key })).relayer.poll(), second.relayer.poll()]);
  await second.relayer.poll();
  expect(await paid()).toBe(2_000_000n);
}, 180_000);

test("gas above the bound: nothing is sent, until it is cheap again", async () => {
  const { relayer, happened } = await relaying([await row(1)], { maxFeePerGas: parseGwei("50") });
  await node.rpc("hardhat_setNextBlockBaseFeePerGas", [toHex(parseGwei("200"))]);
  await node.mine(1);
  await relayer.poll();
  expect(await chain.status(1n)).toBe("unknown");
  expect(happened("GasTooHigh")).toHaveLength(1);
  await node.rpc("hardhat_setNextBlockBaseFeePerGas", ["0x0"]);
  await node.mine(1);
  await relayer.poll();
  expect(await chain.status(1n)).toBe("pending");
}, 180_000);

test("not mined in time: replaced with higher fees, also by a process that did not send it", async () => {
  const rows = [await row(1)];
  const { relayer, happened, key } = await relaying(rows, { waitMs: 300 });
  await node.rpc("evm_setAutomine", [false]);
  try {
    await relayer.poll();
    await relayer.poll();
    expect(happened("Refused")).toEqual([]);
    expect(happened("Unmined")).toHaveLength(2);
    const later = await relaying(rows, { waitMs: 300, key });
    for (let i = 0; i < 20 && later.happened("Unmined").length === 0; i++) {
      await later.relayer.poll();
    }
    expect(later.happened("Unmined")).toHaveLength(1);
  } finally {
    await node.rpc("evm_setAutomine", [true]);
  }
  await node.mine(1);
  expect(await chain.status(1n)).toBe("pending");
  await relayer.poll();
  expect(happened("Refused")).toEqual([]);
}, 180_000);

test("what the vault refuses is tried again later, and holds up nothing else", async () => {
  // Above the cap of an hour.
  const { relayer, happened, time } = await relaying([await row(1, 2_000), await row(2)]);
  await relayer.poll();
  expect(await chain.status(1n)).toBe("unknown");
  expect(await chain.status(2n)).toBe("pending");
  expect(happened("Refused")).toMatchObject([{ id: 1, step: "request" }]);
  await relayer.poll();
  expect(happened("Refused")).toHaveLength(1);
  time.nowMs += 600_000;
  await relayer.poll();
  expect(happened("Refused")).toHaveLength(2);
}, 180_000);

test("a venue that names another contract, or another venue's vault: nothing is sent", async () => {
  const wrong = await relaying([await row(1)], { vault: chain.token });
  await expect(wrong.relayer.poll()).rejects.toThrow("not a vault");
  const other = new VaultChain(node, chain.token, `0x${"ab".repeat(32)}`);
  expect((await other.deploy()).result).toBe("ok");
  const elsewhere = await relaying([await row(1)], { vault: other.vault });
  await expect(elsewhere.relayer.poll()).rejects.toThrow("another venue");
  expect([wrong, elsewhere].flatMap(({ events }) => events)).toEqual([]);
}, 180_000);

test("a vault that is locked: said, and nothing is sent", async () => {
  const { relayer, happened } = await relaying([await row(1)]);
  expect((await chain.lock()).result).toBe("ok");
  await relayer.poll();
  expect(happened("VaultLocked")).toHaveLength(1);
  expect(await chain.status(1n)).toBe("unknown");
  expect(happened("Polled")).toMatchObject([{ isLocked: true }]);
}, 180_000);

test("unlocked while nothing is open: said at the next poll", async () => {
  const { relayer, happened } = await relaying([]);
  expect((await chain.lock()).result).toBe("ok");
  await relayer.poll();
  expect((await chain.administer("Unlock", {})).result).toBe("ok");
  await relayer.poll();
  expect(happened("Polled")).toMatchObject([{ isLocked: true }, { isLocked: false }]);
}, 180_000);

/** Rounds that would raise a fee from the chain's to the bound and above. */
const MANY_POLLS = 40;
const FEE = parseGwei("2");

/** The next block asks for two gwei at most. */
async function cheapGas(): Promise<void> {
  await node.rpc("hardhat_setNextBlockBaseFeePerGas", [toHex(parseGwei("1"))]);
  await node.mine(1);
}

/** What the transaction that was mined last offered. */
async function offered(): Promise<bigint> {
  const block = Object(await node.rpc("eth_getBlockByNumber", ["latest", true]));
  return BigInt(block.transactions[0].maxFeePerGas);
}

test("an empty gas account: said at each poll; once it has ether again, paid for at the chain's price", async () => {
  const { relayer, events, happened, fund, time } = await relaying([await row(1)]);
  await cheapGas();
  await fund("0");
  for (let i = 0; i < MANY_POLLS; i++) {
    time.nowMs += 600_000;
    await relayer.poll();
  }
  expect(happened("GasTooHigh")).toEqual([]);
  expect(happened("Refused").length).toBe(MANY_POLLS);
  expect(events.at(-1)).toEqual({ kind: "Polled", open: 1, balance: 0n, isLocked: false });
  expect(await chain.status(1n)).toBe("unknown");
  await fund("1");
  time.nowMs += 600_000;
  await relayer.poll();
  expect(await chain.status(1n)).toBe("pending");
  expect(await offered()).toBeLessThan(2n * FEE);
}, 180_000);

test("an endpoint that takes no transactions for long: nothing is overpaid once it does", async () => {
  const proxy = await RpcProxy.start(node.url);
  onTestFinished(() => proxy.stop());
  const { relayer, happened } = await relaying([await row(1)], { url: proxy.url });
  await cheapGas();
  proxy.refuses = ({ method }) => method === "eth_sendRawTransaction";
  for (let i = 0; i < MANY_POLLS; i++) await relayer.poll();
  expect(happened("Refused").length).toBe(MANY_POLLS);
  proxy.refuses = () => false;
  await relayer.poll();
  expect(await chain.status(1n)).toBe("pending");
  expect(await offered()).toBeLessThan(2n * FEE);
}, 180_000);

test("a sending whose answer is lost: found on the chain at the next poll, and paid once", async () => {
  const proxy = await RpcProxy.start(node.url);
  onTestFinished(() => proxy.stop());
  const { relayer, happened } = await relaying([await row(1)], { url: proxy.url });
  proxy.fails = ({ method }) => method === "eth_sendRawTransaction";
  await relayer.poll();
  expect(happened("Refused")).toMatchObject([{ id: 1, step: "request" }]);
  expect(await chain.status(1n)).toBe("pending");
  await chain.passDispute();
  await relayer.poll();
  expect(await paid()).toBe(1_000_000n);
  await relayer.poll();
  expect(await paid()).toBe(1_000_000n);
  expect(happened("Mined")).toEqual([]);
}, 180_000);

test("a transaction that the chain forgot at the highest fee: sent again", async () => {
  const { relayer, happened } = await relaying([await row(1)], {
    waitMs: 50,
    maxFeePerGas: 2n * FEE,
  });
  await cheapGas();
  await node.rpc("evm_setAutomine", [false]);
  try {
    for (let i = 0; i < 20; i++) await relayer.poll();
    const last = happened("Unmined").at(-1);
    const hash = last?.kind === "Unmined" ? last.hash : "";
    expect(await node.rpc("hardhat_dropTransaction", [hash])).toBe(true);
  } finally {
    await node.rpc("evm_setAutomine", [true]);
  }
  await relayer.poll();
  expect(await chain.status(1n)).toBe("pending");
}, 180_000);

test("a flood of one account's withdrawals: another's is served at its second turn", async () => {
  const others = await Promise.all([1, 2, 3, 4, 5].map((id) => row(id)));
  const honest = await row(6, 1, { account: node.account(4) });
  const { relayer, happened } = await relaying([...others, honest]);
  expect([await relayer.poll(), await relayer.poll()]).toEqual([true, false]);
  const ids = happened("Mined").map((event) => event.kind === "Mined" && event.id);
  expect(ids).toEqual([1, 6, 2, 3, 4, 5]);
}, 180_000);

test("a withdrawal that comes while a flood of one account's is served: requested in the next poll", async () => {
  const rows = await Promise.all(Array.from({ length: 12 }, (_, i) => row(i + 1)));
  const { relayer, happened } = await relaying(rows);
  const mined = () => happened("Mined").map((event) => event.kind === "Mined" && event.id);
  await relayer.poll();
  await relayer.poll();
  expect(mined()).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  rows.push(await row(13, 1, { account: node.account(4) }));
  await relayer.poll();
  expect(mined().slice(8)).toEqual([13, 9, 10, 11]);
  // Its payment is due together with those of the flood.
  await chain.passDispute();
  await relayer.poll();
  expect(await chain.status(13n)).toBe("paid");
}, 180_000);

test("two withdrawals that fill the cap together: one is requested, the other once there is room", async () => {
  // The floor of an hour is a thousand dollars.
  const rows = [await row(1, 600), await row(2, 600, { seconds: 20_000n })];
  const { relayer, happened, time } = await relaying(rows);
  await relayer.poll();
  expect([await chain.status(1n), await chain.status(2n)]).toEqual(["pending", "unknown"]);
  expect(happened("Refused")).toMatchObject([{ id: 2, step: "request" }]);
  await node.letTimePass(4_300);
  time.nowMs += 4_300_000;
  await relayer.poll();
  expect(await chain.status(2n)).toBe("pending");
}, 180_000);

test("a deadline that passes between signing and sending, or in the dispute period: nothing is sent", async () => {
  const rows = [await row(1, 1, { seconds: 300n }), await row(2, 1, { seconds: 1_000n })];
  const { relayer, happened, time } = await relaying(rows);
  // Less than a dispute period before the first one's deadline.
  await node.letTimePass(150);
  await relayer.poll();
  expect([await chain.status(1n), await chain.status(2n)]).toEqual(["unknown", "pending"]);
  expect(happened("Refused")).toMatchObject([{ id: 1, step: "request" }]);
  await node.letTimePass(900);
  await node.mine(20);
  const sent = happened("Mined").length;
  time.nowMs += 600_000;
  await relayer.poll();
  expect(happened("Mined")).toHaveLength(sent);
  expect(await paid()).toBe(0n);
}, 180_000);

test("a chain that was halted for an hour: what was signed before is paid when it is back", async () => {
  const { relayer } = await relaying([await row(1, 1, { seconds: 7_200n })]);
  await relayer.poll();
  // No block for an hour, then blocks again.
  await node.rpc("evm_increaseTime", [3_600]);
  await relayer.poll();
  expect(await paid()).toBe(0n);
  await node.mine(15);
  await relayer.poll();
  expect(await paid()).toBe(1_000_000n);
}, 180_000);
