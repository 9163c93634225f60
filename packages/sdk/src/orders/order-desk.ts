/**
 * From an order's fields to its acknowledgement, over either way to the venue: nonce, bytes,
 * signature, and the same bytes again until there is an answer.
 *
 * A nonce is used by one body only, and the server executes it at most once; so however often the
 * bytes are sent, there is one order. A change of the session key waits until no order is under way,
 * because a retry signed by the old key would be refused.
 */

import type { PreconfirmAck } from "@perpgate/protocol";
import { ConnectionError, PerpgateError } from "../errors.js";
import {
  type Attempt,
  type CallOptions,
  type RetryRules,
  rulesWith,
  withRetries,
} from "../http/retry.js";
import type { SessionKey } from "../session-key/session-key.js";
import { Gate } from "./gate.js";
import type { Nonces } from "./nonces.js";
import { type NewOrder, orderText } from "./order-body.js";

/** The acknowledgement, and whether it is that of an earlier try. */
export type PlacedOrder = PreconfirmAck & { readonly replayed: boolean };

/** One try over REST or over the socket. */
export type OrderCarrier = (
  order: SignedOrder,
  attempt: Attempt,
  signal: AbortSignal | undefined,
) => Promise<PlacedOrder>;

export interface SignedOrder {
  readonly body: string;
  readonly signature: string;
}

/** Names the order. */
function describe(error: unknown, nonce: number): unknown {
  if (!(error instanceof ConnectionError) && !(error instanceof PerpgateError)) return error;
  error.nonce = nonce;
  return error;
}

export class OrderDesk {
  private readonly gate = new Gate();

  constructor(
    private readonly nonces: Nonces,
    private readonly rules: RetryRules,
    private readonly key: () => Promise<SessionKey>,
  ) {}

  place(order: NewOrder, options: CallOptions, carry: OrderCarrier): Promise<PlacedOrder> {
    const rules = rulesWith(options, this.rules);
    return this.gate.enter(() =>
      this.nonces.use(order.nonce, async (nonce) => {
        const body = orderText(order, nonce);
        const signature = await this.sign(body);
        try {
          return await withRetries(rules, options.signal, (attempt) =>
            carry({ body, signature }, attempt, options.signal),
          );
        } catch (error) {
          throw describe(error, nonce);
        }
      }),
    );
  }

  /** Hex of the session key's signature over the text's bytes. */
  async sign(text: string): Promise<string> {
    const key = await this.key();
    const signature = await key.sign(new TextEncoder().encode(text));
    return Array.from(signature, (byte) => byte.toString(16).padStart(2, "0")).join("");
  }

  /** Runs while no order is under way; new ones wait. */
  alone<T>(run: () => Promise<T>): Promise<T> {
    return this.gate.alone(run);
  }
}
