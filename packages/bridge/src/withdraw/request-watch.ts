/**
 * Compares what a vault is about to pay with what the log asks for. A thief with a quorum of keys may
 * have the venue's interface, too: so a request counts as the log's only if this attestor has signed exactly
 * this payment, or if a proof of the venue shows it. Runs apart from the signing, which may be slow or fail.
 */

import type { OpenWithdrawal } from "@perpgate/protocol";
import { TOKENS, unitsOfMicros, withTimeLimit } from "@perpgate/protocol/core";
import type { Address } from "viem";
import type { BridgeObserver } from "../bridge-event.js";
import { EndpointPool, enough } from "../chain/endpoint-pool.js";
import type { ChainConfig } from "../config/chain-config.js";
import { vaultDigest } from "../vault/typed-data.js";
import { provenLeaf } from "./proven.js";
import {
  ENTRY_STATUS,
  type RequestsView,
  readRequests,
  readVault,
  type VaultEntry,
  type VaultView,
} from "./vault-view.js";
import type { SigningConfig } from "./withdrawal-attestor.js";
import type { WithdrawalPort } from "./withdrawal-port.js";

interface RequestWatchParts {
  readonly attestor: { readonly index: number };
  readonly chain: ChainConfig;
  readonly port: Pick<WithdrawalPort, "openWithdrawals">;
  readonly signing: Pick<SigningConfig, "record" | "proofKeys">;
  readonly clock: () => number;
  readonly uniform: () => number;
  readonly observe: BridgeObserver;
  readonly stop?: AbortSignal;
}

/** For a venue that is down, and for cosignatures that are missing; the dispute period is longer. */
const UNPROVEN_MS = 60_000;
/** For all pages of the venue together. */
const VENUE_MS = 20_000;

/** What an endpoint's view of a request says. */
type Judgement = "unread" | "over" | "ours" | "unproven" | "strange";

/** Rows by id; null: the venue did not answer. */
type OpenRows = ReadonlyMap<bigint, OpenWithdrawal> | null;

export class RequestWatch {
  private readonly pool: EndpointPool;
  /** The block up to which the vault's requests were compared with the log. */
  private watched: number | undefined;
  /** Requests that need no further look, each with its block, which a reorganisation may replace. */
  private judged: ReadonlySet<string> = new Set();
  /** Locks and proposals that were reported. */
  private reported: ReadonlySet<string> = new Set();
  /** When a request was first seen that nothing proves. */
  private readonly unprovenSince = new Map<bigint, number>();

  constructor(private readonly parts: RequestWatchParts) {
    this.pool = new EndpointPool(parts.chain, parts);
  }

  async poll(): Promise<void> {
    const { chain, attestor, observe } = this.parts;
    // No other chain pays.
    if (chain.finality === "finalized") await this.compare();
    const polled = { chain: chain.chain, attestor: attestor.index } as const;
    observe({ kind: "WithdrawalsPolled", of: "requests", ...polled });
  }

  private async compare(): Promise<void> {
    const { chain } = this.parts;
    const after = this.watched;
    const seen = enough(
      await this.pool.ask((source, name) => readRequests(source, name, chain, after)),
      chain.minAgreeing,
    );
    this.reportActions(seen);
    const keysOf = requestKeys(seen);
    const isNew = (key: string): boolean => !this.judged.has(key);
    const ids = [...keysOf].filter(([, keys]) => keys.some(isNew)).map(([id]) => id);
    const judged = ids.length === 0 ? new Set<bigint>() : await this.judge(ids);
    this.judged = new Set(
      [...keysOf].flatMap(([id, keys]) =>
        judged.has(id) ? keys : keys.filter((key) => !isNew(key)),
      ),
    );
    for (const id of this.unprovenSince.keys()) {
      if (judged.has(id) || !keysOf.has(id)) this.unprovenSince.delete(id);
    }
    this.watched = Math.min(...seen.map(({ head }) => head.number));
  }

  /** Each once, when enough endpoints show it. */
  private reportActions(seen: readonly RequestsView[]): void {
    const { chain, observe } = this.parts;
    const counts = new Map<string, number>();
    for (const { actions } of seen) {
      const keys = new Set(actions.map(({ action, txHash }) => `${action} ${txHash}`));
      for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    for (const { action, txHash } of seen.flatMap(({ actions }) => actions)) {
      const key = `${action} ${txHash}`;
      if (this.reported.has(key) || (counts.get(key) ?? 0) < chain.minAgreeing) continue;
      this.reported = new Set([...this.reported, key]);
      observe({ kind: "VaultChanges", chain: chain.chain, action, txHash: `0x${txHash}` });
    }
    this.reported = new Set([...this.reported].filter((key) => counts.has(key)));
  }

  /** Returns those that need no further look. */
  private async judge(ids: readonly bigint[]): Promise<ReadonlySet<bigint>> {
    const { chain } = this.parts;
    const views = enough(
      await this.pool.ask((source, name) => readVault(source, name, chain, ids)),
      chain.minAgreeing,
    );
    const unsigned = ids.filter((id) => views.some((view) => !this.isSigned(id, view)));
    // What the log has and was not paid is open; after the vault was read, so that nothing is missed.
    const rows = unsigned.length === 0 ? null : await this.openRows(unsigned);
    const judged = new Set<bigint>();
    for (const id of ids) if (await this.isJudged(id, views, rows)) judged.add(id);
    return judged;
  }

  /** One endpoint alone neither raises an alarm nor prevents it. */
  private async isJudged(
    id: bigint,
    views: readonly VaultView[],
    rows: OpenRows,
  ): Promise<boolean> {
    const { minAgreeing } = this.parts.chain;
    const counts = { unread: 0, over: 0, ours: 0, unproven: 0, strange: 0 };
    for (const view of views) counts[await this.judgement(id, view, rows)]++;
    if (counts.strange >= minAgreeing) {
      return this.alarm(id, "which no open withdrawal of the log is");
    }
    if (counts.strange + counts.unproven >= minAgreeing && this.isUnprovenLong(id)) {
      return this.alarm(id, "and the venue proves no such withdrawal");
    }
    return counts.over >= minAgreeing || counts.ours >= minAgreeing;
  }

  private async judgement(id: bigint, view: VaultView, rows: OpenRows): Promise<Judgement> {
    const { chain, clock } = this.parts;
    const { head, entries } = view;
    const entry = entries.get(id);
    // Not by old blocks: the log may have ended it since.
    const isOld = clock() - head.timeMs > chain.maxHeadAgeMs;
    if (entry === undefined || entry.status === ENTRY_STATUS.UNKNOWN || isOld) return "unread";
    const isLate = head.timeMs > Number(entry.deadline) * 1_000;
    if (entry.status !== ENTRY_STATUS.PENDING || isLate) return "over";
    if (this.isSigned(id, view)) return "ours";
    if (rows === null) return "unproven";
    const row = rows.get(id);
    if (row === undefined) return "strange";
    const isProven = row.proof === null ? null : await this.proves(row.proof, id, entry);
    if (isProven === null) return "unproven";
    return isProven ? "ours" : "strange";
  }

  /** Whether this attestor has signed what the vault is about to pay. */
  private isSigned(id: bigint, { venue, entries }: VaultView): boolean {
    const { chain, signing } = this.parts;
    const entry = entries.get(id);
    if (entry === undefined || id > BigInt(Number.MAX_SAFE_INTEGER)) return false;
    const { chainId, vault } = chain;
    const contract = entry.token.slice(2);
    const signed = signing.record.digestOf({
      id: Number(id),
      scope: `${chainId} ${vault} ${contract}`,
    });
    if (signed === undefined) return false;
    const domain = { venueId: venue, chainId, vault: `0x${vault}` } as const;
    const { amount, deadline } = entry;
    const account: Address = `0x${entry.account.slice(2)}`;
    const payment = { token: `0x${contract}`, account, amount, id, deadline } as const;
    return vaultDigest(domain, "Withdrawal", payment) === signed;
  }

  /** Whether the proof is of this payment; null if it proves nothing. */
  private async proves(proof: string, id: bigint, entry: VaultEntry): Promise<boolean | null> {
    const { chain, signing } = this.parts;
    const leaf = await provenLeaf(proof, signing.proofKeys);
    if (typeof leaf === "string") return null;
    const name = TOKENS.find((each) => `0x${chain.tokens[each]?.contract}` === entry.token);
    const token = name === undefined ? undefined : chain.tokens[name];
    return (
      token !== undefined &&
      BigInt(leaf.withdrawalId) === id &&
      leaf.token === name &&
      leaf.chainId === chain.chainId &&
      `0x${leaf.address}` === entry.account &&
      leaf.deadlineMs === Number(entry.deadline) * 1_000 &&
      unitsOfMicros(leaf.amountMicros, token.decimals) === entry.amount
    );
  }

  /** Those of the ids that the venue says are open. Neither its silence nor an endless list stops the watch. */
  private async openRows(ids: readonly bigint[]): Promise<OpenRows> {
    const { chain, port, stop } = this.parts;
    const wanted = new Set(ids);
    const rows = new Map<bigint, OpenWithdrawal>();
    const limit = { timeoutMs: VENUE_MS, signal: stop };
    const reading = withTimeLimit(limit, async (signal) => {
      for (let after: number | null = 0; after !== null && rows.size < wanted.size; ) {
        const page = await port.openWithdrawals(chain.chain, after);
        signal.throwIfAborted();
        for (const row of page.rows) {
          const id = BigInt(row.withdrawalId);
          if (wanted.has(id)) rows.set(id, row);
        }
        after = page.next;
      }
    });
    return reading.then(
      () => rows,
      () => null,
    );
  }

  private isUnprovenLong(id: bigint): boolean {
    const nowMs = this.parts.clock();
    const sinceMs = this.unprovenSince.get(id) ?? nowMs;
    this.unprovenSince.set(id, sinceMs);
    return nowMs - sinceMs >= UNPROVEN_MS;
  }

  private alarm(id: bigint, what: string): true {
    const { chain, observe } = this.parts;
    const reason = `the vault has request ${id}, ${what}`;
    const failed = { chain: chain.chain, withdrawalId: Number(id), isAlarm: true, reason };
    observe({ kind: "WithdrawalFailed", ...failed });
    return true;
  }
}

function requestKeys(seen: readonly RequestsView[]): ReadonlyMap<bigint, readonly string[]> {
  const keys = new Map<bigint, string[]>();
  for (const { requests } of seen) {
    for (const { id, blockHash } of requests) {
      keys.set(id, [...(keys.get(id) ?? []), `${id} ${blockHash}`]);
    }
  }
  return keys;
}
