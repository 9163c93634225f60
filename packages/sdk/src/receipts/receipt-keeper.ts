/**
 * Checks the receipt of every acknowledgement that a session gets and keeps the last thousand, as files
 * that can be saved and judged. The check does not delay an order's answer.
 */

import type { Honesty, PreconfirmAck } from "@perpgate/protocol";
import { bytesFromHex } from "@perpgate/protocol/core";
import {
  decodeReceipt,
  parseNoteKey,
  type ReceiptFile,
  receiptFile,
  receiptProblem,
  requestHashOf,
} from "@perpgate/protocol/receipts";
import { PerpgateError } from "../errors.js";
import { callSafely } from "../streams/subscription.js";
import { verifyEd25519 } from "./verify-ed25519.js";

/**
 * A receipt that does not hold: the venue has signed something else than it answered, or nothing. Or one
 * that was not checked, because more than a thousand waited for the log's key.
 */
export interface ReceiptProblem {
  readonly ackNonce: string;
  readonly reason: string;
  readonly file: ReceiptFile | undefined;
}

export interface ReceiptOptions {
  /** The verifier key of the venue's log that you pinned. Default: the one that the venue shows first. */
  readonly logKey?: string;
  /** Called for a receipt that is not kept. Default: a warning on the console. */
  readonly onReceiptProblem?: (problem: ReceiptProblem) => void;
}

const KEPT = 1_000;
/** By a venue that stops, or that does not want to be bound. */
const LEFT_OUT =
  "the venue issues receipts and has left it out: send the same bytes again, until the answer has one";
/** Acknowledgements that wait for the log's key. */
const MAX_WAITING = 1_000;

type VenueKey = Pick<Honesty, "logKey" | "venueId" | "issuesReceipts">;

const NO_LOG: VenueKey = { logKey: "", venueId: "", issuesReceipts: false };

interface Waiting {
  readonly body: string;
  readonly ack: PreconfirmAck;
}

export class ReceiptKeeper {
  private readonly kept: ReceiptFile[] = [];
  private readonly waiting: Waiting[] = [];
  private venue: Promise<VenueKey | undefined> | undefined;
  private pending: Promise<void> = Promise.resolve();
  /** A `checkWaiting` has not begun; it will check all that waits then. */
  private isQueued = false;

  constructor(
    private readonly address: string,
    private readonly readHonesty: () => Promise<VenueKey>,
    private readonly options: ReceiptOptions = {},
  ) {}

  /** The receipts that hold, the oldest first. */
  get files(): readonly ReceiptFile[] {
    return this.kept;
  }

  /**
   * The receipt of an acknowledgement; undefined if it is not among the kept ones.
   *
   * @example
   * const file = session.receipts.of("48213");
   * console.log(JSON.stringify(file)); // save it; perpgate judge reads it
   */
  of(ackNonce: string): ReceiptFile | undefined {
    return this.kept.find(({ position }) => String(position) === ackNonce);
  }

  /**
   * Resolves once the receipts of all answers so far are checked. If the log's key cannot be read they
   * wait for it: it is read again with the next answer and by the next call of this.
   *
   * @example
   * await session.receipts.settled();
   * console.log(session.receipts.files.length);
   */
  settled(): Promise<void> {
    if (this.waiting.length > 0) this.checkNext();
    return this.pending;
  }

  /** @internal Takes what a signed body was answered with. */
  take(body: string, answer: unknown): void {
    const acks = acksIn(answer);
    if (acks.length === 0) return;
    for (const ack of acks) this.waiting.push({ body, ack });
    this.checkNext();
  }

  private checkNext(): void {
    if (this.isQueued) return;
    this.isQueued = true;
    this.pending = this.pending.then(() => this.checkWaiting());
  }

  /** Must not throw: later checks are chained to it. */
  private async checkWaiting(): Promise<void> {
    this.isQueued = false;
    const venue = await this.known();
    if (venue === undefined) {
      const reason = "it was not checked, the log's key could not be read";
      const dropped = this.waiting.splice(0, this.waiting.length - MAX_WAITING);
      for (const { ack } of dropped) this.report(ack, reason);
      return;
    }
    for (let next = this.waiting.shift(); next !== undefined; next = this.waiting.shift()) {
      try {
        await this.check(venue, next);
      } catch (error) {
        this.report(next.ack, `the receipt cannot be read: ${error}`);
      }
    }
  }

  private async check(venue: VenueKey, { body, ack }: Waiting): Promise<void> {
    const { ackNonce, receipt: text, expectedBlock } = ack;
    if (text === undefined) {
      if (venue.issuesReceipts) this.report(ack, LEFT_OUT);
      return;
    }
    const context = {
      venueId: bytesFromHex(venue.venueId) ?? new Uint8Array(0),
      position: Number(ackNonce),
      requestHash: requestHashOf(body),
      address: bytesFromHex(this.address) ?? new Uint8Array(0),
      block: expectedBlock,
    };
    const receipt = decodeReceipt(text, context);
    const logKey = parseNoteKey(venue.logKey)?.publicKey;
    if (receipt === undefined || logKey === undefined) {
      this.report(ack, "the receipt cannot be read");
      return;
    }
    const file = receiptFile(venue.logKey, context, text, { request: body, ack });
    const reason = await receiptProblem(receipt, { logKey, verify: verifyEd25519 });
    if (reason !== null) {
      this.report(ack, reason, file);
      return;
    }
    this.kept.push(file);
    if (this.kept.length > KEPT) this.kept.shift();
  }

  /** The log's key: pinned, or as the venue showed it at the first acknowledgement. */
  private known(): Promise<VenueKey | undefined> {
    this.venue ??= this.readHonesty().then(
      (honesty) => ({ ...honesty, logKey: this.options.logKey ?? honesty.logKey }),
      (error: unknown) => {
        if (error instanceof PerpgateError && error.code === "no_transparency_log") return NO_LOG;
        // Asked again with the next receipt, which waits together with this one.
        this.venue = undefined;
        return undefined;
      },
    );
    return this.venue;
  }

  private report({ ackNonce }: PreconfirmAck, reason: string, file?: ReceiptFile): void {
    const { onReceiptProblem = warn } = this.options;
    callSafely(() => onReceiptProblem({ ackNonce, reason, file }));
  }
}

function warn({ ackNonce, reason }: ReceiptProblem): void {
  console.warn(`the receipt of acknowledgement ${ackNonce} is not kept: ${reason}`);
}

/** The acknowledgements in an answer: itself, or those of a batch. */
function acksIn(answer: unknown): PreconfirmAck[] {
  if (typeof answer !== "object" || answer === null) return [];
  if (isAck(answer)) return [answer];
  if (!("results" in answer) || !Array.isArray(answer.results)) return [];
  return answer.results.flatMap((result: unknown) => {
    if (typeof result !== "object" || result === null || !("ack" in result)) return [];
    return isAck(result.ack) ? [result.ack] : [];
  });
}

function isAck(value: unknown): value is PreconfirmAck {
  if (typeof value !== "object" || value === null) return false;
  return "ackNonce" in value && "expectedBlock" in value;
}
