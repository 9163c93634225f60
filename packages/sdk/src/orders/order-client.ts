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

import type { CanceledOrder, PreconfirmAck } from "@perpgate/protocol";
import { hexFromBytes, NONCE_WINDOW, orderSigningBytes } from "@perpgate/protocol/core";
import { ConnectionError, type Outcome, PerpgateError, TimeoutError } from "../errors.js";
import {
  type Attempt,
  type CallOptions,
  type RetryRules,
  rulesWith,
  withRetries,
} from "../retry.js";
import type { SessionKeyRing } from "../session-key/key-ring.js";
import type { SessionKey } from "../session-key/session-key.js";
import type { Nonces } from "./nonces.js";
import { type NewOrder, orderText } from "./order-body.js";

/** A lock with many shared holders or one exclusive holder. A waiting exclusive holder goes first. */

class SharedLock {
  private holders = 0;
  private waiting: (() => void)[] = [];
  /** Settles when the last exclusive holder is done. */
  private exclusiveEnd: Promise<unknown> | undefined;

  async shared<T>(run: () => Promise<T>): Promise<T> {
    while (this.exclusiveEnd !== undefined) await this.exclusiveEnd.catch(() => undefined);
    this.holders++;
    try {
      return await run();
    } finally {
      this.holders--;
      if (this.holders === 0) for (const resolve of this.waiting.splice(0)) resolve();
    }
  }

  exclusive<T>(run: () => Promise<T>): Promise<T> {
    const before = this.exclusiveEnd?.catch(() => undefined) ?? this.empty();
    const mine = before.then(run);
    this.exclusiveEnd = mine;
    const done = () => {
      if (this.exclusiveEnd === mine) this.exclusiveEnd = undefined;
    };
    mine.then(done, done);
    return mine;
  }

  private empty(): Promise<void> {
    if (this.holders === 0) return Promise.resolve();
    return new Promise((resolve) => this.waiting.push(resolve));
  }
}

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
interface EarlierSession {
  /** The highest nonce that it used. */
  readonly lastNonce: number;
  /** Missing once it has ended, and if the renewed session was saved and restored since. */
  readonly credentials?: {
    readonly token: string;
    /** Unix milliseconds. */
    readonly endsAt: number;
    readonly keys: SessionKeyRing;
  };
}

/** A session remembers no more nonces than this, so older ones could not be repeated anyway. */
const MAX_SENT_LATER = NONCE_WINDOW;

export class OrderClient {
  private readonly lock = new SharedLock();
  /** Oldest first. */
  private readonly earlier: EarlierSession[] = [];
  /** The sessions, as indices of `earlier`, of nonces that a later session was the first to send. */
  private readonly sentLater = new Map<number, number>();
  /** The highest nonce that was removed from `sentLater`. */
  private lastForgotten = -1;

  constructor(
    private readonly nonces: Nonces,
    private readonly rules: RetryRules,
    private readonly keys: () => SessionKeyRing,
    /** Called with each signed body that was answered, and the answer; with an empty one for a cancel. */
    private readonly onAnswer: (body: string, answer: unknown) => void = () => undefined,
  ) {}

  /** A cancel, which is not signed, was answered. */
  canceled(answer: CanceledOrder): CanceledOrder {
    this.onAnswer("", answer);
    return answer;
  }

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
        const isGivenAgain = given !== undefined && isRepeat;
        const earlier = given === undefined ? undefined : this.earlierSenderOf(nonce, isRepeat);
        const isSentBefore = isGivenAgain || earlier !== undefined;
        try {
          const { keys, ...token } = this.signerOf(nonce, earlier);
          await keys.current().catch((error: unknown) => {
            throw notSigned(error, isSentBefore ? "unknown" : "not_sent");
          });
          const answer = await keys.use(async (key, refusal) => {
            const signed = { body, signature: await signatureOf(body, key), ...token };
            return withRetries(
              rules,
              signal,
              (attempt) => send(signed, attempt, signal),
              isGivenAgain || refusal?.outcome === "unknown",
            );
          });
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

  /** Sends the hex of the session key's signature over the text's bytes. */
  withSignature<T>(text: string, send: (signature: string) => Promise<T>): Promise<T> {
    return this.keys().use(async (key) => send(await signatureOf(text, key)));
  }

  /** Another session replaces this one. Must be called while no order is in flight. */
  renewed(earlier: EarlierSession): void {
    const nowMs = Date.now();
    this.earlier.push(earlier);
    this.earlier.forEach(({ lastNonce, credentials }, index) => {
      // The place stays: `sentLater` has indices.
      if (credentials !== undefined && credentials.endsAt <= nowMs) {
        this.earlier[index] = { lastNonce };
      }
    });
  }

  /** The nonces up to this one belong to sessions before the last renewal. */
  get lastNonceOfEarlier(): number | undefined {
    return this.earlier.at(-1)?.lastNonce;
  }

  /** The keys of the session that the nonce belongs to, and its token if it was renewed since. */
  private signerOf(
    nonce: number,
    earlier: EarlierSession | undefined,
  ): { readonly keys: SessionKeyRing; readonly token?: string } {
    if (earlier === undefined) return { keys: this.keys() };
    if (earlier.credentials === undefined) throw notRepeatable(nonce);
    const { keys, token } = earlier.credentials;
    return { keys, token };
  }

  /** The session before a renewal that a given nonce belongs to; undefined if it is the current one. */
  private earlierSenderOf(nonce: number, isRepeat: boolean): EarlierSession | undefined {
    const known = this.sentLater.get(nonce);
    if (known !== undefined) return this.earlier[known];
    const sender = this.earlier.find(({ lastNonce }) => nonce <= lastNonce);
    if (sender === undefined) return undefined;
    if (isRepeat) {
      // Any session could have been the first to send it.
      return nonce <= this.lastForgotten ? { lastNonce: this.lastForgotten } : sender;
    }
    this.noteSentLater(nonce);
    return undefined;
  }

  private noteSentLater(nonce: number): void {
    this.sentLater.set(nonce, this.earlier.length);
    const [oldest] = this.sentLater.keys();
    if (oldest === undefined || this.sentLater.size <= MAX_SENT_LATER) return;
    this.sentLater.delete(oldest);
    this.lastForgotten = Math.max(this.lastForgotten, oldest);
  }

  /** Runs while no order is in flight; new orders wait. */
  exclusive<T>(run: () => Promise<T>): Promise<T> {
    return this.lock.exclusive(run);
  }
}

async function signatureOf(text: string, key: SessionKey): Promise<string> {
  return hexFromBytes(await key.sign(orderSigningBytes(text)));
}

/**
 * The error of an order that was not signed, because its key could not be read. Orders that waited for
 * the same reading got one error, so that each needs its own.
 */
function notSigned(error: unknown, outcome: Outcome): unknown {
  if (error instanceof PerpgateError) {
    const { code, message, field, details, requestId, status, retryAfterMs } = error;
    const optional = {
      ...(field === undefined ? {} : { field }),
      ...(details === undefined ? {} : { details }),
    };
    const body = { code, message, requestId, ...optional };
    return new PerpgateError(body, { status, retryAfterMs, outcome });
  }
  if (!(error instanceof ConnectionError)) return error;
  const { message, cause, isFinal } = error;
  const Kind = error instanceof TimeoutError ? TimeoutError : ConnectionError;
  return new Kind(message, { cause, outcome, isFinal });
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
