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
import { verifyEd25519 } from "./verify-ed25519.js";

/** A receipt that does not hold: the venue has signed something else than it answered, or nothing. */
export interface ReceiptProblem {
  readonly ackNonce: string;
  readonly reason: string;
  readonly file: ReceiptFile | undefined;
}

export interface ReceiptOptions {
  /** The verifier key of the venue's log that you pinned. Default: the one that the venue shows first. */
  readonly logKey?: string;
  /** Called for a receipt that does not hold. Default: a warning on the console. */
  readonly onReceiptProblem?: (problem: ReceiptProblem) => void;
}

const KEPT = 1_000;

export class ReceiptKeeper {
  private readonly kept: ReceiptFile[] = [];
  private venue: Promise<Pick<Honesty, "logKey" | "venueId"> | undefined> | undefined;
  private pending: Promise<void> = Promise.resolve();

  constructor(
    private readonly address: string,
    private readonly readHonesty: () => Promise<Pick<Honesty, "logKey" | "venueId">>,
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
   * Resolves once the receipts of all answers so far are checked.
   *
   * @example
   * await session.receipts.settled();
   * console.log(session.receipts.files.length);
   */
  settled(): Promise<void> {
    return this.pending;
  }

  /** @internal Takes what a signed body was answered with. */
  take(body: string, answer: unknown): void {
    const acks = acksIn(answer);
    if (acks.length === 0) return;
    this.pending = this.pending.then(async () => {
      for (const ack of acks) await this.check(body, ack);
    });
  }

  private async check(body: string, ack: PreconfirmAck): Promise<void> {
    const { ackNonce, receipt: text, expectedBlock } = ack;
    if (text === undefined) return;
    const venue = await this.known();
    if (venue === undefined) return;
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
      this.report({ ackNonce, reason: "the receipt cannot be read", file: undefined });
      return;
    }
    const file = receiptFile(venue.logKey, context, text, { request: body, ack });
    const reason = await receiptProblem(receipt, { logKey, verify: verifyEd25519 });
    if (reason !== null) {
      this.report({ ackNonce, reason, file });
      return;
    }
    this.kept.push(file);
    if (this.kept.length > KEPT) this.kept.shift();
  }

  /** The log's key: pinned, or as the venue showed it when the first receipt came. */
  private known(): Promise<Pick<Honesty, "logKey" | "venueId"> | undefined> {
    this.venue ??= this.readHonesty().then(
      (honesty) => ({ ...honesty, logKey: this.options.logKey ?? honesty.logKey }),
      () => {
        // Asked again with the next receipt.
        this.venue = undefined;
        return undefined;
      },
    );
    return this.venue;
  }

  private report(problem: ReceiptProblem): void {
    const { onReceiptProblem = warn } = this.options;
    onReceiptProblem(problem);
  }
}

function warn({ ackNonce, reason }: ReceiptProblem): void {
  console.warn(`the receipt of acknowledgement ${ackNonce} does not hold: ${reason}`);
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
  return typeof value === "object" && value !== null && "receipt" in value && "ackNonce" in value;
}
