/** Requests of withdrawals. What the state refuses now is refused before the log, which it would fill for free. */

import { REFUSALS } from "@perpgate/engine";
import { LATER, type RequestHandlers } from "@perpgate/link";
import type { Withdrawal, WithdrawalBody } from "@perpgate/protocol";
import { ApiError, fromMicros, toMicrosFloor } from "@perpgate/protocol/core";
import type { Evidence } from "../record/record.js";
import { type RefusedOutcome, sessionRefusal } from "./execution.js";
import type { CommandOrigin } from "./order-command.js";
import { about, signingRefusal } from "./order-refusals.js";
import { SignedRequest, type SignedServices } from "./signed-request.js";

export function withdrawals(services: SignedServices): Pick<RequestHandlers, "requestWithdrawal"> {
  return {
    requestWithdrawal: (request, notes, reply) => {
      new WithdrawalRequest(services, request, notes, reply).begin();
      return LATER;
    },
  };
}

class WithdrawalRequest extends SignedRequest<WithdrawalBody, Withdrawal> {
  protected count(): void {
    this.services.orders.take(this.session.account, this.notes);
  }

  protected prepare(
    { stampMs, session, key, nonce }: CommandOrigin,
    evidence: Evidence,
  ): () => void {
    const { venue } = this.services;
    const { chain, token, amount } = this.request.body;
    const terms = { chain, token, amountMicros: toMicrosFloor(amount) };
    const fault = venue.views.withdrawalFault(this.session.account, terms);
    if (fault !== undefined) {
      const [refusal, detail1 = 0, detail2 = 0] = fault;
      throw this.refusal({ refusal: REFUSALS[refusal]!, detail1, detail2 });
    }
    const command = { kind: "Withdraw", stampMs, session, key, nonce, ...terms } as const;
    const refusalOf = (outcome: RefusedOutcome) => this.refusal(outcome);
    return () => this.submit(command, evidence, refusalOf, ({ seq }) => this.madeAt(seq));
  }

  private madeAt(seq: number): Withdrawal {
    const made = this.requestedAt(seq);
    if (made === undefined) throw new Error(`the withdrawal at ${seq} is not stored`);
    return made;
  }

  protected answerAsBefore(usedBy: number): boolean {
    const past = this.requestedAt(usedBy);
    if (past === undefined) return false;
    this.notes.isReplay = true;
    this.answer(past);
    return true;
  }

  /** The withdrawal that this body asked for: its id is the position that used the nonce. */
  private requestedAt(position: number): Withdrawal | undefined {
    const { views } = this.services.venue;
    const past = views.requestedWithdrawal(this.session.account, position);
    return past !== undefined && this.hasBody(past) ? past.withdrawal : undefined;
  }

  private refusal(outcome: Omit<RefusedOutcome, "kind">): Error {
    const { chain, token, nonce } = this.request.body;
    const { refusal, detail1, detail2 } = outcome;
    const refused = { kind: "refused", ...outcome } as const;
    switch (refusal) {
      case "withdrawals_not_supported":
        return about("token", "withdrawals_not_supported", { chain, token });
      case "contract_wallet_elsewhere":
        return about("chain", "contract_wallet_elsewhere", { chainId: detail1 });
      case "withdrawal_too_small":
        return about("amount", "withdrawal_too_small", { min: fromMicros(detail1) });
      case "insufficient_balance": {
        const figures = { wallet: fromMicros(detail1), fee: fromMicros(detail2) };
        return about("amount", "insufficient_balance", figures);
      }
      case "withdrawals_paused":
        return about("token", "withdrawals_paused", { chain, token });
      case "reorged_credit":
        return new ApiError("reorged_credit", {});
      case "chain_balance_too_small": {
        const most = fromMicros(detail1);
        return about("amount", "chain_balance_too_small", { chain, token, most });
      }
      case "unpaid_withdrawals":
        return about("amount", "unpaid_withdrawals", { chain, room: fromMicros(detail1) });
      case "withdrawal_limit": {
        const when = detail1 === 0 ? "never" : `at ${new Date(detail1).toISOString()}`;
        return about("amount", "withdrawal_limit", { when });
      }
      default:
        return signingRefusal(refused, nonce) ?? sessionRefusal("Withdraw", refused);
    }
  }
}
