/**
 * Deposits of an account: those it registered and those that credited it. The engine keeps them
 * all; which concern an account is noted here, from the state at start and then from events.
 */
import { EVENT } from "@perpgate/engine";
import type { Deposit as EngineDeposit } from "@perpgate/engine/reading";
import type { Chain, Deposit, Token } from "@perpgate/protocol";
import { CREDITED, eventWords, REGISTERED } from "../events/event-fields.js";
import type { Applied } from "../replica.js";
import { fromMicros } from "./figures.js";
import { stateOf, type VenueSource } from "./venue-source.js";

export class DepositView {
  private readonly byAccount = new Map<number, Set<number>>();

  constructor(private readonly source: VenueSource) {
    for (const deposit of stateOf(source).deposits.byId.values()) {
      this.note(deposit.registrant, deposit.id);
      for (const credit of deposit.credits) this.note(credit.account, deposit.id);
    }
  }

  onCommand({ events: { words, length } }: Applied): void {
    for (let at = 0; at < length; at += eventWords(words[at]!)) {
      if (words[at] === EVENT.DepositRegistered) {
        this.note(words[at + REGISTERED.account]!, words[at + REGISTERED.depositId]!);
      } else if (words[at] === EVENT.DepositCredited) {
        this.note(words[at + CREDITED.account]!, words[at + CREDITED.depositId]!);
      }
    }
  }

  /** Newest first. */
  deposits(account: number): Deposit[] {
    const ids = [...(this.byAccount.get(account) ?? [])].sort((a, b) => b - a);
    return ids.flatMap((id) => this.deposit(account, id) ?? []);
  }

  deposit(account: number, id: number): Deposit | undefined {
    if (this.byAccount.get(account)?.has(id) !== true) return undefined;
    const deposit = stateOf(this.source).deposits.byId.get(id);
    return deposit === undefined ? undefined : this.depositOf(deposit);
  }

  private depositOf(deposit: EngineDeposit): Deposit {
    const { addresses } = stateOf(this.source);
    return {
      depositId: String(deposit.id),
      chain: chainOf(deposit.chain),
      txHash: `0x${deposit.txHash}`,
      token: tokenOf(deposit.token),
      status: deposit.status,
      confirmations: deposit.confirmations,
      required: deposit.required,
      credits: deposit.credits.map((credit) => ({
        account: `0x${addresses[credit.account] ?? ""}`,
        amount: fromMicros(credit.amountMicros),
        logIndex: credit.logIndex,
      })),
      reason: deposit.reason === "" ? null : deposit.reason,
    };
  }

  private note(account: number, id: number): void {
    const ids = this.byAccount.get(account);
    if (ids === undefined) this.byAccount.set(account, new Set([id]));
    else ids.add(id);
  }
}

const CHAINS: readonly Chain[] = ["ethereum", "arbitrum", "tron"];
const TOKENS: readonly Token[] = ["USDC", "USDT"];

function chainOf(name: string): Chain {
  return known(CHAINS, name);
}

function tokenOf(name: string): Token {
  return known(TOKENS, name);
}

/** The edge lets only these through; a log that holds another is from the future. */
function known<T extends string>(names: readonly T[], name: string): T {
  const found = names.find((candidate) => candidate === name);
  if (found === undefined) throw new RangeError(`a deposit names "${name}"`);
  return found;
}
