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
import type { ProofKeys } from "@perpgate/protocol/receipts";
import type { Address, Hex } from "viem";
import type { PrivateKeyAccount } from "viem/accounts";
import { publicKeyHex } from "../attestor-key.js";
import type { BridgeObserver } from "../bridge-event.js";
import { EndpointPool, enough } from "../chain/endpoint-pool.js";
import { type ChainConfig, differenceFrom } from "../config/chain-config.js";
import { inTurn } from "../in-turn.js";
import {
  domainSeparatorOf,
  signVaultData,
  type VaultDomain,
  type VaultWithdrawal,
  vaultDigest,
} from "../vault/typed-data.js";
import type { VenueTerms } from "../venue-port.js";
import { HoldingsReporter } from "./holdings-reporter.js";
import { provenLeaf } from "./proven.js";
import {
  agreedSighting,
  FoundEvents,
  OTHER_PAYMENT,
  type Sighting,
  sightingIn,
} from "./sighting.js";
import type { SigningRecord } from "./signing-record.js";
import { ENTRY_STATUS, readVault, type VaultView } from "./vault-view.js";
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

/** At least `minAgreeing` endpoints have another payment under the id than the log. */
class OtherPayment extends Error {
  override readonly name = "OtherPayment";
}

export class WithdrawalAttestor {
  private readonly pool: EndpointPool;
  private readonly holdings: HoldingsReporter;
  private venueId = "";
  private readonly found = new FoundEvents();
  /** Digests of the payments that a proof has shown, by id. */
  private readonly proven = new Map<number, Hex>();

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
      await this.reportHoldings();
    }
    const polled = { chain: chain.chain, attestor: attestor.index } as const;
    observe({ kind: "WithdrawalsPolled", of: "withdrawals", ...polled });
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
    const ids = new Set(rows.map(({ withdrawalId }) => Number(withdrawalId)));
    this.found.keep(ids);
    for (const id of this.proven.keys()) if (!ids.has(id)) this.proven.delete(id);
  }

  private hasSameTerms(terms: VenueTerms): boolean {
    const { index, privateKey } = this.parts.attestor;
    const hasOurs = terms.members[index]?.toLowerCase() === publicKeyHex(privateKey);
    return hasOurs && differenceFrom(terms, this.parts.chain) === null;
  }

  private async attest(rows: readonly OpenWithdrawal[]): Promise<void> {
    const { chain, observe, port } = this.parts;
    const ids = rows.map(({ withdrawalId }) => BigInt(withdrawalId));
    const views = enough(
      await this.pool.ask((source, name) => readVault(source, name, chain, ids)),
      chain.minAgreeing,
    );
    const searchable = new Set(views);
    const votes: SignedWithdrawalVote[] = [];
    for (const row of rows) votes.push(...(await this.votesOn(row, views, searchable)));
    if (votes.length === 0) return;
    const refusals = await port.submitOnWithdrawals(votes);
    for (const [i, { vote }] of votes.entries()) {
      const { withdrawalId, verdict } = vote;
      const reason = refusals[i] ?? null;
      observe({ kind: "WithdrawalVoted", chain: chain.chain, withdrawalId, verdict, reason });
    }
  }

  /** What fails is reported; a signature does not wait for what is seen on the chain, nor that for it. */
  private async votesOn(
    row: OpenWithdrawal,
    views: readonly VaultView[],
    searchable: Set<VaultView>,
  ): Promise<SignedWithdrawalVote[]> {
    const votes: SignedWithdrawalVote[] = [];
    try {
      const subject = this.subjectOf(row);
      for (const voting of [
        () => this.signatureVote(subject, views),
        () => this.sightingVote(subject, views, searchable),
      ]) {
        const vote = await voting().catch((error: unknown) => this.report(row, error));
        if (vote !== null) votes.push(vote);
      }
    } catch (error) {
      this.report(row, error);
    }
    return votes;
  }

  private report({ withdrawalId: id }: OpenWithdrawal, error: unknown): null {
    const { chain, observe } = this.parts;
    const isAlarm = error instanceof OtherPayment;
    const reason = error instanceof Error ? error.message : String(error);
    const failed = { chain: chain.chain, withdrawalId: Number(id), isAlarm, reason };
    observe({ kind: "WithdrawalFailed", ...failed });
    return null;
  }

  private subjectOf(row: OpenWithdrawal): Subject {
    const ours = publicKeyHex(this.parts.attestor.privateKey);
    const own = row.votes
      .filter(({ publicKey }) => publicKey === ours)
      .flatMap(({ text }) => parseWithdrawalVote(text) ?? []);
    const terms = this.termsOf(row);
    const vault: Address = `0x${terms.vault}`;
    const domain = { venueId: `0x${terms.venue}`, chainId: terms.chainId, vault } as const;
    const payment: VaultWithdrawal = {
      token: `0x${terms.contract}`,
      account: `0x${terms.account}`,
      amount: terms.amount,
      id: BigInt(terms.withdrawalId),
      deadline: BigInt(terms.deadline),
    };
    const digest = vaultDigest(domain, "Withdrawal", payment);
    return { row, own, terms, domain, payment, digest };
  }

  private async sightingVote(
    { row, own, terms, domain, digest }: Subject,
    views: readonly VaultView[],
    searchable: Set<VaultView>,
  ): Promise<SignedWithdrawalVote | null> {
    refuseOtherVenue(domain, views);
    const last = own.find(({ verdict }) => verdict !== "signed");
    const id = terms.withdrawalId;
    const isPaid = ({ entries }: VaultView): boolean =>
      entries.get(BigInt(id))?.status === ENTRY_STATUS.PAID;
    // Said of a final block.
    if (last?.verdict === "paid" && views.every(isPaid)) return null;
    const sighting = await this.sighting(terms, views, searchable);
    if (sighting === null) {
      // Endpoints may stand on two branches.
      this.found.forget(id);
      return null;
    }
    if (last?.verdict === sighting.verdict && last.txHash === sighting.txHash) return null;
    // What the log does not ask for is a theft, and no step of a withdrawal.
    if (sighting.verdict !== "unpaid" && !(await this.isLogs(row, terms, digest))) return null;
    return this.vote(terms, { ...sighting, vaultSignature: "" });
  }

  private async sighting(
    terms: WithdrawalTerms,
    views: readonly VaultView[],
    searchable: Set<VaultView>,
  ): Promise<Sighting | null> {
    const { minAgreeing } = this.parts.chain;
    const asked = views.filter((view) => searchable.has(view));
    const answers = await Promise.allSettled(
      asked.map((view) => sightingIn(view, terms, this.found)),
    );
    const seen: (Sighting | null)[] = [];
    let others = 0;
    let failure = "";
    for (const [i, answer] of answers.entries()) {
      if (answer.status === "rejected") {
        // Not asked about the other rows of this poll: each would wait for its time-out.
        searchable.delete(asked[i]!);
        failure = answer.reason instanceof Error ? answer.reason.message : String(answer.reason);
      } else if (answer.value === OTHER_PAYMENT) others++;
      else seen.push(answer.value);
    }
    const id = terms.withdrawalId;
    if (others >= minAgreeing) throw new OtherPayment(`the vault has another payment as ${id}`);
    if (others > 0) throw new Error(`one endpoint has another payment as ${id}, and others not`);
    if (seen.length < minAgreeing) {
      throw new Error(
        `${seen.length} endpoints show the events, and ${minAgreeing} must: ${failure}`,
      );
    }
    return agreedSighting(seen, minAgreeing);
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
  private async signatureVote(
    { row, own, terms, domain, payment, digest }: Subject,
    views: readonly VaultView[],
  ): Promise<SignedWithdrawalVote | null> {
    if (row.proof === null || own.some(({ verdict }) => verdict === "signed")) return null;
    const { signing, clock } = this.parts;
    const { account, record } = signing;
    await this.refuseUnproven(row.proof, terms, digest);
    refuseOtherVenue(domain, views);
    for (const { attestors, isLocked, head, entries } of views) {
      if (!attestors.includes(account.address.toLowerCase())) {
        throw new Error(`${account.address} is no attestor of the vault`);
      }
      const entry = entries.get(payment.id);
      const isLate = head.timeMs > terms.deadline * 1_000;
      if (isLocked || isLate || entry?.status !== ENTRY_STATUS.UNKNOWN) return null;
    }
    const scope = scopeOf(terms);
    const atMs = clock();
    const known = record.digestOf({ id: terms.withdrawalId, scope });
    if (known === undefined && !this.fits(scope, terms, views, atMs)) return null;
    const { withdrawalId: id, amount } = terms;
    record.add({ id, digest, scope, amount: String(amount), atMs });
    const signature: Hex = await signVaultData(domain, "Withdrawal", payment, account);
    const signed = { verdict: "signed", block: null, txHash: "" } as const;
    return this.vote(terms, { ...signed, vaultSignature: signature.slice(2) });
  }

  /** Whether the log asks for it: this attestor has signed it, or a proof shows it. */
  private async isLogs(
    { proof }: OpenWithdrawal,
    terms: WithdrawalTerms,
    digest: Hex,
  ): Promise<boolean> {
    const { record } = this.parts.signing;
    const signed = record.digestOf({ id: terms.withdrawalId, scope: scopeOf(terms) });
    if (signed === digest) return true;
    if (proof === null) return false;
    await this.refuseUnproven(proof, terms, digest);
    return true;
  }

  private async refuseUnproven(proof: string, terms: WithdrawalTerms, digest: Hex): Promise<void> {
    if (this.proven.get(terms.withdrawalId) === digest) return;
    const leaf = await provenLeaf(proof, this.parts.signing.proofKeys);
    if (typeof leaf === "string") throw new Error(`not proven: ${leaf}`);
    const isProven =
      leaf.withdrawalId === terms.withdrawalId &&
      leaf.address === terms.account &&
      leaf.chainId === terms.chainId &&
      leaf.token === terms.token &&
      leaf.deadlineMs === terms.deadline * 1_000 &&
      unitsOfMicros(leaf.amountMicros, terms.decimals) === terms.amount;
    if (!isProven) throw new Error("not proven: the proof is of another payment");
    this.proven.set(terms.withdrawalId, digest);
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

/** A withdrawal as the venue has it, and what the vault would be asked for. */
interface Subject {
  readonly row: OpenWithdrawal;
  /** What this attestor has said. */
  readonly own: readonly WithdrawalVote[];
  readonly terms: WithdrawalTerms;
  readonly domain: VaultDomain;
  readonly payment: VaultWithdrawal;
  readonly digest: Hex;
}

function scopeOf({ chainId, vault, contract }: WithdrawalTerms): string {
  return `${chainId} ${vault} ${contract}`;
}

function refuseOtherVenue(domain: VaultDomain, views: readonly VaultView[]): void {
  const separator = domainSeparatorOf(domain);
  if (views.every(({ domainSeparator }) => domainSeparator === separator)) return;
  throw new Error("the vault is another venue's");
}
