/**
 * Sends the signatures of attestors to a vault, and finalizes payments after their dispute period. Anyone may
 * run one; it has no say in what is paid, and nothing depends on one alone. It keeps nothing: each poll reads
 * what the chain knows of each open withdrawal, so a restart goes on where it was.
 *
 * One transaction at a time, always with the account's next nonce on the chain: one that an earlier process
 * left unmined, or that is too cheap, is replaced. Two of them for one step cost gas, never money: the vault
 * takes each id once.
 */

import type { Chain, OpenWithdrawal } from "@perpgate/protocol";
import {
  type Address,
  BaseError,
  type Block,
  ContractFunctionRevertedError,
  encodeFunctionData,
  type Hex,
  type PublicClient,
  type Transport,
  type WalletClient,
} from "viem";
import type { PrivateKeyAccount } from "viem/accounts";
import { Backoff } from "../backoff.js";
import { requestOfVotes } from "../vault/request.js";
import type { SignerGroup, VaultDomain } from "../vault/typed-data.js";
import { VAULT_ABI, VAULT_CODE } from "../vault/vault-artifact.js";
import { ENTRY_STATUS } from "../withdraw/vault-view.js";
import { allOpenWithdrawals, type WithdrawalPort } from "../withdraw/withdrawal-port.js";

export type RelayStep = "request" | "finalize";

export type RelayEvent =
  | { readonly kind: "Mined"; readonly id: number; readonly step: RelayStep; readonly hash: Hex }
  /** Refused before or after it was sent; tried again later. */
  | {
      readonly kind: "Refused";
      readonly id: number;
      readonly step: RelayStep;
      readonly reason: string;
    }
  /** Sent, and in no block yet: replaced with a higher fee at the next poll. */
  | { readonly kind: "Unmined"; readonly id: number; readonly step: RelayStep; readonly hash: Hex }
  /** The chain asks for more than `maxFeePerGas`; nothing is sent. */
  | { readonly kind: "GasTooHigh"; readonly feePerGas: bigint }
  | { readonly kind: "VaultLocked" }
  | {
      readonly kind: "Polled";
      readonly open: number;
      readonly balance: bigint;
      readonly isLocked: boolean;
    };

interface RelayerParts {
  readonly chain: Chain;
  readonly client: PublicClient<Transport>;
  readonly wallet: WalletClient<Transport>;
  readonly account: PrivateKeyAccount;
  readonly port: Pick<WithdrawalPort, "terms" | "openWithdrawals">;
  /** In wei. */
  readonly maxFeePerGas: bigint;
  /** For a transaction to be mined. */
  readonly waitMs: number;
  readonly clock: () => number;
  readonly uniform: () => number;
  readonly observe: (event: RelayEvent) => void;
}

interface VaultState {
  readonly domain: VaultDomain;
  readonly group: SignerGroup;
}

/** A call of the vault for a withdrawal. */
interface VaultStep {
  readonly id: number;
  readonly step: RelayStep;
  readonly data: Hex;
}

/** After so many transactions a poll ends: a withdrawal that has come meanwhile waits for no more. */
const SENT_PER_POLL = 4;
/** Read from the vault together. */
const READ_AT_ONCE = 32;

/** A replacement must offer a tenth more. */
const RAISE = { times: 9n, of: 8n };
/** Also where a call uses more at its second time, as after a reorganisation. */
const GAS_MARGIN = { times: 5n, of: 4n };

export class Relayer {
  private readonly backoffs = new Map<string, Backoff>();
  /** Transactions sent for each account that has open withdrawals. */
  private readonly served = new Map<string, number>();
  /** The fees of the last transaction, with its nonce. */
  private offered:
    | { readonly nonce: number; readonly maxFee: bigint; readonly tip: bigint }
    | undefined;

  constructor(private readonly parts: RelayerParts) {}

  /** Returns whether it ended with work left that need not wait. */
  async poll(): Promise<boolean> {
    const { chain, port, client, account, observe } = this.parts;
    const rows = await allOpenWithdrawals(port, chain);
    const state = await this.vaultState();
    const isOver = state === null || (await this.serveAll(rows, state));
    const balance = await client.getBalance({ address: account.address });
    observe({ kind: "Polled", open: rows.length, balance, isLocked: state === null });
    const ids = new Set(rows.map(({ withdrawalId }) => withdrawalId));
    for (const key of this.backoffs.keys()) {
      if (!ids.has(key.split(" ")[1] ?? "")) this.backoffs.delete(key);
    }
    return !isOver;
  }

  /** Returns false once enough was sent: the list is read again before the next. */
  private async serveAll(rows: readonly OpenWithdrawal[], state: VaultState): Promise<boolean> {
    const turns = this.inTurn(rows);
    let sent = 0;
    for (let at = 0; at < turns.length; at += READ_AT_ONCE) {
      const part = turns.slice(at, at + READ_AT_ONCE);
      const head = await this.parts.client.getBlock();
      const steps = await Promise.all(part.map((row) => this.nextStep(row, state, head)));
      for (const [i, step] of steps.entries()) {
        if (step === null) continue;
        const outcome = await this.step(step, state.domain.vault);
        if (outcome === "wait") return true;
        if (outcome === "idle") continue;
        const { account } = part[i]!;
        this.served.set(account, (this.served.get(account) ?? 0) + 1);
        if (++sent === SENT_PER_POLL) return false;
      }
    }
    return true;
  }

  /** Who was served least comes first. One that is new begins with the least of the others. */
  private inTurn(rows: readonly OpenWithdrawal[]): readonly OpenWithdrawal[] {
    const accounts = new Set(rows.map(({ account }) => account));
    for (const account of this.served.keys()) {
      if (!accounts.has(account)) this.served.delete(account);
    }
    const least = this.served.size === 0 ? 0 : Math.min(...this.served.values());
    for (const account of accounts) this.served.set(account, this.served.get(account) ?? least);
    const counts = new Map(this.served);
    const turns = rows.map((row) => {
      const turn = counts.get(row.account) ?? 0;
      counts.set(row.account, turn + 1);
      return { row, turn };
    });
    return turns.sort((a, b) => a.turn - b.turn).map(({ row }) => row);
  }

  /** Null while it is locked. @throws if the venue's vault is none of this release, or another venue's. */
  private async vaultState(): Promise<VaultState | null> {
    const { port, chain, client, observe } = this.parts;
    const terms = await port.terms();
    const scope = terms.chains.find((each) => each.chain === chain);
    if (scope === undefined) throw new Error(`the venue has no chain ${chain}`);
    const vault: Address = `0x${scope.vault}`;
    const at = { address: vault, abi: VAULT_ABI } as const;
    const chainId = await client.getChainId();
    if (chainId !== scope.chainId) throw new Error(`the endpoint serves chain ${chainId}`);
    if ((await client.getCode({ address: vault })) !== VAULT_CODE) {
      throw new Error(`${vault} is not a vault of this release`);
    }
    const venueId = await client.readContract({ ...at, functionName: "venue" });
    if (venueId !== `0x${terms.venueId}`) throw new Error(`${vault} is another venue's`);
    if (await client.readContract({ ...at, functionName: "isLocked" })) {
      observe({ kind: "VaultLocked" });
      return null;
    }
    const [members, quorum] = await client.readContract({ ...at, functionName: "attestorGroup" });
    const group = { members, quorum: Number(quorum) };
    return { domain: { venueId, chainId, vault }, group };
  }

  /** What the vault would take for a withdrawal now; null: nothing. */
  private async nextStep(
    row: OpenWithdrawal,
    { domain, group }: VaultState,
    head: Pick<Block, "timestamp" | "number">,
  ): Promise<VaultStep | null> {
    const { client } = this.parts;
    const id = Number(row.withdrawalId);
    const at = { address: domain.vault, abi: VAULT_ABI } as const;
    const args = [BigInt(id)] as const;
    const { status, deadline } = await client.readContract({
      ...at,
      functionName: "withdrawal",
      args,
    });
    if (status === ENTRY_STATUS.UNKNOWN) {
      const made = await requestOfVotes(row, domain, group);
      if (typeof made === "string") return null;
      const functionName = "request";
      const call = [made.withdrawal, made.signatures] as const;
      const data = encodeFunctionData({ abi: VAULT_ABI, functionName, args: call });
      return { id, step: functionName, data };
    }
    if (status !== ENTRY_STATUS.PENDING) return null;
    const [time, number] = await client.readContract({ ...at, functionName: "payableFrom", args });
    const isDue =
      head.timestamp >= time && (head.number ?? 0n) >= number && head.timestamp <= deadline;
    if (!isDue) return null;
    const data = encodeFunctionData({ abi: VAULT_ABI, functionName: "finalize", args });
    return { id, step: "finalize", data };
  }

  /**
   * Sends a call that would succeed now. `idle`: nothing was sent; `wait`: the next one must wait for a later
   * poll.
   */
  private async step(
    { id, step, data }: VaultStep,
    to: Address,
  ): Promise<"sent" | "idle" | "wait"> {
    const { client, account, wallet, observe, clock, uniform, waitMs } = this.parts;
    const key = `${step} ${id}`;
    const backoff =
      this.backoffs.get(key) ?? new Backoff({ baseMs: 5_000, maxMs: 600_000 }, uniform);
    this.backoffs.set(key, backoff);
    if (!backoff.isReady(clock())) return "idle";
    let gas: bigint;
    try {
      // Not the pending block: it may hold this very call, unmined.
      gas = await client.estimateGas({ account, to, data, blockTag: "latest" });
    } catch (error) {
      backoff.failed(clock());
      observe({ kind: "Refused", id, step, reason: reasonOf(error) });
      return "idle";
    }
    const nonce = await client.getTransactionCount({
      address: account.address,
      blockTag: "latest",
    });
    const fees = await this.fees(nonce);
    if (fees === null) return "wait";
    const hash = await wallet
      .sendTransaction({
        account,
        chain: null,
        to,
        data,
        nonce,
        gas: (gas * GAS_MARGIN.times) / GAS_MARGIN.of,
        ...fees,
      })
      .catch((error: unknown) => {
        observe({ kind: "Refused", id, step, reason: reasonOf(error) });
        return null;
      });
    if (hash === null) return "wait";
    const receipt = await client
      .waitForTransactionReceipt({ hash, timeout: waitMs })
      .catch(() => null);
    if (receipt === null) {
      observe({ kind: "Unmined", id, step, hash });
      return "wait";
    }
    if (receipt.status !== "success") {
      backoff.failed(clock());
      observe({ kind: "Refused", id, step, reason: `${hash} reverted` });
      return "sent";
    }
    this.backoffs.delete(key);
    observe({ kind: "Mined", id, step, hash });
    return "sent";
  }

  /**
   * The chain's price; where a transaction waits under this nonce, above what was offered for it, as far as the bound
   * allows. Null if the chain asks for more than the bound.
   */
  private async fees(nonce: number) {
    const { client, account, maxFeePerGas: bound, observe } = this.parts;
    const { maxFeePerGas, maxPriorityFeePerGas } = await client.estimateFeesPerGas();
    if (maxFeePerGas > bound) {
      observe({ kind: "GasTooHigh", feePerGas: maxFeePerGas });
      return null;
    }
    const { address } = account;
    // What the chain has refused, or forgotten, has no price to exceed.
    const isWaiting = (await client.getTransactionCount({ address, blockTag: "pending" })) > nonce;
    const before = isWaiting && this.offered?.nonce === nonce ? this.offered : undefined;
    const raised = (fee = 0n): bigint => (fee * RAISE.times) / RAISE.of + 1n;
    const maxFee = min(max(maxFeePerGas, raised(before?.maxFee)), bound);
    const tip = min(max(maxPriorityFeePerGas, raised(before?.tip)), maxFee);
    this.offered = { nonce, maxFee, tip };
    return { maxFeePerGas: maxFee, maxPriorityFeePerGas: tip };
  }
}

function max(one: bigint, other: bigint): bigint {
  return one > other ? one : other;
}

function min(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}

/** The vault's name of what it refused, or the endpoint's reason without its URL. */
function reasonOf(error: unknown): string {
  if (!(error instanceof BaseError)) return error instanceof Error ? error.message : String(error);
  const reverted = error.walk((cause) => cause instanceof ContractFunctionRevertedError);
  if (reverted instanceof ContractFunctionRevertedError && reverted.data !== undefined) {
    return reverted.data.errorName;
  }
  return error.shortMessage;
}
