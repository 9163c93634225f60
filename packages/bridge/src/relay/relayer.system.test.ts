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
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { EvmNode } from "../testing/evm-node.js";
import { ATTESTORS, VaultChain } from "../testing/vault-chain.js";
import { signVaultData } from "../vault/typed-data.js";
import type { VenueTerms } from "../venue-port.js";
import { type RelayEvent, Relayer } from "./relayer.js";

const PATIENCE_MS = 180_000;
let node: EvmNode;
let chain: VaultChain;

beforeAll(async () => {
  node = await EvmNode.start(1);
}, PATIENCE_MS);
afterAll(() => node?.stop());
beforeEach(async () => {
  chain = new VaultChain(node, await node.token("USDC", 6));
  expect((await chain.deploy()).result).toBe("ok");
  await node.mint(chain.token, chain.vault, 50_000_000_000n);
});

function digitsOf(hex: string): string {
  return hex.slice(2).toLowerCase();
}

/** An open withdrawal of dollars with the votes of as many attestors. */
async function row(id: number, dollars = 1, signers = 2): Promise<OpenWithdrawal> {
  const deadline = (await chain.now()) + 3_600n;
  const account = node.account(1);
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
}

/** A relayer with a key that has an ether; `rows` is what the venue lists. */
async function relaying(rows: OpenWithdrawal[], changes: Changes = {}) {
  const { key = generatePrivateKey(), vault = chain.vault } = changes;
  const account = privateKeyToAccount(key);
  await node.rpc("hardhat_setBalance", [account.address, toHex(parseEther("1"))]);
  const transport = http(node.url);
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
  return { relayer, events, happened, time, key };
}

const paid = () => chain.balance(node.account(1));

test("a quorum's votes: requested, and paid after the dispute period, once; too few votes: left alone", async () => {
  const { relayer, happened } = await relaying([await row(1), await row(2, 1, 1)]);
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
}, 180_000);
