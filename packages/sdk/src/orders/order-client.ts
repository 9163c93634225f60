/**
 * Sends signed bodies, over REST or the socket: nonce, bytes, signature, retries with the same bytes.
 *
 * Each nonce belongs to one body, and the server executes it at most once, so there is one order
 * however often its bytes are sent. A change of the session key waits for the orders in flight: a
 * retry that was signed with the old key would be rejected.
 */

import type { PreconfirmAck } from "@perpgate/protocol";
import { hexFromBytes, orderSigningBytes } from "@perpgate/protocol/core";
import { ConnectionError, PerpgateError } from "../errors.js";
import {
  type Attempt,
  type CallOptions,
  type RetryRules,
  rulesWith,
  withRetries,
} from "../retry.js";
import type { SessionKey } from "../session-key/session-key.js";
import type { Nonces } from "./nonces.js";
import { type NewOrder, orderText } from "./order-body.js";
import { SharedLock } from "./shared-lock.js";

/** The acknowledgement, and whether it is that of an earlier try. */
export type PlacedOrder = PreconfirmAck & { readonly replayed: boolean };

/** An answer, and whether it is that of an earlier try. */
export type Replayable<T> = T & { readonly replayed: boolean };

/** Sends a signed body once, over REST or over the socket. */
export type Transport<T> = (
  signed: SignedText,
  attempt: Attempt,
  signal: AbortSignal | undefined,
) => Promise<T>;
export type OrderTransport = Transport<PlacedOrder>;

export interface SignedText {
  readonly body: string;
  /** Hex. */
  readonly signature: string;
}

export class OrderClient {
  private readonly lock = new SharedLock();

  constructor(
    private readonly nonces: Nonces,
    private readonly rules: RetryRules,
    private readonly key: () => Promise<SessionKey>,
    /** Called with each signed body that was answered, and the answer. */
    private readonly onAnswer: (body: string, answer: unknown) => void = () => undefined,
  ) {}

  place(order: NewOrder, options: CallOptions, send: OrderTransport): Promise<PlacedOrder> {
    return this.submit(order.nonce, (nonce) => orderText(order, nonce), options, send);
  }

  /** Sends the body that `textOf` makes with a new nonce, or with the given one. */
  submit<T>(
    given: number | undefined,
    textOf: (nonce: number) => string,
    options: CallOptions,
    send: Transport<T>,
  ): Promise<T> {
    const rules = rulesWith(options, this.rules);
    const { signal, isRepeat = true } = options;
    return this.lock.shared(() =>
      this.nonces.use(given, async (nonce) => {
        const body = textOf(nonce);
        const signature = await this.sign(body);
        try {
          const answer = await withRetries(
            rules,
            signal,
            (attempt) => send({ body, signature }, attempt, signal),
            given !== undefined && isRepeat,
          );
          this.onAnswer(body, answer);
          return answer;
        } catch (error) {
          if (error instanceof ConnectionError || error instanceof PerpgateError) {
            error.nonce = nonce;
          }
          throw error;
        }
      }),
    );
  }

  /** Hex of the session key's signature over the text's bytes. */
  async sign(text: string): Promise<string> {
    const key = await this.key();
    return hexFromBytes(await key.sign(orderSigningBytes(text)));
  }

  /** Runs while no order is in flight; new orders wait. */
  exclusive<T>(run: () => Promise<T>): Promise<T> {
    return this.lock.exclusive(run);
  }
}
