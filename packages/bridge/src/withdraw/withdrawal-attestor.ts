/**
 * One attestor's part in the withdrawals of one chain. A poll reads the open ones and the vault through the
 * attestor's own endpoints; it signs those that are proven under a checkpoint of the pinned log key with the
 * required cosignatures, and says what it sees on the chain. With fewer than `minAgreeing` endpoints it does
 * neither.
 *
 * A signature is on the disk before it leaves (signing-record.ts). A restart loses nothing else.
 */

import type { KeyObject } from "node:crypto";
import type { OpenWithdrawal } from "@perpgate/protocol";
import {
  parseWithdrawalVote,
  toMicrosFloor,
  unitsOfMicros,
  type WithdrawalTerms,
  type WithdrawalVote,
  withoutHexPrefix,
} from "@perpgate/protocol/core";
import { checkWithdrawalProof, type ProofKeys } from "@perpgate/protocol/receipts";
import type { Address, Hex } from "viem";
import type { PrivateKeyAccount } from "viem/accounts";
import { publicKeyHex } from "../attestor-key.js";
import type { BridgeObserver } from "../bridge-event.js";
import { EndpointPool } from "../chain/endpoint-pool.js";
import type { RpcEndpoint } from "../chain/rpc-endpoint.js";
import { type ChainConfig, differenceFrom } from "../config/chain-config.js";
import { inTurn } from "../in-turn.js";
import {
  domainSeparatorOf,
  signVaultData,
  type VaultWithdrawal,
  vaultDigest,
} from "../vault/typed-data.js";
import type { VenueTerms } from "../venue-port.js";
import { verifyText } from "../vote.js";
import { HoldingsReporter } from "./holdings-reporter.js";
import { agreedSighting, OtherPayment, type Sighting, sightingIn } from "./sighting.js";
import type { SigningRecord } from "./signing-record.js";
import { ENTRY_STATUS, readRequests, readVault, type VaultView } from "./vault-view.js";
import {
  allOpenWithdrawals,
  type SignedWithdrawalVote,
  signWithdrawalVote,
  type WithdrawalPort,
} from "./withdrawal-port.js";

export interface SigningConfig {
  /** Signs for the vault. */
  readonly account: PrivateKeyAccount;
  readonly record: SigningRecord;
  /** The venue's log key and its witnesses, from elsewhere than the venue. */
  readonly proofKeys: ProofKeys;
}

interface WithdrawalAttestorParts {
  readonly attestor: { readonly index: number; readonly privateKey: KeyObject };
  readonly chain: ChainConfig;
  readonly port: WithdrawalPort;
  readonly signing: SigningConfig;
  readonly clock: () => number;
  readonly uniform: () => number;
  readonly observe: BridgeObserver;
  readonly stop?: AbortSignal;
}

/** Read from the vault, and voted on, together. */
const ROWS_AT_ONCE = 32;

/** Nothing is signed and nothing said. */
class TooFewEndpoints extends Error {
  override readonly name = "TooFewEndpoints";
}

export class WithdrawalAttestor {
  private readonly pool: EndpointPool;
  private readonly holdings: HoldingsReporter;
  private venueId = "";
  /** The block up to which the vault's requests were compared with the log. */
  private watched: number | undefined;
  /** Requests that no open withdrawal is, and that need no further look. */
  private readonly judged = new Set<bigint>();

  constructor(private readonly parts: WithdrawalAttestorParts) {
    this.pool = new EndpointPool(parts.chain, parts);
    this.holdings = new HoldingsReporter(parts, this.pool);
  }

  async poll(): Promise<void> {
    const { chain, port, attestor, observe } = this.parts;
    const terms = await port.terms();
    this.venueId = terms.venueId;
    // The poll of deposits reports a difference.
    if (this.hasSameTerms(terms)) {
      await this.attestAll();
      await this.watchRequests();
      await this.reportHoldings();
    }
    observe({ kind: "WithdrawalsPolled", chain: chain.chain, attestor: attestor.index });
  }

  /** Nothing waits for a statement: one that is not made is reported and tried again. */
  private async reportHoldings(): Promise<void> {
    const { chain, observe } = this.parts;
    const reason = await this.holdings.report(this.venueId);
    if (reason !== null) observe({ kind: "HoldingsNotStated", chain: chain.chain, reason });
  }

  private async attestAll(): Promise<void> {
    const { chain, port } = this.parts;
    // So that a flood of one account's delays nobody else's.
    const rows = inTurn(await allOpenWithdrawals(port, chain.chain), ({ account }) => account);
    for (let at = 0; at < rows.length; at += ROWS_AT_ONCE) {
      await this.attest(rows.slice(at, at + ROWS_AT_ONCE));
    }
  }

  /**
   * Looks for what the vault is about to pay and no open withdrawal asks for: whoever has a quorum of stolen keys
   * takes an id that nobody else reads.
   */
  private async watchRequests(): Promise<void> {
    const { chain, port } = this.parts;
    // No other chain pays.
    if (chain.finality !== "finalized") return;
    const after = this.watched;
    const seen = this.enough(
      await this.pool.ask((source, name) => readRequests(source, name, chain, after)),
    );
    const ids = new Set(seen.flatMap((view) => view.ids));
    for (const id of this.judged) if (!ids.has(id)) this.judged.delete(id);
    // What the log has and was not paid is open.
    const open = await allOpenWithdrawals(port, chain.chain);
    const known = new Set(open.map(({ withdrawalId }) => BigInt(withdrawalId)));
    const strange = [...ids].filter((id) => !known.has(id) && !this.judged.has(id));
    if (strange.length > 0) {
      const read = (source: RpcEndpoint, name: string) => readVault(source, name, chain, strange);
      const views = this.enough(await this.pool.ask(read));
      for (const id of strange) this.judgeStrange(id, views);
    }
    this.watched = Math.min(...seen.map(({ head }) => head.number));
  }

  /** Not while endpoints differ, nor by old blocks: the log may have ended it since. */
  private judgeStrange(id: bigint, views: readonly VaultView[]): void {
    const { chain, clock, observe } = this.parts;
    const states = views.map(({ entries, head }) => {
      const { status = ENTRY_STATUS.UNKNOWN, deadline = 0n } = entries.get(id) ?? {};
      const isOld = clock() - head.timeMs > chain.maxHeadAgeMs;
      if (status === ENTRY_STATUS.UNKNOWN || isOld) return "unknown";
      const isLate = head.timeMs > Number(deadline) * 1_000;
      return status === ENTRY_STATUS.PENDING && !isLate ? "payable" : "over";
    });
    const [state] = states;
    if (state === "unknown" || states.some((other) => other !== state)) return;
    this.judged.add(id);
    if (state === "over") return;
    const reason = `the vault has request ${id}, which no open withdrawal of the log is`;
    const failed = { chain: chain.chain, withdrawalId: Number(id), isAlarm: true, reason };
    observe({ kind: "WithdrawalFailed", ...failed });
  }

  private enough<V>(views: readonly V[]): readonly V[] {
    const { minAgreeing } = this.parts.chain;
    if (views.length >= minAgreeing) return views;
    throw new TooFewEndpoints(`${views.length} endpoints answered, and ${minAgreeing} must agree`);
  }

  private hasSameTerms(terms: VenueTerms): boolean {
    const { index, privateKey } = this.parts.attestor;
    const hasOurs = terms.members[index]?.toLowerCase() === publicKeyHex(privateKey);
    return hasOurs && differenceFrom(terms, this.parts.chain) === null;
  }

  private async attest(rows: readonly OpenWithdrawal[]): Promise<void> {
    const { chain, observe, port } = this.parts;
    const ids = rows.map(({ withdrawalId }) => BigInt(withdrawalId));
    const views = this.enough(
      await this.pool.ask((source, name) => readVault(source, name, chain, ids)),
    );
    const votes: SignedWithdrawalVote[] = [];
    for (const row of rows) {
      try {
        votes.push(...(await this.votesOn(row, views)));
      } catch (error) {
        const withdrawalId = Number(row.withdrawalId);
        const isAlarm = error instanceof OtherPayment;
        const reason = error instanceof Error ? error.message : String(error);
        observe({ kind: "WithdrawalFailed", chain: chain.chain, withdrawalId, isAlarm, reason });
      }
    }
    if (votes.length === 0) return;
    const refusals = await port.submitOnWithdrawals(votes);
    for (const [i, { vote }] of votes.entries()) {
      const { withdrawalId, verdict } = vote;
      const reason = refusals[i] ?? null;
      observe({ kind: "WithdrawalVoted", chain: chain.chain, withdrawalId, verdict, reason });
    }
  }

  private async votesOn(
    row: OpenWithdrawal,
    views: readonly VaultView[],
  ): Promise<SignedWithdrawalVote[]> {
    const { chain, attestor } = this.parts;
    const ours = publicKeyHex(attestor.privateKey);
    const own = row.votes
      .filter(({ publicKey }) => publicKey === ours)
      .flatMap(({ text }) => parseWithdrawalVote(text) ?? []);
    const terms = this.termsOf(row);
    const votes: SignedWithdrawalVote[] = [];
    if (!own.some(({ verdict }) => verdict === "signed")) {
      const vaultSignature = await this.signatureFor(row, terms, views);
      if (vaultSignature !== null) {
        const signed = { verdict: "signed", block: null, txHash: "", vaultSignature } as const;
        votes.push(this.vote(terms, signed));
      }
    }
    const seen: (Sighting | null)[] = [];
    for (const view of views) seen.push(await sightingIn(view, terms));
    const sighting = agreedSighting(seen, chain.minAgreeing);
    const last = own.find(({ verdict }) => verdict !== "signed");
    if (
      sighting !== null &&
      (last?.verdict !== sighting.verdict || last.txHash !== sighting.txHash)
    ) {
      votes.push(this.vote(terms, { ...sighting, vaultSignature: "" }));
    }
    return votes;
  }

  /** What the venue says; a signature needs the proof of it. */
  private termsOf(row: OpenWithdrawal): WithdrawalTerms {
    const { chain } = this.parts;
    const token = chain.tokens[row.token];
    const amount = unitsOfMicros(toMicrosFloor(row.amount), token?.decimals ?? 0);
    if (token === undefined || amount === undefined) throw new Error(`no ${row.token} here`);
    return {
      venue: this.venueId,
      withdrawalId: Number(row.withdrawalId),
      chain: chain.chain,
      chainId: chain.chainId,
      vault: chain.vault,
      token: row.token,
      contract: token.contract,
      decimals: token.decimals,
      account: withoutHexPrefix(row.account).toLowerCase(),
      amount,
      deadline: Math.floor(row.deadline / 1_000),
    };
  }

  /** Null while there is no proof, or the caps have no room. @throws with the reason not to sign. */
  private async signatureFor(
    { proof }: OpenWithdrawal,
    terms: WithdrawalTerms,
    views: readonly VaultView[],
  ): Promise<string | null> {
    if (proof === null) return null;
    const { signing, clock } = this.parts;
    const { account, record } = signing;
    await this.refuseUnproven(proof, terms);
    const vault: Address = `0x${terms.vault}`;
    const domain = { venueId: `0x${terms.venue}`, chainId: terms.chainId, vault } as const;
    const payment: VaultWithdrawal = {
      token: `0x${terms.contract}`,
      account: `0x${terms.account}`,
      amount: terms.amount,
      id: BigInt(terms.withdrawalId),
      deadline: BigInt(terms.deadline),
    };
    const separator = domainSeparatorOf(domain);
    for (const { domainSeparator, attestors, isLocked, head, entries } of views) {
      if (domainSeparator !== separator) throw new Error("the vault is another venue's");
      if (!attestors.includes(account.address.toLowerCase())) {
        throw new Error(`${account.address} is no attestor of the vault`);
      }
      const entry = entries.get(BigInt(terms.withdrawalId));
      const isLate = head.timeMs > terms.deadline * 1_000;
      if (isLocked || isLate || entry?.status !== ENTRY_STATUS.UNKNOWN) return null;
    }
    const digest = vaultDigest(domain, "Withdrawal", payment);
    const scope = `${terms.chainId} ${terms.vault} ${terms.contract}`;
    const atMs = clock();
    const known = record.digestOf({ id: terms.withdrawalId, scope });
    if (known === undefined && !this.fits(scope, terms, views, atMs)) return null;
    const { withdrawalId: id, amount } = terms;
    record.add({ id, digest, scope, amount: String(amount), atMs });
    const signature: Hex = await signVaultData(domain, "Withdrawal", payment, account);
    return signature.slice(2);
  }

  private async refuseUnproven(proof: string, terms: WithdrawalTerms): Promise<void> {
    const checked = await checkWithdrawalProof(proof, verifyText, this.parts.signing.proofKeys);
    if (typeof checked === "string") throw new Error(`not proven: ${checked}`);
    const { leaf } = checked;
    const isProven =
      leaf.withdrawalId === terms.withdrawalId &&
      leaf.address === terms.account &&
      leaf.chainId === terms.chainId &&
      leaf.token === terms.token &&
      leaf.deadlineMs === terms.deadline * 1_000 &&
      unitsOfMicros(leaf.amountMicros, terms.decimals) === terms.amount;
    if (!isProven) throw new Error("not proven: the proof is of another payment");
  }

  /** Within the vault's caps, counting what this attestor has signed. */
  private fits(
    scope: string,
    { contract, amount }: WithdrawalTerms,
    views: readonly VaultView[],
    nowMs: number,
  ): boolean {
    const { hour, day } = this.parts.signing.record.signed(scope, nowMs);
    return views.every(({ caps }) => {
      const cap = caps.get(contract);
      return cap !== undefined && hour + amount <= cap.hourCap && day + amount <= cap.dayCap;
    });
  }

  private vote(
    terms: WithdrawalTerms,
    said: Pick<WithdrawalVote, "verdict" | "block" | "txHash" | "vaultSignature">,
  ): SignedWithdrawalVote {
    const { attestor, clock } = this.parts;
    const vote = { ...terms, ...said, attestor: attestor.index, votedAtMs: clock() };
    return signWithdrawalVote(vote, attestor.privateKey);
  }
}
