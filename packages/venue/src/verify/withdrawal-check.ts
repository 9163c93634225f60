/**
 * Checks withdrawals of the log: the signed body must say what the command says; and a vote's text, too, be
 * about the withdrawal that it names, to the unit, and be signed by the key that the attestor had then.
 */
import type { AttestWithdrawal, Withdraw } from "@perpgate/engine";
import type { VenueState, WithdrawalState } from "@perpgate/engine/reading";
import { hexFromBytes, parseWithdrawalVote, unitsOfMicros } from "@perpgate/protocol/core";
import type { Listing } from "../listing/listing.js";
import type { Evidence } from "../record/record.js";
import { bodyFieldsOf, firstDifference, microsIn } from "./signed-body.js";

const FIELDS: ReadonlySet<string> = new Set(["chain", "token", "amount", "nonce"]);

/** The first difference between the body and the command, or null. */
export function withdrawalBodyFault(body: Uint8Array, command: Withdraw): string | null {
  const fields = bodyFieldsOf(body);
  if (typeof fields === "string") return fields;
  return firstDifference(fields, FIELDS, () => [
    ["chain", fields.get("chain"), command.chain],
    ["token", fields.get("token"), command.token],
    ["amount", microsIn(fields.get("amount")), command.amountMicros],
    ["nonce", fields.get("nonce"), command.nonce],
  ]);
}

/** What a vote is about, as it was before the vote: the engine forgets a withdrawal that ends. */
export class WithdrawalCheck {
  private readonly known = new Map<number, WithdrawalState>();

  /** Call after each command that may open it, or end it. */
  note({ withdrawals }: Pick<VenueState, "withdrawals">, id: number): void {
    const withdrawal = withdrawals.byId.get(id);
    if (withdrawal === undefined) this.known.delete(id);
    else this.known.set(id, withdrawal);
  }

  get(id: number): WithdrawalState | undefined {
    return this.known.get(id);
  }
}

/** The first difference, or null. The caller checks the signature itself. */
export function withdrawalVoteFault(
  command: AttestWithdrawal,
  evidence: Evidence,
  { attestors, attestorHistory }: Pick<Listing, "attestors" | "attestorHistory">,
  withdrawal: WithdrawalState | undefined,
  addressOf: (account: number) => string | undefined,
): string | null {
  if (attestors === null) return "a vote, although the log names no attestors";
  if (hexFromBytes(evidence.publicKey) !== attestors.members[command.attestor]) {
    return `the vote has another key than attestor ${command.attestor}`;
  }
  const vote = parseWithdrawalVote(Buffer.from(evidence.signed).toString("latin1"));
  if (vote === undefined) return "the text of the vote cannot be read";
  const { chains = [] } = attestors;
  const scope = chains.find(({ chain }) => chain === vote.chain);
  const token = scope?.tokens.find((entry) => entry.token === vote.token);
  const isInScope =
    vote.venue === attestorHistory?.venueId &&
    vote.chainId === scope?.chainId &&
    vote.vault === scope.vault &&
    vote.contract === token?.contract;
  if (!isInScope) return "the vote is for another venue, chain id, vault or contract";
  const isOf =
    vote.attestor === command.attestor &&
    vote.withdrawalId === command.withdrawalId &&
    vote.verdict === command.verdict &&
    vote.votedAtMs === command.votedAtMs &&
    vote.txHash === command.txHash &&
    vote.vaultSignature === command.vaultSignature;
  if (!isOf) return "the vote's text says something else than the command";
  if (withdrawal === undefined) return null;
  const isAbout =
    vote.chain === withdrawal.chain &&
    vote.token === withdrawal.token &&
    vote.account === addressOf(withdrawal.account) &&
    vote.amount === unitsOfMicros(withdrawal.amountMicros, vote.decimals) &&
    vote.deadline * 1_000 === withdrawal.deadlineMs;
  return isAbout ? null : "the vote is about another payment than its withdrawal";
}
