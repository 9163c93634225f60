/** Random calls of the vault against a model that is written from the rules, with lists instead of rings. */

import { Random } from "@perpgate/protocol/random";
import { type Hex, parseSignature, serializeSignature } from "viem";
import type { PrivateKeyAccount } from "viem/accounts";
import { afterAll, expect, test } from "vitest";
import { EvmNode } from "../testing/evm-node.js";
import {
  ATTESTORS,
  addressesOf,
  DISPUTE_BLOCKS,
  DISPUTE_SECONDS,
  HOUR_FLOOR,
  keysOf,
  VaultChain,
} from "../testing/vault-chain.js";
import { signVaultData, type VaultData, type VaultWithdrawal } from "./typed-data.js";

const SEED = Number(process.env.PERPGATE_VAULT_SEED ?? 40);
const SIGNATURE_ROUNDS = 150;
const STEPS = 500;
const N = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

const node = await EvmNode.start(31_337, afterAll);
const chain = new VaultChain(node, await node.token("USDC", 6));
await chain.deploy();

test(`quorum check, seed ${SEED}: accepted exactly where the model accepts`, async () => {
  const random = new Random(SEED);
  const strangers = keysOf("stranger", 2);
  const members = keysOf("member", 5);
  await chain.deploy({ attestors: addressesOf(members), attestorQuorum: 3n });
  const counts = { ok: 0, refused: 0 };
  for (let id = 1n; id <= SIGNATURE_ROUNDS; id++) {
    const data = await chain.withdrawal({ id, amount: 0n });
    const chosen = pickKeys(random, members, strangers);
    const parts: {
      readonly key: PrivateKeyAccount;
      readonly bytes: Hex;
      readonly fault: string;
    }[] = [];
    for (const key of chosen) parts.push({ key, ...(await signedSomehow(random, data, key)) });
    const joined: Hex = `0x${parts.map(({ bytes }) => bytes.slice(2)).join("")}`;
    const isValid =
      parts.length === 3 &&
      parts.every(({ fault }) => fault === "none") &&
      parts.every(({ key }) => members.includes(key)) &&
      parts.every(
        ({ key }, i) => i === 0 || BigInt(parts[i - 1]!.key.address) < BigInt(key.address),
      );
    const { result } = await chain.request(data, joined);
    const faults = parts.map(({ fault }) => fault).join();
    expect([id, faults, result === "ok"]).toEqual([id, faults, isValid]);
    counts[isValid ? "ok" : "refused"]++;
  }
  // The test has seen enough of both.
  expect(Math.min(counts.ok, counts.refused)).toBeGreaterThan(SIGNATURE_ROUNDS / 5);
});

function pickKeys(
  random: Random,
  members: readonly PrivateKeyAccount[],
  strangers: readonly PrivateKeyAccount[],
): readonly PrivateKeyAccount[] {
  const shuffled = [...members].sort(() => random.next() - 0.5).slice(0, 3);
  const ordered = shuffled.sort((a, b) => (BigInt(a.address) < BigInt(b.address) ? -1 : 1));
  const way = random.next();
  if (way < 0.6) return ordered;
  if (way < 0.7) return ordered.slice(0, 2);
  if (way < 0.8) return [ordered[0]!, ordered[0]!, ordered[1]!];
  if (way < 0.9) return [...ordered].reverse();
  return [...ordered.slice(0, 2), strangers[random.next() < 0.5 ? 0 : 1]!];
}

async function signedSomehow(
  random: Random,
  data: VaultWithdrawal,
  key: PrivateKeyAccount,
): Promise<{ readonly bytes: Hex; readonly fault: string }> {
  const { domain } = chain;
  const bytes = await signVaultData(domain, "Withdrawal", data, key);
  const { r, s, yParity } = parseSignature(bytes);
  const way = random.next();
  if (way < 0.85) return { bytes, fault: "none" };
  if (way < 0.88) {
    const high: Hex = `0x${(N - BigInt(s)).toString(16).padStart(64, "0")}`;
    return { bytes: serializeSignature({ r, s: high, yParity: 1 - yParity }), fault: "high s" };
  }
  if (way < 0.91)
    return { bytes: `${bytes.slice(0, -2)}${way < 0.9 ? "01" : "1d"}` as Hex, fault: "v" };
  if (way < 0.94)
    return { bytes: serializeSignature({ r, s, yParity: 1 - yParity }), fault: "parity" };
  const other = way < 0.97 ? { ...domain, chainId: 1 } : domain;
  const changed = way < 0.97 ? data : { ...data, amount: data.amount + 1n };
  return { bytes: await signVaultData(other, "Withdrawal", changed, key), fault: "other data" };
}

interface ModelRequest extends VaultWithdrawal {
  readonly time: bigint;
  readonly block: bigint;
  status: "pending" | "paid" | "invalid";
}

type Pending =
  | { readonly action: "Unlock"; readonly data: VaultData["Unlock"] }
  | { readonly action: "SetAttestors"; readonly data: VaultData["SetAttestors"] }
  | { readonly action: "SetCaps"; readonly data: VaultData["SetCaps"] };

/** The rules as lists: nothing is shared with the contract but the numbers of section 7. */
class Model {
  readonly requests = new Map<bigint, ModelRequest>();
  readonly invalid = new Set<bigint>();
  holdings = 0n;
  paid = 0n;
  isLocked = false;
  unlocked = { time: 0n, block: 0n };
  floors = { hour: HOUR_FLOOR, day: 2n * HOUR_FLOOR };
  attestors: readonly PrivateKeyAccount[] = ATTESTORS;
  proposal: (Pending & { readonly time: bigint; readonly block: bigint }) | undefined;

  sumSince(isCounted: (time: bigint) => boolean): bigint {
    let sum = 0n;
    for (const { time, amount } of this.requests.values()) if (isCounted(time)) sum += amount;
    return sum;
  }

  caps(): { readonly hour: bigint; readonly day: bigint } {
    const { hour, day } = this.floors;
    return {
      hour: this.holdings / 100n > hour ? this.holdings / 100n : hour,
      day: this.holdings / 10n > day ? this.holdings / 10n : day,
    };
  }

  request(data: VaultWithdrawal, keys: readonly PrivateKeyAccount[], time: bigint): string {
    if (this.isLocked) return "VaultLocked";
    if (this.requests.has(data.id) || this.invalid.has(data.id)) return "IdUsed";
    if (time + BigInt(DISPUTE_SECONDS) > data.deadline) return "DeadlinePassed";
    if (!keys.every((key) => this.attestors.includes(key))) return "SignerUnknown";
    const caps = this.caps();
    const inHour = this.sumSince((then) => then / 600n + 6n >= time / 600n);
    const inDay = this.sumSince((then) => then / 7_200n + 12n >= time / 7_200n);
    if (inHour + data.amount > caps.hour) return "HourCap";
    if (inDay + data.amount > caps.day) return "DayCap";
    return "ok";
  }

  finalize(id: bigint, time: bigint, block: bigint): string {
    if (this.isLocked) return "VaultLocked";
    const request = this.requests.get(id);
    if (request?.status !== "pending") return "NotPending";
    if (time > request.deadline) return "DeadlinePassed";
    for (const start of [request, this.unlocked]) {
      if (!isOver(start, time, block)) return "DisputePeriod";
    }
    return request.amount > this.holdings ? "TransferFailed" : "ok";
  }
}

function isOver(start: { time: bigint; block: bigint }, time: bigint, block: bigint): boolean {
  return (
    time >= start.time + BigInt(DISPUTE_SECONDS) && block >= start.block + BigInt(DISPUTE_BLOCKS)
  );
}

test(`random sequences, seed ${SEED}: every outcome is the model's, and the invariants hold`, async () => {
  const random = new Random(SEED + 1);
  const below = (bound: number): number => random.below(bound);
  const floors = { hourFloor: HOUR_FLOOR, dayFloor: 2n * HOUR_FLOOR };
  await chain.deploy({ tokens: [{ token: chain.token, ...floors }] });
  const model = new Model();
  const account = node.account(4);
  const spare = keysOf("spare", 3);
  const seen = new Map<string, number>();
  const earlier = await chain.balance(account);
  let nextId = 1n;
  let time = (await chain.now()) + 1_000n;

  const deposit = async (amount: bigint) => {
    await node.mint(chain.token, chain.vault, amount);
    model.holdings += amount;
  };
  await deposit(20_000_000_000n);

  for (let step = 0; step < STEPS; step++) {
    // Seconds, minutes or hours: windows and periods begin and end between steps.
    const pause = [1, 30, 250, 700, 4_000, 30_000][below(below(10) === 0 ? 6 : 4)]!;
    time += BigInt(1 + below(pause));
    if (below(3) === 0) {
      await chain.at(time);
      await node.mine(1 + below(DISPUTE_BLOCKS));
      time = await chain.now();
      time += 1n;
    }
    const kind = below(100);
    const act = async (): Promise<readonly [name: string, expected: string, actual: string]> => {
      if (kind < 40) {
        const id = below(8) === 0 && nextId > 1n ? 1n + BigInt(below(Number(nextId))) : nextId;
        const unit = model.caps().hour;
        const amount =
          below(5) === 0 ? unit + BigInt(below(3) - 1) : (unit * BigInt(below(60))) / 100n;
        const deadline = time + BigInt(below(5_000));
        const data = { token: chain.token, account, amount, id, deadline };
        const keys = (below(5) === 0 ? spare : model.attestors).slice(0, 2);
        const signatures = await chain.sign("Withdrawal", data, keys);
        await chain.at(time);
        const { result } = await chain.request(data, signatures);
        const expected = model.request(data, keys, time);
        if (result === "ok") {
          checkWindows(model, data.amount, time);
          const block = BigInt(await node.height());
          model.requests.set(id, { ...data, time, block, status: "pending" });
          if (id === nextId) nextId++;
        }
        return ["request", expected, result];
      }
      if (kind < 75) {
        const isExpiredWanted = below(10) === 0;
        const open = [...model.requests.values()].filter(
          ({ status, deadline }) => status === "pending" && deadline < time === isExpiredWanted,
        );
        const id = below(6) === 0 ? BigInt(below(Number(nextId) + 2)) : (open[0]?.id ?? 0n);
        await chain.at(time);
        const { result } = await chain.finalize(id);
        const expected = model.finalize(id, time, BigInt(await node.height()));
        const request = model.requests.get(id);
        if (result === "ok" && request !== undefined) {
          request.status = "paid";
          model.paid += request.amount;
          model.holdings -= request.amount;
        }
        return ["finalize", expected, result];
      }
      if (kind < 80) {
        await deposit(BigInt(below(1_000_000_000)));
        return ["deposit", "ok", "ok"];
      }
      if (kind < 83) {
        await chain.at(time);
        const { result } = await chain.lock();
        const expected = model.isLocked ? "VaultLocked" : "ok";
        if (result === "ok") {
          model.isLocked = true;
          model.proposal = undefined;
        }
        return ["lock", expected, result];
      }
      if (kind < 86) {
        const ids = [BigInt(1 + below(Number(nextId) + 1))];
        const bounds = { sequence: await chain.sequence(), expiry: time + 3_000n };
        await chain.at(time);
        const { result } = await chain.propose("Invalidate", { ids, ...bounds });
        const isUsed = ids.some(
          (id) =>
            model.invalid.has(id) ||
            !["pending", undefined].includes(model.requests.get(id)?.status),
        );
        if (result === "ok") {
          for (const id of ids) {
            model.invalid.add(id);
            const request = model.requests.get(id);
            if (request !== undefined) request.status = "invalid";
          }
        }
        return [
          "invalidate",
          !model.isLocked ? "VaultNotLocked" : isUsed ? "IdUsed" : "ok",
          result,
        ];
      }
      if (kind < 92 && model.proposal === undefined) {
        const bounds = { sequence: await chain.sequence(), expiry: time + 3_000n };
        const choice = model.isLocked ? 0 : 1 + below(2);
        const rotated = model.attestors === spare ? ATTESTORS : spare;
        const hourFloor = (HOUR_FLOOR * BigInt(50 + below(100))) / 100n;
        const pending: Pending =
          choice === 0
            ? { action: "Unlock", data: bounds }
            : choice === 1
              ? {
                  action: "SetAttestors",
                  data: { attestors: addressesOf(rotated), quorum: 2n, ...bounds },
                }
              : {
                  action: "SetCaps",
                  data: { token: chain.token, hourFloor, dayFloor: hourFloor * 2n, ...bounds },
                };
        await chain.at(time);
        const { result } = await chain.propose(pending.action, pending.data);
        model.proposal = { ...pending, time, block: BigInt(await node.height()) };
        return [`propose ${pending.action}`, "ok", result];
      }
      const { proposal } = model;
      if (proposal === undefined) return ["nothing", "ok", "ok"];
      await chain.at(time);
      const { result } = await chain.finalizeAdmin(proposal.action, proposal.data);
      const block = BigInt(await node.height());
      const isLate = time > proposal.data.expiry;
      const expected = isLate
        ? "WrongExpiry"
        : isOver(proposal, time, block)
          ? "ok"
          : "DisputePeriod";
      if (isLate) model.proposal = undefined;
      if (result === "ok") {
        model.proposal = undefined;
        if (proposal.action === "Unlock") {
          model.isLocked = false;
          model.unlocked = { time, block };
        } else if (proposal.action === "SetAttestors") {
          model.attestors = model.attestors === spare ? ATTESTORS : spare;
        } else {
          model.floors = { hour: proposal.data.hourFloor, day: proposal.data.dayFloor };
        }
      }
      return [`finalize ${proposal.action}`, expected, result];
    };
    const [name, expected, actual] = await act();
    expect([step, name, actual]).toEqual([step, name, expected]);
    seen.set(`${name} ${actual}`, (seen.get(`${name} ${actual}`) ?? 0) + 1);
    time = await chain.now();
    // Money: what the vault lost is what was paid, which was requested before, each id once.
    const requested = model.sumSince(() => true);
    expect(model.paid).toBeLessThanOrEqual(requested);
    expect(await chain.balance(chain.vault)).toBe(model.holdings);
    expect((await chain.balance(account)) - earlier).toBe(model.paid);
  }
  // What the sequences must have reached, or the test says little.
  for (const outcome of [
    "request ok",
    "request HourCap",
    "request DayCap",
    "request IdUsed",
    "request SignerUnknown",
    "request VaultLocked",
    "request DeadlinePassed",
    "finalize ok",
    "finalize DisputePeriod",
    "finalize DeadlinePassed",
    "finalize VaultLocked",
    "finalize NotPending",
    "lock ok",
    "invalidate ok",
    "finalize Unlock ok",
    "finalize SetAttestors ok",
    "finalize SetCaps ok",
  ]) {
    expect([outcome, seen.has(outcome)]).toEqual([outcome, true]);
  }
});

/** No sliding hour and no sliding day has more than its cap. */
function checkWindows(model: Model, amount: bigint, time: bigint): void {
  const caps = model.caps();
  const inHour = model.sumSince((then) => then > time - 3_600n) + amount;
  const inDay = model.sumSince((then) => then > time - 86_400n) + amount;
  expect(inHour <= caps.hour && inDay <= caps.day).toBe(true);
}
