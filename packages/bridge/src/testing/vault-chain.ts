/** A vault on a Hardhat node with the keys of all roles; each call is one transaction in a block of its own. */

import {
  type Address,
  decodeErrorResult,
  decodeEventLog,
  decodeFunctionResult,
  encodeDeployData,
  encodeFunctionData,
  getAddress,
  type Hex,
  keccak256,
  parseAbi,
  toHex,
} from "viem";
import { type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import {
  signVaultData,
  type VaultAction,
  type VaultData,
  type VaultDomain,
  type VaultWithdrawal,
} from "../vault/typed-data.js";
import { VAULT_ABI, VAULT_BYTECODE } from "../vault/vault-artifact.js";
import type { EvmNode } from "./evm-node.js";

export const VENUE_ID = keccak256(toHex("venue of the tests"));
export const DISPUTE_SECONDS = 200;
export const DISPUTE_BLOCKS = 15;
/** The floors of caps: dollars with six decimals. */
export const HOUR_FLOOR = 1_000_000_000n;
export const DAY_FLOOR = 5_000_000_000n;

/** Accounts by name, ascending by address as the vault takes them. */
export function keysOf(name: string, count: number): readonly PrivateKeyAccount[] {
  return Array.from({ length: count }, (_, i) =>
    privateKeyToAccount(keccak256(toHex(`${name} ${i}`))),
  ).sort((a, b) => (a.address.toLowerCase() < b.address.toLowerCase() ? -1 : 1));
}

export const ATTESTORS = keysOf("attestor", 3);
export const COLD_KEYS = keysOf("cold key", 3);
export const addressesOf = (keys: readonly PrivateKeyAccount[]): readonly Address[] =>
  keys.map(({ address }) => address);

/** A transaction's outcome: `ok`, or the name of the error. */
export interface Outcome {
  readonly result: string;
  readonly hash: Hex;
  readonly gas: bigint;
  readonly events: readonly { readonly name: string; readonly args: unknown }[];
}

const TOKEN_ABI = parseAbi([
  "function behave(uint8 mode, bytes call)",
  "function answer() view returns (bytes)",
]);
export const MODES = [
  "Honest",
  "ReturnFalse",
  "ReturnTwo",
  "Revert",
  "MoveNothing",
  "ChargeSender",
  "CreditSender",
  "Reenter",
] as const;

/** Functions that propose or do an administration, and those that finalize one. */
const PROPOSE = {
  Unlock: "proposeUnlock",
  SetAttestors: "proposeAttestors",
  SetGuardians: "proposeGuardians",
  SetCaps: "proposeCaps",
  Invalidate: "invalidate",
} as const;
const FINALIZE = {
  Unlock: "finalizeUnlock",
  SetAttestors: "finalizeAttestors",
  SetGuardians: "finalizeGuardians",
  SetCaps: "finalizeCaps",
} as const;
export type AdminAction = keyof typeof PROPOSE;

type SetupArgument = Parameters<typeof setupData>[0];

export function setupData(setup: {
  readonly venue: Hex;
  readonly disputeSeconds: number;
  readonly disputeBlocks: number;
  readonly attestors: readonly Address[];
  readonly attestorQuorum: bigint;
  readonly guardians: readonly Address[];
  readonly coldKeys: readonly Address[];
  readonly coldQuorum: bigint;
  readonly tokens: readonly {
    readonly token: Address;
    readonly hourFloor: bigint;
    readonly dayFloor: bigint;
  }[];
}): Hex {
  return encodeDeployData({ abi: VAULT_ABI, bytecode: VAULT_BYTECODE, args: [setup] });
}

export class VaultChain {
  /** Every transaction to the vault, for the coverage of its code. */
  readonly hashes: Hex[] = [];
  vault: Address = "0x0000000000000000000000000000000000000000";
  chainId = 0;

  constructor(
    readonly node: EvmNode,
    readonly token: Address,
    readonly venueId: Hex = VENUE_ID,
  ) {}

  /** Ascending; unlocked accounts of the node. */
  get guardians(): readonly Address[] {
    return [5, 6].map((i) => this.node.account(i)).sort(byAddress);
  }

  get domain(): VaultDomain {
    return { venueId: this.venueId, chainId: this.chainId, vault: this.vault };
  }

  setup(changes: Partial<SetupArgument> = {}): SetupArgument {
    return {
      venue: this.venueId,
      disputeSeconds: DISPUTE_SECONDS,
      disputeBlocks: DISPUTE_BLOCKS,
      attestors: addressesOf(ATTESTORS),
      attestorQuorum: 2n,
      guardians: this.guardians,
      coldKeys: addressesOf(COLD_KEYS),
      coldQuorum: 2n,
      tokens: [{ token: this.token, hourFloor: HOUR_FLOOR, dayFloor: DAY_FLOOR }],
      ...changes,
    };
  }

  /** Deploys a vault; further calls go to it. */
  async deploy(changes: Partial<SetupArgument> = {}): Promise<Outcome> {
    const outcome = await this.transact(undefined, setupData(this.setup(changes)));
    if (outcome.result === "ok") {
      const receipt = await this.node.rpc("eth_getTransactionReceipt", [outcome.hash]);
      this.vault = getAddress(String(Reflect.get(Object(receipt), "contractAddress")));
      this.chainId = Number(await this.node.rpc("eth_chainId", []));
    }
    return outcome;
  }

  async sign<A extends VaultAction>(
    action: A,
    data: VaultData[A],
    keys: readonly PrivateKeyAccount[],
    domain: VaultDomain = this.domain,
  ): Promise<Hex> {
    const signatures = keys.map((key) => signVaultData(domain, action, data, key));
    return `0x${(await Promise.all(signatures)).map((text) => text.slice(2)).join("")}`;
  }

  /** A withdrawal of one dollar to account 1 that lives for an hour. */
  async withdrawal(changes: Partial<VaultWithdrawal> = {}): Promise<VaultWithdrawal> {
    const deadline = (await this.now()) + 3_600n;
    const account = this.node.account(1);
    return { token: this.token, account, amount: 1_000_000n, id: 1n, deadline, ...changes };
  }

  /** With the signatures of the first two attestors. */
  async request(data: VaultWithdrawal, signatures?: Hex): Promise<Outcome> {
    const signed = signatures ?? (await this.sign("Withdrawal", data, ATTESTORS.slice(0, 2)));
    return this.call("request", [data, signed]);
  }

  finalize(id: bigint): Promise<Outcome> {
    return this.call("finalize", [id]);
  }

  lock(guardian = this.guardians[0]!): Promise<Outcome> {
    return this.call("lock", [], guardian);
  }

  /** The data with the sequence in force and an expiry in an hour. */
  async admin<A extends AdminAction>(
    _action: A,
    data: Omit<VaultData[A], "sequence" | "expiry">,
  ): Promise<VaultData[A]> {
    const bounds = { sequence: await this.sequence(), expiry: (await this.now()) + 3_600n };
    return { ...data, ...bounds } as unknown as VaultData[A];
  }

  /** With the signatures of the first two cold keys. */
  async propose<A extends AdminAction>(
    action: A,
    data: VaultData[A],
    signatures?: Hex,
  ): Promise<Outcome> {
    const signed = signatures ?? (await this.sign(action, data, COLD_KEYS.slice(0, 2)));
    return this.call(PROPOSE[action], [data, signed]);
  }

  finalizeAdmin<A extends keyof typeof FINALIZE>(action: A, data: VaultData[A]): Promise<Outcome> {
    return this.call(FINALIZE[action], [data]);
  }

  /** Proposes, waits, finalizes. */
  async administer<A extends keyof typeof FINALIZE>(
    action: A,
    data: Omit<VaultData[A], "sequence" | "expiry">,
  ): Promise<Outcome> {
    const complete = await this.admin(action, data);
    const { result } = await this.propose(action, complete);
    if (result !== "ok") throw new Error(result);
    await this.passDispute();
    return this.finalizeAdmin(action, complete);
  }

  async passDispute(): Promise<void> {
    await this.node.rpc("evm_increaseTime", [DISPUTE_SECONDS]);
    await this.node.mine(DISPUTE_BLOCKS);
  }

  /** The time of the next block. */
  async at(time: bigint): Promise<void> {
    await this.node.rpc("evm_setNextBlockTimestamp", [Number(time)]);
  }

  async now(): Promise<bigint> {
    return BigInt((await this.node.timeMs()) / 1_000);
  }

  async sequence(): Promise<bigint> {
    return BigInt(String(await this.read("sequence")));
  }

  async status(id: bigint): Promise<string> {
    const { status } = Object(await this.read("withdrawal", [id]));
    return ["unknown", "pending", "paid", "invalid"][Number(status)] ?? "";
  }

  balance(owner: Address, token = this.token): Promise<bigint> {
    return this.node.balance(token, owner);
  }

  /** What a HostileToken does from now on. */
  async behave(token: Address, mode: (typeof MODES)[number], call: Hex = "0x"): Promise<void> {
    const args = [MODES.indexOf(mode), call] as const;
    const data = encodeFunctionData({ abi: TOKEN_ABI, functionName: "behave", args });
    await this.node.send(this.node.account(0), token, data);
  }

  /** The error of the call that a HostileToken made. */
  async answerTo(token: Address): Promise<string> {
    const data = encodeFunctionData({ abi: TOKEN_ABI, functionName: "answer" });
    const result = (await this.node.rpc("eth_call", [{ to: token, data }, "latest"])) as Hex;
    const answer = decodeFunctionResult({ abi: TOKEN_ABI, functionName: "answer", data: result });
    return decodeErrorResult({ abi: VAULT_ABI, data: answer }).errorName;
  }

  /** The functions that can write. */
  writers(): readonly string[] {
    return VAULT_ABI.flatMap((entry) =>
      entry.type === "function" && entry.stateMutability === "nonpayable" ? [entry.name] : [],
    );
  }

  callData(functionName: string, args: readonly unknown[]): Hex {
    return encodeFunctionData({
      abi: VAULT_ABI as readonly unknown[],
      functionName,
      args,
    } as never);
  }

  async read(functionName: string, args: readonly unknown[] = []): Promise<unknown> {
    const data = this.callData(functionName, args);
    const result = await this.node.rpc("eth_call", [{ to: this.vault, data }, "latest"]);
    return decodeFunctionResult({ abi: VAULT_ABI, functionName, data: result } as never);
  }

  call(
    functionName: string,
    args: readonly unknown[],
    from = this.node.account(2),
  ): Promise<Outcome> {
    return this.transact(this.vault, this.callData(functionName, args), from);
  }

  private async transact(
    to: Address | undefined,
    data: Hex,
    from = this.node.account(2),
  ): Promise<Outcome> {
    const { hash, revertData } = await this.node.trySend(from, to, data);
    this.hashes.push(hash);
    const receipt = Object(await this.node.rpc("eth_getTransactionReceipt", [hash]));
    const logs: readonly { address: string; data: Hex; topics: [Hex, ...Hex[]] }[] = receipt.logs;
    const own = logs.filter(({ address }) => to === undefined || getAddress(address) === to);
    const events = own.map((log) => {
      const { eventName, args } = decodeEventLog({ abi: VAULT_ABI, ...log });
      return { name: eventName, args };
    });
    return { result: resultOf(revertData), hash, gas: BigInt(receipt.gasUsed), events };
  }
}

function resultOf(revertData: Hex | undefined): string {
  if (revertData === undefined) return "ok";
  if (revertData === "0x") return "reverted";
  const { errorName } = decodeErrorResult({ abi: VAULT_ABI, data: revertData });
  return errorName;
}

function byAddress(a: Address, b: Address): number {
  return a.toLowerCase() < b.toLowerCase() ? -1 : 1;
}
