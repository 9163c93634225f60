/** Moves money between the wallet and the margin of a position. */

import { LATER, type RequestHandlers } from "@perpgate/link";
import type { MarginBody, MarginChange } from "@perpgate/protocol";
import { ApiError, fromMicros, INDEX_STALE_MS, toMicrosFloor } from "@perpgate/protocol/core";
import type { Evidence } from "../record/record.js";
import type { RefusedOutcome } from "./execution.js";
import type { CommandOrigin } from "./order-command.js";
import { wrongField } from "./order-extras.js";
import { about, orderRefusal } from "./order-refusals.js";
import { MAX_ORDER_NOTIONAL } from "./order-units.js";
import { SignedRequest, type SignedServices } from "./signed-request.js";

export function marginChanges(services: SignedServices): Pick<RequestHandlers, "changeMargin"> {
  return {
    changeMargin: (request, notes, reply) => {
      new MarginRequest(services, request, notes, reply).begin();
      return LATER;
    },
  };
}

class MarginRequest extends SignedRequest<MarginBody, MarginChange> {
  protected count(): void {
    this.services.orders.take(this.session.account, this.notes);
  }

  /** The stored change of the nonce, if one with the same body used it. */
  private past(): MarginChange | undefined {
    const { views } = this.services.venue;
    const past = views.marginChangeOf(this.session, this.request.body.nonce);
    if (past === undefined || !this.hasBody(past)) return undefined;
    this.notes.isReplay = true;
    return past.change;
  }

  protected prepare(origin: CommandOrigin, evidence: Evidence): () => void {
    const { venue } = this.services;
    const { symbol, amount } = this.request.body;
    const market = venue.listing.named(symbol);
    if (market === undefined) throw new ApiError("market_not_found", { symbol });
    const { stampMs, session, key, nonce } = origin;
    const command = {
      kind: "ChangeMargin",
      stampMs,
      session,
      key,
      nonce,
      market: market.number,
      amountMicros: microsOf(amount),
    } as const;
    const refusalOf = (outcome: RefusedOutcome) => this.refusal(outcome);
    return () => this.submit(command, evidence, refusalOf, ({ seq }) => this.changeAt(seq));
  }

  private changeAt(seq: number): MarginChange {
    const { nonce } = this.request.body;
    const made = this.services.venue.views.marginChangeOf(this.session, nonce);
    if (made === undefined) throw new Error(`the change of margin at ${seq} is not stored`);
    return made.change;
  }

  protected answerAsBefore(): boolean {
    const past = this.past();
    if (past === undefined) return false;
    this.answer(past);
    return true;
  }

  private refusal(outcome: RefusedOutcome): Error {
    const { session } = this;
    const { body } = this.request;
    const { symbol } = body;
    const { venue } = this.services;
    const { views } = venue;
    switch (outcome.refusal) {
      case "position_not_found":
        return about("symbol", "position_not_found", { symbol });
      case "margin_needed":
        return about("amount", "margin_needed", { largest: fromMicros(outcome.detail1) });
      case "insufficient_margin":
        return about("amount", "insufficient_margin", { maxMargin: fromMicros(outcome.detail1) });
      case "stale_index":
        return about("symbol", "stale_index", { symbol, maxAgeSeconds: INDEX_STALE_MS / 1_000 });
      default: {
        const market = venue.listing.named(symbol)!;
        const terms = { symbol, side: "long", type: "market" } as const;
        return orderRefusal(outcome, { body, terms, market, session, views });
      }
    }
  }
}

/** Truncated toward zero; 0 is refused. */
function microsOf(amount: number): number {
  if (Math.abs(amount) > MAX_ORDER_NOTIONAL) {
    throw about("amount", "notional_limit", { limit: MAX_ORDER_NOTIONAL });
  }
  const micros = amount < 0 ? -toMicrosFloor(-amount) : toMicrosFloor(amount);
  if (micros === 0) throw wrongField("amount", "amount must be at least a millionth of a dollar");
  return micros;
}
