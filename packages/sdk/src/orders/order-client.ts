/**
 * Sends signed bodies, over REST or the socket: nonce, bytes, signature, retries with the same bytes.
 *
 * Each nonce belongs to one body, and the server executes it at most once, so there is one order
 * however often its bytes are sent. A change of the session key waits for the orders in flight: a
 * retry that was signed with the old key would be rejected.
 *
 * Nonces are counted per session, so a nonce that a session used before its renewal is repeated in that
 * session: the new one would execute it once more.
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
  /** Of the session whose key signed it, if that one was renewed since. */
  readonly token?: string;
}

/** A session that was renewed. */
export interface EarlierSession {
  /** The highest nonce that it used. */
  readonly lastNonce: number;
  /** Missing if the renewed session was saved and restored since. */
  readonly credentials?: { readonly token: string; key(): Promise<SessionKey> };
}

export class OrderClient {
  private readonly lock = new SharedLock();
  /** Oldest first. */
  private readonly earlier: EarlierSession[] = [];
  /** The sessions, as indices of `earlier`, of nonces that a later session was the first to send. */
  private readonly sentLater = new Map<number, number>();

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
        const earlier = given === undefined ? undefined : this.earlierSenderOf(nonce, isRepeat);
        const signed = await this.signed(body, nonce, earlier);
        try {
          const answer = await withRetries(
            rules,
            signal,
            (attempt) => send(signed, attempt, signal),
            given !== undefined && isRepeat,
          );
          this.onAnswer(body, answer);
          return answer;
        } catch (error) {
          if (earlier !== undefined && isSessionEnded(error)) throw notRepeatable(nonce);
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
    return signatureOf(text, await this.key());
  }

  /** Another session replaces this one. Must be called while no order is in flight. */
  renewed(earlier: EarlierSession): void {
    this.earlier.push(earlier);
  }

  /** The nonces up to this one belong to sessions before the last renewal. */
  get lastNonceOfEarlier(): number | undefined {
    return this.earlier.at(-1)?.lastNonce;
  }

  private async signed(
    body: string,
    nonce: number,
    earlier: EarlierSession | undefined,
  ): Promise<SignedText> {
    if (earlier === undefined) return { body, signature: await this.sign(body) };
    const { credentials } = earlier;
    if (credentials === undefined) throw notRepeatable(nonce);
    const signature = await signatureOf(body, await credentials.key());
    return { body, signature, token: credentials.token };
  }

  /** The session before a renewal that a given nonce belongs to; undefined if it is the current one. */
  private earlierSenderOf(nonce: number, isRepeat: boolean): EarlierSession | undefined {
    const known = this.sentLater.get(nonce);
    if (known !== undefined) return this.earlier[known];
    const sender = this.earlier.find(({ lastNonce }) => nonce <= lastNonce);
    if (sender === undefined || isRepeat) return sender;
    this.sentLater.set(nonce, this.earlier.length);
    return undefined;
  }

  /** Runs while no order is in flight; new orders wait. */
  exclusive<T>(run: () => Promise<T>): Promise<T> {
    return this.lock.exclusive(run);
  }
}

async function signatureOf(text: string, key: SessionKey): Promise<string> {
  return hexFromBytes(await key.sign(orderSigningBytes(text)));
}

function isSessionEnded(error: unknown): boolean {
  return error instanceof PerpgateError && error.code === "invalid_token";
}

function notRepeatable(nonce: number): PerpgateError {
  const message =
    `Nonce ${nonce} belongs to a session before a renewal that can no longer be used; the current one ` +
    "could execute it a second time. Check what became of it, for an order with " +
    `session.orders({ status: "all", nonce: ${nonce} }).`;
  const body = { code: "nonce_too_old", message, field: "nonce", requestId: "" };
  const error = new PerpgateError(body, { status: 400, outcome: "unknown" });
  error.nonce = nonce;
  return error;
}
