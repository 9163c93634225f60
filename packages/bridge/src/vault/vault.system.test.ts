/** The vault contract on a Hardhat node: its rules, and each attack on it. */

import { readFileSync } from "node:fs";
import { type Address, type Hex, parseSignature, serializeSignature } from "viem";
import type { PrivateKeyAccount } from "viem/accounts";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { EvmNode } from "../testing/evm-node.js";
import {
  ATTESTORS,
  addressesOf,
  COLD_KEYS,
  DAY_FLOOR,
  DISPUTE_BLOCKS,
  DISPUTE_SECONDS,
  HOUR_FLOOR,
  keysOf,
  type MODES,
  type Outcome,
  VaultChain,
} from "../testing/vault-chain.js";
import { vaultBranches } from "./testing/branches.js";
import { domainSeparatorOf, type VaultDomain, type VaultWithdrawal } from "./typed-data.js";
import { VAULT_CODE } from "./vault-artifact.js";

const [FIRST, SECOND, THIRD] = ATTESTORS as unknown as readonly [
  PrivateKeyAccount,
  PrivateKeyAccount,
  PrivateKeyAccount,
];
const STRANGERS = keysOf("stranger", 3);
const HOLDINGS = 50_000_000_000n;
const DOLLAR = 1_000_000n;
const N = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

const node = await EvmNode.start(31_337, afterAll);
const chain = new VaultChain(node, await node.contract("HostileToken"));
await chain.deploy();
const { vault } = chain;
await node.mint(chain.token, vault, HOLDINGS);
let snapshot = await node.snapshot();
const branches = vaultBranches();

beforeEach(async () => {
  await node.revert(snapshot);
  snapshot = await node.snapshot();
  chain.vault = vault;
});

afterEach(async () => {
  for (const hash of chain.hashes.splice(0)) await branches.add(node, hash);
});

async function expectOk(outcome: Promise<Outcome>): Promise<Outcome> {
  const done = await outcome;
  expect(done.result).toBe("ok");
  return done;
}

async function expectError(outcome: Promise<Outcome>, name: string): Promise<void> {
  expect((await outcome).result).toBe(name);
}

/** A withdrawal in its dispute period. */
async function pending(changes: Partial<VaultWithdrawal> = {}): Promise<VaultWithdrawal> {
  const data = await chain.withdrawal(changes);
  await expectOk(chain.request(data));
  return data;
}

const signed = (data: VaultWithdrawal, keys: readonly PrivateKeyAccount[], domain?: VaultDomain) =>
  chain.sign("Withdrawal", data, keys, domain);

describe("request and finalize", () => {
  test("a quorum's withdrawal: pending, then paid once to the account", async () => {
    const data = await chain.withdrawal();
    const requested = await expectOk(chain.request(data));
    expect(requested.events).toEqual([{ name: "Requested", args: data }]);
    expect(await chain.status(1n)).toBe("pending");
    await chain.passDispute();
    const paid = await expectOk(chain.finalize(1n));
    const { deadline: _, ...payment } = data;
    expect(paid.events).toEqual([{ name: "Paid", args: payment }]);
    expect(await chain.balance(data.account)).toBe(DOLLAR);
    expect(await chain.balance(chain.vault)).toBe(HOLDINGS - DOLLAR);
    expect(await chain.status(1n)).toBe("paid");
    await expectError(chain.finalize(1n), "NotPending");
    expect(await chain.balance(data.account)).toBe(DOLLAR);
  });

  test("any quorum of the members: each pair may sign", async () => {
    let id = 0n;
    for (const pair of [
      [FIRST, SECOND],
      [FIRST, THIRD],
      [SECOND, THIRD],
    ]) {
      const data = await chain.withdrawal({ id: ++id });
      await expectOk(chain.request(data, await signed(data, pair)));
    }
  });

  test("attack: fewer signatures than the quorum, or more bytes", async () => {
    const data = await chain.withdrawal();
    const two = await signed(data, [FIRST, SECOND]);
    await expectError(chain.request(data, "0x"), "SignatureCount");
    await expectError(chain.request(data, await signed(data, [FIRST])), "SignatureCount");
    await expectError(chain.request(data, two.slice(0, -2) as Hex), "SignatureCount");
    await expectError(chain.request(data, `${two}00`), "SignatureCount");
    const three = await signed(data, [FIRST, SECOND, THIRD]);
    await expectError(chain.request(data, three), "SignatureCount");
  });

  test("attack: a repeated signer, and signers out of order", async () => {
    const data = await chain.withdrawal();
    await expectError(chain.request(data, await signed(data, [FIRST, FIRST])), "SignerOrder");
    await expectError(chain.request(data, await signed(data, [SECOND, FIRST])), "SignerOrder");
  });

  test("attack: signers who are no attestors, cold keys included", async () => {
    const data = await chain.withdrawal();
    for (const keys of [STRANGERS.slice(0, 2), COLD_KEYS.slice(0, 2), [FIRST, STRANGERS[0]!]]) {
      await expectError(chain.request(data, await signed(data, keys)), "SignerUnknown");
    }
  });

  test("attack: malleated signatures", async () => {
    const data = await chain.withdrawal();
    const [one, two] = [await signed(data, [FIRST]), await signed(data, [SECOND])];
    const { r, s, yParity } = parseSignature(one);
    const high = serializeSignature({
      r,
      s: `0x${(N - BigInt(s)).toString(16).padStart(64, "0")}`,
      yParity: 1 - yParity,
    });
    // The same signer twice, as two different signatures.
    await expectError(chain.request(data, join(one, high)), "SignatureMalformed");
    await expectError(chain.request(data, join(high, two)), "SignatureMalformed");
    for (const v of ["00", "01", "1a", "1d", "ff"]) {
      const other = `${one.slice(0, -2)}${v}` as Hex;
      await expectError(chain.request(data, join(other, two)), "SignatureMalformed");
    }
    // No point of the curve, or another key: nobody's signature.
    const nobody = `0x${"00".repeat(64)}1b` as Hex;
    await expectError(chain.request(data, join(nobody, two)), "SignerUnknown");
    const flipped = serializeSignature({ r, s, yParity: 1 - yParity });
    await expectError(chain.request(data, join(flipped, two)), "SignerUnknown");
  });

  test("attack: another chain's, vault's or venue's data", async () => {
    const data = await chain.withdrawal();
    const others: readonly Partial<VaultDomain>[] = [
      { chainId: 1 },
      { vault: chain.token },
      { venueId: `0x${"11".repeat(32)}` },
    ];
    for (const other of others) {
      const signatures = await signed(data, [FIRST, SECOND], { ...chain.domain, ...other });
      await expectError(chain.request(data, signatures), "SignerUnknown");
    }
  });

  test("attack: any field other than the signed one", async () => {
    const data = await chain.withdrawal();
    const signatures = await signed(data, [FIRST, SECOND]);
    const token = await node.token("USDT", 6);
    for (const change of [
      { token },
      { account: node.account(3) },
      { amount: data.amount + 1n },
      { id: 2n },
      { deadline: data.deadline + 1n },
    ]) {
      await expectError(chain.request({ ...data, ...change }, signatures), "SignerUnknown");
    }
    await expectOk(chain.request(data, signatures));
  });

  test("attack: another action's data, even by keys of that action", async () => {
    // Two attestors sign an unlocking, two cold keys a withdrawal: neither is the other.
    const data = await chain.withdrawal();
    await expectError(
      chain.request(data, await signed(data, COLD_KEYS.slice(0, 2))),
      "SignerUnknown",
    );
    const caps = await chain.admin("SetCaps", {
      token: chain.token,
      hourFloor: 1n,
      dayFloor: 2n,
    });
    const byAttestors = await chain.sign("SetCaps", caps, [FIRST, SECOND]);
    await expectError(chain.propose("SetCaps", caps, byAttestors), "SignerUnknown");
    // The same fields under the type of another action.
    const members = addressesOf(STRANGERS);
    const rotation = await chain.admin("SetGuardians", { guardians: members });
    const asInvalidation = await chain.sign(
      "Invalidate",
      { ids: members.map(BigInt).map((n) => n % 2n ** 64n), ...bounds(rotation) },
      COLD_KEYS.slice(0, 2),
    );
    await expectError(chain.propose("SetGuardians", rotation, asInvalidation), "SignerUnknown");
    // A proposal of one action is not finalized as another.
    await expectOk(chain.propose("SetGuardians", rotation));
    await chain.passDispute();
    const attestors = { attestors: members, quorum: 2n, ...bounds(rotation) };
    await expectError(chain.finalizeAdmin("SetAttestors", attestors), "NotProposed");
    await expectError(chain.finalizeAdmin("Unlock", bounds(rotation)), "NotProposed");
  });

  test("attack: an id again, with the same or another amount, before and after payment", async () => {
    const data = await pending();
    const more = { ...data, amount: data.amount * 2n };
    await expectError(chain.request(data), "IdUsed");
    await expectError(chain.request(more), "IdUsed");
    await chain.passDispute();
    await expectOk(chain.finalize(1n));
    await expectError(chain.request(data), "IdUsed");
    await expectError(chain.request(more), "IdUsed");
    await expectError(chain.finalize(1n), "NotPending");
    await expectError(chain.finalize(2n), "NotPending");
    expect(await chain.balance(data.account)).toBe(DOLLAR);
  });

  test("attack: one approval finalized in a loop pays once", async () => {
    const data = await pending();
    await chain.passDispute();
    const results: string[] = [];
    for (let i = 0; i < 10; i++) results.push((await chain.finalize(1n)).result);
    expect(results).toEqual(["ok", ...Array<string>(9).fill("NotPending")]);
    expect(await chain.balance(data.account)).toBe(DOLLAR);
  });

  test("attack: a passed deadline; request needs a whole dispute period before it", async () => {
    const deadline = (await chain.now()) + 1_000n;
    const data = await chain.withdrawal({ deadline });
    await chain.at(deadline - BigInt(DISPUTE_SECONDS) + 1n);
    await expectError(chain.request(data), "DeadlinePassed");
    await chain.at(deadline + 1n);
    await expectError(chain.request(data), "DeadlinePassed");
  });

  test("deadline: request at the last second, payment at the last second, not one later", async () => {
    const deadline = (await chain.now()) + 1_000n;
    const [paid, late] = [1n, 2n].map((id) => ({ deadline, id }));
    const [a, b] = [await chain.withdrawal(paid), await chain.withdrawal(late)];
    await chain.at(deadline - BigInt(DISPUTE_SECONDS) - 1n);
    await expectOk(chain.request(b));
    await chain.at(deadline - BigInt(DISPUTE_SECONDS));
    await expectOk(chain.request(a));
    await mineWithoutTime(DISPUTE_BLOCKS, deadline - BigInt(DISPUTE_SECONDS));
    await chain.at(deadline);
    await expectOk(chain.finalize(1n));
    await chain.at(deadline + 1n);
    await expectError(chain.finalize(2n), "DeadlinePassed");
    expect(await chain.balance(a.account)).toBe(DOLLAR);
  });

  test("attack: finalizing before the dispute period in blocks, when its time has passed", async () => {
    await pending();
    await chain.at((await chain.now()) + BigInt(DISPUTE_SECONDS));
    await expectError(chain.finalize(1n), "DisputePeriod");
  });

  test("attack: finalizing before the dispute period in time, when its blocks have passed", async () => {
    const data = await pending();
    const start = await chain.now();
    await mineWithoutTime(DISPUTE_BLOCKS * 2, start);
    await chain.at(start + BigInt(DISPUTE_SECONDS) - 1n);
    await expectError(chain.finalize(1n), "DisputePeriod");
    await chain.at(start + BigInt(DISPUTE_SECONDS));
    await expectOk(chain.finalize(1n));
    expect(await chain.balance(data.account)).toBe(DOLLAR);
  });

  test("dispute period: payable at exactly the last of its blocks", async () => {
    await pending();
    await node.rpc("evm_increaseTime", [DISPUTE_SECONDS]);
    // The next transaction is in block 14 after the request, then 15.
    await node.mine(DISPUTE_BLOCKS - 2);
    await expectError(chain.finalize(1n), "DisputePeriod");
    await expectOk(chain.finalize(1n));
  });

  test("a token that is not listed: refused, also with the quorum's signatures", async () => {
    const token = await node.token("USDT", 6);
    await node.mint(token, chain.vault, HOLDINGS);
    await expectError(chain.request(await chain.withdrawal({ token })), "TokenNotListed");
  });

  test("ether: refused, and no function takes any", async () => {
    for (const data of ["0x", "0x12345678", chain.callData("lock", [])] as const) {
      const transaction = { from: node.account(5), to: chain.vault, data, value: "0x1" };
      await expect(node.rpc("eth_sendTransaction", [transaction])).rejects.toThrow(/revert/);
    }
    expect(await node.rpc("eth_getBalance", [chain.vault, "latest"])).toBe("0x0");
  });
});

describe("tokens", () => {
  test.each<[(typeof MODES)[number], string]>([
    ["ReturnFalse", "TransferFailed"],
    ["Revert", "TransferFailed"],
    ["MoveNothing", "TransferFailed"],
    ["ChargeSender", "TransferFailed"],
    ["CreditSender", "TransferFailed"],
    ["ReturnTwo", "reverted"],
  ])(
    "a hostile token, %s: nothing is paid, and the honest token can pay later",
    async (mode, name) => {
      const data = await pending();
      await chain.passDispute();
      await chain.behave(chain.token, mode);
      await expectError(chain.finalize(1n), name);
      expect(await chain.status(1n)).toBe("pending");
      expect(await chain.balance(data.account)).toBe(0n);
      expect(await chain.balance(chain.vault)).toBe(HOLDINGS);
      await chain.behave(chain.token, "Honest");
      await expectOk(chain.finalize(1n));
      expect(await chain.balance(data.account)).toBe(DOLLAR);
    },
  );

  test("a token that re-enters: every function that writes refuses", async () => {
    const first = await pending();
    await pending({ id: 2n });
    const third = await chain.withdrawal({ id: 3n });
    const unlock = await chain.admin("Unlock", {});
    const attestors = { attestors: addressesOf(STRANGERS), quorum: 2n, ...bounds(unlock) };
    const guardians = { guardians: addressesOf(STRANGERS), ...bounds(unlock) };
    const caps = { token: chain.token, hourFloor: 1n, dayFloor: 1n, ...bounds(unlock) };
    const ids = { ids: [1n], ...bounds(unlock) };
    const none = "0x";
    const calls: readonly (readonly [string, readonly unknown[]])[] = [
      ["finalize", [1n]],
      ["finalize", [2n]],
      ["request", [third, await signed(third, [FIRST, SECOND])]],
      ["lock", []],
      ["invalidate", [ids, none]],
      ["proposeUnlock", [unlock, none]],
      ["finalizeUnlock", [unlock]],
      ["proposeAttestors", [attestors, none]],
      ["finalizeAttestors", [attestors]],
      ["proposeGuardians", [guardians, none]],
      ["finalizeGuardians", [guardians]],
      ["proposeCaps", [caps, none]],
      ["finalizeCaps", [caps]],
    ];
    // Every function of the vault that can write is in the list.
    expect(new Set(calls.map(([name]) => name))).toEqual(new Set(chain.writers()));
    await chain.passDispute();
    const before = await node.snapshot();
    let state = before;
    for (const [name, args] of calls) {
      await chain.behave(chain.token, "Reenter", chain.callData(name, args));
      await expectOk(chain.finalize(1n));
      expect([name, await chain.answerTo(chain.token)]).toEqual([name, "Reentered"]);
      expect(await chain.balance(first.account)).toBe(DOLLAR);
      for (const hash of chain.hashes.splice(0)) await branches.add(node, hash);
      await node.revert(state);
      state = await node.snapshot();
    }
  });

  test("a token that returns nothing: paid", async () => {
    const token = await node.contract("SilentToken");
    await chain.deploy({ tokens: [{ token, hourFloor: HOUR_FLOOR, dayFloor: DAY_FLOOR }] });
    await node.mint(token, chain.vault, HOLDINGS);
    const data = await pending({ token });
    await chain.passDispute();
    await expectOk(chain.finalize(1n));
    expect(await chain.balance(data.account, token)).toBe(DOLLAR);
  });

  test("a token that keeps a fee of the amount: the vault loses the amount, not more", async () => {
    const token = await node.contract("FeeToken");
    await chain.deploy({ tokens: [{ token, hourFloor: HOUR_FLOOR, dayFloor: DAY_FLOOR }] });
    await node.mint(token, chain.vault, HOLDINGS);
    const data = await pending({ token });
    await chain.passDispute();
    await expectOk(chain.finalize(1n));
    expect(await chain.balance(chain.vault, token)).toBe(HOLDINGS - DOLLAR);
    expect(await chain.balance(data.account, token)).toBe((DOLLAR * 99n) / 100n);
  });

  test("a contract as account: paid like any other", async () => {
    const account = await node.contract("Splitter");
    await pending({ account });
    await chain.passDispute();
    await expectOk(chain.finalize(1n));
    expect(await chain.balance(account)).toBe(DOLLAR);
  });

  test("more than the vault holds: not paid, and paid once it holds enough", async () => {
    const data = await pending({ amount: HOUR_FLOOR });
    await chain.passDispute();
    await chain.behave(chain.token, "Honest");
    const empty = chain.vault;
    await drain(empty);
    await expectError(chain.finalize(1n), "TransferFailed");
    await node.mint(chain.token, empty, HOUR_FLOOR);
    await expectOk(chain.finalize(1n));
    expect(await chain.balance(data.account)).toBe(HOUR_FLOOR);
  });
});

describe("caps", () => {
  test("hour: the floor where it is above 1 % of the holdings; a part of a window later", async () => {
    const start = (await chain.now()) + 1_000n;
    const request = async (id: bigint, amount: bigint, time: bigint) => {
      const data = await chain.withdrawal({ id, amount, deadline: start + 9_999n });
      await chain.at(time);
      return chain.request(data);
    };
    await expectOk(request(1n, HOUR_FLOOR - 1n, start));
    await expectOk(request(2n, 1n, start + 1n));
    await expectError(request(3n, 1n, start + 2n), "HourCap");
    await expectError(request(3n, 1n, start + 3_599n), "HourCap");
    // After seven parts of ten minutes nothing of it counts.
    await expectOk(request(3n, HOUR_FLOOR, start + 4_201n));
  });

  test("hour: 1 % of the holdings where it is above the floor", async () => {
    await node.mint(chain.token, chain.vault, HOUR_FLOOR * 300n);
    const cap = (await chain.balance(chain.vault)) / 100n;
    expect(cap).toBeGreaterThan(HOUR_FLOOR);
    await expectError(chain.request(await chain.withdrawal({ amount: cap + 1n })), "HourCap");
    await expectOk(chain.request(await chain.withdrawal({ amount: cap })));
  });

  test("day: the floor bounds what the hours allow; 26 hours later it is free", async () => {
    let id = 0n;
    let time = (await chain.now()) + 10n;
    const start = time;
    const request = async (amount: bigint) => {
      const deadline = time + 10_000n;
      const data = await chain.withdrawal({ id: ++id, amount, deadline });
      await chain.at(time);
      return chain.request(data);
    };
    for (let i = 0n; i < DAY_FLOOR / HOUR_FLOOR; i++) {
      await expectOk(request(HOUR_FLOOR));
      time += 4_200n;
    }
    await expectError(request(1n), "DayCap");
    time = start + 86_400n - 1n;
    await expectError(request(1n), "DayCap");
    time = start + 13n * 7_200n;
    await expectOk(request(HOUR_FLOOR));
  });

  test("edge of a window: the end of one hour and the beginning of the next share one cap", async () => {
    const hour = ((await chain.now()) / 3_600n + 2n) * 3_600n;
    const end = { deadline: hour + 9_999n, amount: HOUR_FLOOR };
    const [a, b] = [
      await chain.withdrawal({ id: 1n, ...end }),
      await chain.withdrawal({ id: 2n, ...end }),
    ];
    await chain.at(hour - 1n);
    await expectOk(chain.request(a));
    await chain.at(hour);
    await expectError(chain.request(b), "HourCap");
    await chain.at(hour + 3_500n);
    await expectError(chain.request(b), "HourCap");
  });

  test("attack: a donation raises a cap by a hundredth of what it costs", async () => {
    const gift = HOUR_FLOOR * 1_000n;
    const [before] = (await chain.read("capsOf", [chain.token])) as readonly bigint[];
    await node.mint(chain.token, chain.vault, gift);
    const [after] = (await chain.read("capsOf", [chain.token])) as readonly bigint[];
    expect(after! - before!).toBeLessThanOrEqual(gift / 100n);
  });

  test("invalidated and expired requests stay counted", async () => {
    await pending({ amount: HOUR_FLOOR });
    await expectOk(chain.lock());
    await expectOk(chain.propose("Invalidate", await chain.admin("Invalidate", { ids: [1n] })));
    await expectOk(chain.administer("Unlock", {}));
    await expectError(chain.request(await chain.withdrawal({ id: 2n })), "HourCap");
  });

  test("an amount that would overflow a sum: refused", async () => {
    await pending();
    const amount = 2n ** 128n - 1n;
    await expectError(chain.request(await chain.withdrawal({ id: 2n, amount })), "HourCap");
  });
});

describe("lock", () => {
  test.each([0, 1])("any one guardian locks, %i: no request, no payment", async (number) => {
    await pending();
    await chain.passDispute();
    const guardian = chain.guardians[number]!;
    const { events } = await expectOk(chain.lock(guardian));
    expect(events).toEqual([{ name: "Locked", args: { guardian } }]);
    await expectError(chain.finalize(1n), "VaultLocked");
    await expectError(chain.request(await chain.withdrawal({ id: 2n })), "VaultLocked");
  });

  test("attack: a lock by a stranger, and a second one that would void the repair", async () => {
    await expectError(chain.lock(node.account(3)), "NotGuardian");
    await expectOk(chain.lock());
    const unlock = await chain.admin("Unlock", {});
    await expectOk(chain.propose("Unlock", unlock));
    await expectError(chain.lock(chain.guardians[1]), "VaultLocked");
    await chain.passDispute();
    await expectOk(chain.finalizeAdmin("Unlock", unlock));
  });

  test("unlock: restarts every pending period, in time and in blocks", async () => {
    await pending({ deadline: (await chain.now()) + 100_000n });
    await chain.passDispute();
    await expectOk(chain.lock());
    await expectOk(chain.administer("Unlock", {}));
    const unlockedAt = await chain.now();
    await expectError(chain.finalize(1n), "DisputePeriod");
    await mineWithoutTime(DISPUTE_BLOCKS, await chain.now());
    await chain.at(unlockedAt + BigInt(DISPUTE_SECONDS) - 1n);
    await expectError(chain.finalize(1n), "DisputePeriod");
    await chain.at(unlockedAt + BigInt(DISPUTE_SECONDS));
    await expectOk(chain.finalize(1n));
  });

  test("unlock: a guardian can lock again before anything is paid", async () => {
    await pending({ deadline: (await chain.now()) + 100_000n });
    await chain.passDispute();
    await expectOk(chain.lock());
    await expectOk(chain.administer("Unlock", {}));
    await expectError(chain.finalize(1n), "DisputePeriod");
    await expectOk(chain.lock());
    await chain.passDispute();
    await expectError(chain.finalize(1n), "VaultLocked");
  });

  test("unlock: only while locked", async () => {
    await expectError(chain.propose("Unlock", await chain.admin("Unlock", {})), "VaultNotLocked");
  });

  test("invalidate: only while locked, requested ids or not, for good", async () => {
    const data = await pending();
    await expectError(
      chain.propose("Invalidate", await chain.admin("Invalidate", { ids: [1n] })),
      "VaultNotLocked",
    );
    await expectOk(chain.lock());
    const ids = await chain.admin("Invalidate", { ids: [1n, 7n] });
    const { events } = await expectOk(chain.propose("Invalidate", ids));
    expect(events.map(({ args }) => args)).toEqual([{ id: 1n }, { id: 7n }]);
    await expectOk(chain.administer("Unlock", {}));
    await chain.passDispute();
    await expectError(chain.finalize(1n), "NotPending");
    await expectError(chain.request(data), "IdUsed");
    await expectError(chain.request(await chain.withdrawal({ id: 7n })), "IdUsed");
    expect(await chain.balance(data.account)).toBe(0n);
  });

  test("invalidate: not what is paid or invalid, nor after its expiry", async () => {
    await pending();
    await chain.passDispute();
    await expectOk(chain.finalize(1n));
    await expectOk(chain.lock());
    const paid = await chain.admin("Invalidate", { ids: [1n] });
    await expectError(chain.propose("Invalidate", paid), "IdUsed");
    const twice = await chain.admin("Invalidate", { ids: [2n, 2n] });
    await expectError(chain.propose("Invalidate", twice), "IdUsed");
    const late = await chain.admin("Invalidate", { ids: [3n] });
    await chain.at(late.expiry + 1n);
    await expectError(chain.propose("Invalidate", late), "WrongExpiry");
  });
});

describe("administration", () => {
  const NEW = { attestors: addressesOf(STRANGERS), quorum: 2n };

  test("a rotated attestor's signature: refused; the new set's counts; a pending request stays", async () => {
    const before = await pending();
    const { events } = await expectOk(chain.administer("SetAttestors", NEW));
    expect(events).toEqual([{ name: "AttestorsChanged", args: NEW }]);
    const data = await chain.withdrawal({ id: 2n });
    for (const keys of [ATTESTORS.slice(0, 2), ascending([FIRST, STRANGERS[0]!])]) {
      await expectError(chain.request(data, await signed(data, keys)), "SignerUnknown");
    }
    await expectOk(chain.request(data, await signed(data, STRANGERS.slice(0, 2))));
    await expectOk(chain.finalize(1n));
    expect(await chain.balance(before.account)).toBe(DOLLAR);
  });

  test("rotation under dispute: the old set counts until it is finalized, in time and in blocks", async () => {
    const rotation = await chain.admin("SetAttestors", NEW);
    const { events } = await expectOk(chain.propose("SetAttestors", rotation));
    expect(events).toEqual([{ name: "AttestorsProposed", args: { data: rotation } }]);
    const start = await chain.now();
    await pending();
    await mineWithoutTime(DISPUTE_BLOCKS, start + 1n);
    await chain.at(start + BigInt(DISPUTE_SECONDS) - 1n);
    await expectError(chain.finalizeAdmin("SetAttestors", rotation), "DisputePeriod");
    await chain.at(start + BigInt(DISPUTE_SECONDS));
    await expectOk(chain.finalizeAdmin("SetAttestors", rotation));
    await expectError(chain.finalizeAdmin("SetAttestors", rotation), "NotProposed");
  });

  test("rotation under dispute: time without blocks does not suffice", async () => {
    const rotation = await chain.admin("SetAttestors", NEW);
    await expectOk(chain.propose("SetAttestors", rotation));
    await node.rpc("evm_increaseTime", [DISPUTE_SECONDS * 2]);
    await expectError(chain.finalizeAdmin("SetAttestors", rotation), "DisputePeriod");
  });

  test("rotation under dispute: a lock voids it, and what was signed before the lock", async () => {
    const rotation = await chain.admin("SetAttestors", NEW);
    const next = { ...rotation, sequence: rotation.sequence + 1n };
    await expectOk(chain.propose("SetAttestors", rotation));
    await expectOk(chain.lock());
    await chain.passDispute();
    await expectError(chain.finalizeAdmin("SetAttestors", rotation), "NotProposed");
    await expectError(chain.propose("SetAttestors", rotation), "WrongSequence");
    await expectError(chain.propose("SetAttestors", next), "WrongSequence");
  });

  test("stolen attestor keys: lock, invalidate, rotate, unlock; nothing of theirs is paid", async () => {
    const stolen = await pending({ amount: HOUR_FLOOR, account: node.account(4) });
    await expectOk(chain.lock());
    await expectOk(chain.propose("Invalidate", await chain.admin("Invalidate", { ids: [1n] })));
    await expectOk(chain.administer("SetAttestors", NEW));
    await expectOk(chain.administer("Unlock", {}));
    await chain.passDispute();
    await expectError(chain.finalize(1n), "NotPending");
    await expectError(chain.request(await chain.withdrawal({ id: 2n })), "SignerUnknown");
    expect(await chain.balance(stolen.account)).toBe(0n);
  });

  test("a stolen guardian key: rotated while locked, then its lock is refused", async () => {
    const [thief] = chain.guardians;
    await expectOk(chain.lock(thief));
    const { events } = await expectOk(
      chain.administer("SetGuardians", { guardians: [node.account(7)] }),
    );
    expect(events).toEqual([{ name: "GuardiansChanged", args: { guardians: [node.account(7)] } }]);
    await expectOk(chain.administer("Unlock", {}));
    await expectError(chain.lock(thief), "NotGuardian");
    await expectOk(chain.lock(node.account(7)));
  });

  test("cap changes under dispute: the old caps until they are finalized", async () => {
    const caps = { token: chain.token, hourFloor: HOUR_FLOOR * 2n, dayFloor: DAY_FLOOR };
    const change = await chain.admin("SetCaps", caps);
    await expectOk(chain.propose("SetCaps", change));
    const big = await chain.withdrawal({ amount: HOUR_FLOOR * 2n });
    await expectError(chain.request(big), "HourCap");
    await expectError(chain.finalizeAdmin("SetCaps", change), "DisputePeriod");
    await chain.passDispute();
    const { events } = await expectOk(chain.finalizeAdmin("SetCaps", change));
    expect(events).toEqual([{ name: "CapsChanged", args: caps }]);
    await expectOk(chain.request(big));
  });

  test("caps of a token that is not listed: list it; an address without code is refused", async () => {
    const token = await node.token("USDT", 6);
    await node.mint(token, chain.vault, HOLDINGS);
    const caps = { hourFloor: 5n, dayFloor: 6n };
    await expectOk(chain.administer("SetCaps", { token, ...caps }));
    expect(await chain.read("listedTokens")).toEqual([
      { token: chain.token, hourFloor: HOUR_FLOOR, dayFloor: DAY_FLOOR },
      { token, ...caps },
    ]);
    // As a transaction, so that its branches are traced.
    await expectOk(chain.call("listedTokens", []));
    await expectOk(chain.request(await chain.withdrawal({ token })));
    const nobody = chain.administer("SetCaps", { token: node.account(8), ...caps });
    await expectError(nobody, "InvalidToken");
  });

  test("attack: administration signed by one cold key, by others, or out of order", async () => {
    const rotation = await chain.admin("SetAttestors", NEW);
    const [a, b] = COLD_KEYS as unknown as readonly [PrivateKeyAccount, PrivateKeyAccount];
    for (const [keys, name] of [
      [[a], "SignatureCount"],
      [[a, a], "SignerOrder"],
      [[b, a], "SignerOrder"],
      [[FIRST, SECOND], "SignerUnknown"],
    ] as const) {
      const signatures = await chain.sign("SetAttestors", rotation, keys);
      await expectError(chain.propose("SetAttestors", rotation, signatures), name);
    }
  });

  test("attack: administration signed in advance: each sequence once, in order", async () => {
    const first = await chain.admin("SetAttestors", NEW);
    const ahead = { ...first, sequence: first.sequence + 1n };
    await expectError(chain.propose("SetAttestors", ahead), "WrongSequence");
    await expectOk(chain.propose("SetAttestors", first));
    await expectError(chain.propose("SetAttestors", first), "WrongSequence");
    // A later proposal replaces the pending one.
    const second = await chain.admin("SetGuardians", { guardians: [node.account(7)] });
    await expectOk(chain.propose("SetGuardians", second));
    await chain.passDispute();
    await expectError(chain.finalizeAdmin("SetAttestors", first), "NotProposed");
    await expectOk(chain.finalizeAdmin("SetGuardians", second));
  });

  test("attack: administration without an end, and after its end", async () => {
    const base = await chain.admin("SetAttestors", NEW);
    const now = await chain.now();
    const forever = { ...base, expiry: 2n ** 64n - 1n };
    await expectError(chain.propose("SetAttestors", forever), "WrongExpiry");
    const week = { ...base, expiry: now + 1_000n + 604_800n + 1n };
    await chain.at(now + 1_000n);
    await expectError(chain.propose("SetAttestors", week), "WrongExpiry");
    const short = { ...base, expiry: now + 1_500n + BigInt(DISPUTE_SECONDS) - 1n };
    await chain.at(now + 1_500n);
    await expectError(chain.propose("SetAttestors", short), "WrongExpiry");
    await expectOk(chain.propose("SetAttestors", base));
    await node.mine(DISPUTE_BLOCKS);
    await chain.at(base.expiry + 1n);
    await expectError(chain.finalizeAdmin("SetAttestors", base), "WrongExpiry");
  });

  test("members: none, too many, twice, zero, a cold key", async () => {
    const many = addressesOf(keysOf("many", 33));
    const zero: Address = "0x0000000000000000000000000000000000000000";
    const [a, b] = addressesOf(STRANGERS) as readonly [Address, Address];
    const cold = ascending([COLD_KEYS[0]!, STRANGERS[0]!]);
    for (const attestors of [[], many, [a, a], [b, a], [zero, a], addressesOf(cold)]) {
      const outcome = chain.administer("SetAttestors", { attestors, quorum: 2n });
      await expectError(outcome, "InvalidMembers");
    }
    await expectOk(chain.administer("SetAttestors", { attestors: many.slice(1), quorum: 17n }));
    const again = await chain.administer("SetGuardians", { guardians: addressesOf(cold) });
    expect(again.result).toBe("InvalidMembers");
  });

  test("quorum: one key alone, half, more than all", async () => {
    for (const [count, quorum] of [
      [1, 1n],
      [3, 1n],
      [3, 4n],
      [4, 2n],
      [3, 2n ** 256n - 1n],
    ] as const) {
      const attestors = addressesOf(keysOf("new", count));
      await expectError(chain.administer("SetAttestors", { attestors, quorum }), "InvalidQuorum");
    }
  });
});

describe("a stolen key alone moves nothing", () => {
  /** Every call that can write, with this key's signature wherever a quorum's is asked for. */
  async function callsBy(
    key: PrivateKeyAccount,
  ): Promise<readonly (readonly [string, unknown[]])[]> {
    const end = { sequence: await chain.sequence(), expiry: (await chain.now()) + 3_600n };
    const own = addressesOf(ascending([...STRANGERS.slice(0, 2), key]));
    const payment = await chain.withdrawal({ id: 9n, account: key.address });
    const attestors = { attestors: own, quorum: 2n, ...end };
    const guardians = { guardians: own, ...end };
    const caps = { token: chain.token, hourFloor: HOLDINGS, dayFloor: HOLDINGS, ...end };
    const ids = { ids: [1n], ...end };
    const [byPayment, byUnlock, byAttestors, byGuardians, byCaps, byIds] = await Promise.all([
      chain.sign("Withdrawal", payment, [key, key]),
      chain.sign("Unlock", end, [key, key]),
      chain.sign("SetAttestors", attestors, [key, key]),
      chain.sign("SetGuardians", guardians, [key, key]),
      chain.sign("SetCaps", caps, [key, key]),
      chain.sign("Invalidate", ids, [key, key]),
    ]);
    return [
      ["request", [payment, byPayment]],
      ["finalize", [9n]],
      ["proposeAttestors", [attestors, byAttestors]],
      ["finalizeAttestors", [attestors]],
      ["proposeGuardians", [guardians, byGuardians]],
      ["finalizeGuardians", [guardians]],
      ["proposeCaps", [caps, byCaps]],
      ["finalizeCaps", [caps]],
      ["proposeUnlock", [end, byUnlock]],
      ["finalizeUnlock", [end]],
      ["invalidate", [ids, byIds]],
      ["lock", []],
    ];
  }

  test.each<[string, PrivateKeyAccount, number]>([
    ["an attestor's", FIRST, 3],
    ["a cold key's", COLD_KEYS[0]!, 3],
    ["a relayer's", STRANGERS[2]!, 3],
    // Unlocked accounts of the node: what is signed is signed by a stranger's key.
    ["a guardian's", STRANGERS[2]!, 5],
  ])("%s: every call, before a lock and after it", async (name, key, sender) => {
    const from = node.account(sender);
    const isGuardian = chain.guardians.includes(from);
    expect(isGuardian).toBe(name === "a guardian's");
    const honest = await pending();
    for (const state of ["open", "locked"]) {
      const calls = await callsBy(key);
      expect(new Set(calls.map(([writer]) => writer))).toEqual(new Set(chain.writers()));
      for (const [writer, args] of calls) {
        const { result } = await chain.call(writer, args, from);
        const isItsRight = isGuardian && writer === "lock" && state === "open";
        expect([state, writer, result === "ok"]).toEqual([state, writer, isItsRight]);
      }
      if (state === "open" && !isGuardian) await expectOk(chain.lock());
    }
    expect(await chain.balance(chain.vault)).toBe(HOLDINGS);
    // Whatever it did, the cold keys unlock and what was honest is paid.
    await expectOk(chain.administer("Unlock", {}));
    await chain.passDispute();
    await expectOk(chain.finalize(1n));
    expect(await chain.balance(honest.account)).toBe(DOLLAR);
  });
});

/** The operations of a code, without their operands. */
function operationsOf(code: Hex): readonly number[] {
  const bytes = Buffer.from(code.slice(2), "hex");
  const found: number[] = [];
  for (let at = 0; at < bytes.length; at++) {
    const operation = bytes[at]!;
    found.push(operation);
    // PUSH1 to PUSH32 have operands.
    if (operation >= 0x60 && operation <= 0x7f) at += operation - 0x5f;
  }
  return found;
}

test("no upgrade: the code runs no other's, makes none and never ends; it calls others in one place", () => {
  const operations = operationsOf(VAULT_CODE);
  const NEVER = {
    CREATE: 0xf0,
    CALLCODE: 0xf2,
    DELEGATECALL: 0xf4,
    CREATE2: 0xf5,
    SELFDESTRUCT: 0xff,
  };
  for (const [name, code] of Object.entries(NEVER)) {
    expect([name, operations.includes(code)]).toEqual([name, false]);
  }
  const CALL = 0xf1;
  expect(operations.filter((code) => code === CALL)).toHaveLength(1);
});

describe("constructor", () => {
  test("the code on the chain: VAULT_CODE, byte for byte", async () => {
    expect(await node.rpc("eth_getCode", [chain.vault, "latest"])).toBe(VAULT_CODE);
  });

  test("reads: what it was set up with", async () => {
    expect(await chain.read("attestorGroup")).toEqual([addressesOf(ATTESTORS), 2n]);
    expect(await chain.read("guardianGroup")).toEqual(chain.guardians);
    expect(await chain.read("coldKeyGroup")).toEqual([addressesOf(COLD_KEYS), 2n]);
    expect(await chain.read("disputeSeconds")).toBe(DISPUTE_SECONDS);
    expect(await chain.read("disputeBlocks")).toBe(DISPUTE_BLOCKS);
    expect(await chain.read("isLocked")).toBe(false);
    expect(await chain.read("venue")).toBe(chain.domain.venueId);
    expect(await chain.read("domainSeparator")).toBe(domainSeparatorOf(chain.domain));
  });

  test("no dispute period, or one too long: refused", async () => {
    for (const period of [
      { disputeSeconds: 0 },
      { disputeSeconds: 604_801 },
      { disputeBlocks: 0 },
      { disputeBlocks: 100_001 },
    ]) {
      await expectError(chain.deploy(period), "InvalidPeriod");
    }
  });

  test("an attestor or guardian who is a cold key, one admin key: refused", async () => {
    const attestors = addressesOf(ascending([COLD_KEYS[0]!, FIRST]));
    await expectError(chain.deploy({ attestors }), "InvalidMembers");
    await expectError(
      chain.deploy({ guardians: addressesOf(COLD_KEYS.slice(0, 1)) }),
      "InvalidMembers",
    );
    await expectError(chain.deploy({ coldQuorum: 1n }), "InvalidQuorum");
  });

  test("more than 32 tokens: refused", async () => {
    const { token } = chain;
    const list = (count: number, other: Address) =>
      Array.from({ length: count }, () => ({ token: other, hourFloor: 1n, dayFloor: 1n }));
    // The same token again only sets its caps.
    await expectOk(chain.deploy({ tokens: list(3, token) }));
    const tokens: Address[] = [];
    for (let i = 0; i < 33; i++) tokens.push(await node.contract("OddEvents"));
    const entries = tokens.map((address) => list(1, address)[0]!);
    await expectOk(chain.deploy({ tokens: entries.slice(1) }));
    await expectError(chain.deploy({ tokens: entries }), "InvalidToken");
  });
});

test("gas: the table of docs/vault.md", async () => {
  const token = await node.token("USDC", 6);
  const tokens = [{ token, hourFloor: HOUR_FLOOR, dayFloor: DAY_FLOOR }];
  const gas: Record<string, bigint> = { deploy: (await expectOk(chain.deploy({ tokens }))).gas };
  const measure = async (name: string, outcome: Promise<Outcome>) => {
    gas[name] = (await expectOk(outcome)).gas;
  };
  await node.mint(token, chain.vault, HOLDINGS);
  await measure("request", chain.request(await chain.withdrawal({ token })));
  await chain.passDispute();
  await measure("finalize", chain.finalize(1n));
  const members = addressesOf(STRANGERS);
  const rotation = await chain.admin("SetAttestors", { attestors: members, quorum: 2n });
  await measure("proposeAttestors", chain.propose("SetAttestors", rotation));
  await chain.passDispute();
  await measure("finalizeAttestors", chain.finalizeAdmin("SetAttestors", rotation));
  const guardians = await chain.admin("SetGuardians", { guardians: chain.guardians });
  await measure("proposeGuardians", chain.propose("SetGuardians", guardians));
  await chain.passDispute();
  await measure("finalizeGuardians", chain.finalizeAdmin("SetGuardians", guardians));
  const caps = await chain.admin("SetCaps", { token, hourFloor: 1n, dayFloor: 2n });
  await measure("proposeCaps", chain.propose("SetCaps", caps));
  await chain.passDispute();
  await measure("finalizeCaps", chain.finalizeAdmin("SetCaps", caps));
  await measure("lock", chain.lock());
  const ids = await chain.admin("Invalidate", { ids: [7n] });
  await measure("invalidate, one id", chain.propose("Invalidate", ids));
  const unlock = await chain.admin("Unlock", {});
  await measure("proposeUnlock", chain.propose("Unlock", unlock));
  await chain.passDispute();
  await measure("finalizeUnlock", chain.finalizeAdmin("Unlock", unlock));
  const text = readFileSync(new URL("../../../../docs/vault.md", import.meta.url), "utf8");
  const rows = [...text.matchAll(/^\| ([\w, ]+) \| ([\d,]+) \|$/gm)];
  const shown = new Map(rows.map(([, name, used]) => [name, Number(used?.replaceAll(",", ""))]));
  // Within 500: the zero bytes of a signature are cheaper than others.
  const wrong = Object.entries(gas).filter(
    ([name, used]) => !(Math.abs((shown.get(name) ?? 0) - Number(used)) < 500),
  );
  expect(wrong).toEqual([]);
});

test("every branch of Vault.sol was taken both ways by the tests above", () => {
  expect(branches.missing()).toEqual([]);
  expect(branches.count).toBe(59);
});

/** Blocks of one second each would pass time; these have as little as the node allows. */
async function mineWithoutTime(blocks: number, from: bigint): Promise<void> {
  for (let i = 1n; i <= BigInt(blocks); i++) {
    await chain.at(from + i);
    await node.mine(1);
  }
}

function join(...parts: readonly Hex[]): Hex {
  return `0x${parts.map((part) => part.slice(2)).join("")}`;
}

function ascending(keys: readonly PrivateKeyAccount[]): readonly PrivateKeyAccount[] {
  return [...keys].sort((a, b) => (a.address.toLowerCase() < b.address.toLowerCase() ? -1 : 1));
}

function bounds(data: { readonly sequence: bigint; readonly expiry: bigint }) {
  return { sequence: data.sequence, expiry: data.expiry };
}

/** Takes every token out of the vault, as no call of it could: the node sets the balance. */
async function drain(owner: Address): Promise<void> {
  const { keccak256, encodeAbiParameters, parseAbiParameters } = await import("viem");
  const slot = keccak256(
    encodeAbiParameters(parseAbiParameters("address owner, uint256 slot"), [owner, 1n]),
  );
  await node.rpc("hardhat_setStorageAt", [chain.token, slot, `0x${"0".repeat(64)}`]);
}
