/**
 * Checks the receipt of every order, amendment and cancel that a session is answered and keeps the last thousand, as files
 * that can be saved and judged: its signatures, that the JSON says what the signed leaf says, and that no
 * nonce was executed twice. The check does not delay an order's answer.
 */

import type { Honesty, PreconfirmAck } from "@perpgate/protocol";
import { bytesFromHex, readAnswerLeaf } from "@perpgate/protocol/core";
import {
  bytesFromBase64Url,
  type EvidenceFile,
  logKeyChain,
  type NoteKey,
  nonceOf,
  noteKeyText,
  type OpenedReceipt,
  openReceiptFile,
  type ProofMarket,
  parseLogKey,
  type Receipt,
  type ReceiptFile,
  receiptFile,
  receiptProblem,
  requestHashOf,
} from "@perpgate/protocol/receipts";
import { PerpgateError } from "../errors.js";
import { callSafely } from "../streams/subscription.js";
import { answerDifference } from "./answer-difference.js";
import { twiceEvidence } from "./twice-evidence.js";
import { verifyEd25519 } from "./verify-ed25519.js";

export type ReceiptProblemKind =
  /** It does not hold, or cannot be read: the venue has signed something else than it answered. */
  | "broken"
  /** The receipt is kept, and the JSON of the answer is not what its leaf says; or there is no leaf. */
  | "differs"
  /** The receipt is kept, and another one is for the same nonce at another position. */
  | "twice"
  /** The acknowledgement has none: the venue was stopping, or does not want to be bound. */
  | "left_out"
  /** More than a thousand waited for the log's key. */
  | "not_checked";

/** What is wrong with an acknowledgement, which has no receipt that holds or says something else. */
export interface ReceiptProblem {
  readonly ackNonce: string;
  readonly kind: ReceiptProblemKind;
  readonly reason: string;
  readonly file: ReceiptFile | undefined;
  /** Of `twice`: proves it to others. */
  readonly evidence?: EvidenceFile;
}

export interface ReceiptOptions {
  /**
   * The verifier key of the venue's log that you pinned. Default: the first one that the venue shows in
   * a session. With it, every acknowledgement without a receipt is reported, also if the venue says that
   * it issues none.
   */
  readonly logKey?: string;
  /** Called for a receipt that does not hold or contradicts its answer. Default: a warning on the console. */
  readonly onReceiptProblem?: (problem: ReceiptProblem) => void;
}

const KEPT = 1_000;
const NOT_CHECKED = "it was not checked, the log's key could not be read";
const UNREADABLE = "the receipt cannot be read";
const NO_MARKET = "the leaf is unreadable, or names a market that the venue does not list";
const NO_LEAF =
  "the venue has left out the leaf, so the answer cannot be compared with what it signed";
const LEFT_OUT =
  "the venue issues receipts and has left it out: send the same bytes again, until the answer has one";
/** Its answer is not signed, so it must not silence who has pinned the log's key. */
const NOT_ISSUED =
  "the venue says that it issues none; one is expected, since its log's key is pinned";
/** Acknowledgements that wait for the log's key. */
const MAX_WAITING = 1_000;

/** What the venue shows of itself. */
interface VenueKey extends Pick<Honesty, "logKey" | "venueId" | "issuesReceipts"> {
  /** In listing order: a leaf names a market by its index. */
  readonly markets: readonly ProofMarket[];
}

const NO_LOG: VenueKey = { logKey: "", venueId: "", issuesReceipts: false, markets: [] };
/** A venue before 0.2 does not have the path. */
const NO_LOG_CODES: ReadonlySet<string> = new Set(["no_transparency_log", "not_found"]);

/** What the answers to orders, amendments and cancels have in common. */
type Acknowledged = Pick<PreconfirmAck, "ackNonce" | "expectedBlock" | "receipt" | "leaf">;

interface Waiting {
  /** What was signed; empty for a cancel of its own, which is not. */
  readonly body: string;
  readonly ack: Acknowledged;
}

export class ReceiptKeeper {
  private readonly kept: ReceiptFile[] = [];
  /** The first kept receipt of each session and nonce; those of a batch share one. */
  private readonly firstOfNonce = new Map<string, ReceiptFile>();
  private readonly waiting: Waiting[] = [];
  private venue: Promise<VenueKey | undefined> | undefined;
  /** What the first answer with a log's key has shown. */
  private first: VenueKey | undefined;
  /** The pinned key and the others of its log, once another one was needed. */
  private chain: readonly NoteKey[] | undefined;
  private pending: Promise<void> = Promise.resolve();
  /** A `checkWaiting` has not begun; it will check all that waits then. */
  private isQueued = false;

  constructor(
    private readonly address: string,
    private readonly readVenue: () => Promise<VenueKey>,
    private readonly options: ReceiptOptions = {},
    /** The signed notes that say which log key succeeded which. */
    private readonly readSuccessors: () => Promise<readonly string[]> = async () => [],
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

  /**
   * Whether the receipt of an acknowledgement waits for the log's key.
   *
   * @example
   * if (session.receipts.isWaiting("48213")) await session.receipts.settled();
   */
  isWaiting(ackNonce: string): boolean {
    return this.waiting.some(({ ack }) => ack.ackNonce === ackNonce);
  }

  /** @internal Takes what a body was answered with; an empty one was not signed. */
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
    const venue = await this.knownForWaiting();
    if (venue === undefined) {
      const dropped = this.waiting.splice(0, this.waiting.length - MAX_WAITING);
      for (const { ack } of dropped) this.report(ack, "not_checked", NOT_CHECKED);
      return;
    }
    // Those that come meanwhile are of the next call.
    for (const next of this.waiting.splice(0)) {
      try {
        await this.check(venue, next);
      } catch (error) {
        this.report(next.ack, "broken", `${UNREADABLE}: ${error}`);
      }
    }
  }

  /** Reads it again if an answer does not fit it: the venue may have started with other settings. */
  private async knownForWaiting(): Promise<VenueKey | undefined> {
    const venue = await this.known();
    if (venue === undefined) return undefined;
    const isFitting = ({ ack }: Waiting) =>
      (ack.receipt !== undefined) === venue.issuesReceipts &&
      (ack.leaf === undefined || marketNamedBy(ack, venue) !== undefined);
    if (this.waiting.every(isFitting)) return venue;
    this.venue = undefined;
    return this.known();
  }

  private async check(venue: VenueKey, { body, ack }: Waiting): Promise<void> {
    const { ackNonce, receipt: text, leaf, expectedBlock } = ack;
    if (text === undefined) {
      if (venue.issuesReceipts) this.report(ack, "left_out", LEFT_OUT);
      else if (this.options.logKey !== undefined) this.report(ack, "left_out", NOT_ISSUED);
      return;
    }
    const context = {
      venueId: bytesFromHex(venue.venueId) ?? new Uint8Array(0),
      position: Number(ackNonce),
      requestHash: requestHashOf(body),
      address: bytesFromHex(this.address) ?? new Uint8Array(0),
      block: expectedBlock,
    };
    const pinned = parseLogKey(venue.logKey);
    if (pinned === undefined) {
      this.report(ack, "broken", UNREADABLE);
      return;
    }
    const fileOf = (logKey: NoteKey) =>
      receiptFile(noteKeyText(logKey), context, text, { request: body, ack });
    const opened = openReceiptFile(fileOf(pinned));
    if (typeof opened === "string") {
      this.report(ack, "broken", opened);
      return;
    }
    const { logKey, reason } = await this.certified(opened.receipt, pinned);
    const file = fileOf(logKey);
    if (reason !== null) {
      this.report(ack, "broken", reason, file);
      return;
    }
    const market = marketNamedBy(ack, venue);
    const compared = openReceiptFile({
      ...file,
      leaf,
      ...(market === undefined ? {} : { market }),
    });
    const isCompared = leaf !== undefined && typeof compared !== "string";
    this.keep(isCompared ? compared.file : file);
    if (isCompared) await this.compare(compared, ack);
    else this.report(ack, "differs", typeof compared === "string" ? compared : NO_LEAF, file);
  }

  /** The key of the log that certified the receipt's: the pinned one, or one that it leads to. */
  private async certified(receipt: Receipt, pinned: NoteKey) {
    const problemUnder = ({ publicKey }: NoteKey) =>
      receiptProblem(receipt, { logKey: publicKey, verify: verifyEd25519 });
    for (const logKey of this.chain ?? [pinned]) {
      if ((await problemUnder(logKey)) === null) return { logKey, reason: null };
    }
    const notes = await this.readSuccessors().catch(() => []);
    const chain = await logKeyChain(pinned, notes, verifyEd25519);
    if (typeof chain === "string") return { logKey: pinned, reason: chain };
    this.chain = chain;
    for (const logKey of chain) {
      if ((await problemUnder(logKey)) === null) return { logKey, reason: null };
    }
    return { logKey: pinned, reason: await problemUnder(pinned) };
  }

  private keep(file: ReceiptFile): void {
    this.kept.push(file);
    if (this.kept.length > KEPT) this.kept.shift();
  }

  /** Reports what a receipt that holds shows against its answer, or against an earlier receipt. */
  private async compare(opened: OpenedReceipt, ack: Acknowledged): Promise<void> {
    const { file } = opened;
    const difference = file.market === undefined ? NO_MARKET : answerDifference(opened);
    if (difference !== null) this.report(ack, "differs", difference, file);
    const nonce = nonceOf(opened);
    // A cancel that is executed again finds nothing to cancel.
    if (nonce === undefined) return;
    const key = `${opened.receipt.statement.session} ${nonce}`;
    const first = this.firstOfNonce.get(key);
    if (first === undefined) {
      this.firstOfNonce.set(key, file);
      const [oldest = key] = this.firstOfNonce.keys();
      if (this.firstOfNonce.size > KEPT) this.firstOfNonce.delete(oldest);
      return;
    }
    const evidence = await twiceEvidence(opened, [first]);
    if (evidence === undefined) return;
    const reason = `nonce ${nonce} was executed at position ${first.position}, too`;
    this.report(ack, "twice", reason, file, evidence);
  }

  /** The log's key, pinned or as the venue shows it, and whether the venue issues receipts. */
  private known(): Promise<VenueKey | undefined> {
    this.venue ??= this.readVenue().then(
      (shown) => this.withFirstKey(shown),
      (error: unknown) => {
        if (error instanceof PerpgateError && NO_LOG_CODES.has(error.code)) {
          return this.withFirstKey(NO_LOG);
        }
        // Asked again with the next receipt, which waits together with this one.
        this.venue = undefined;
        return undefined;
      },
    );
    return this.venue;
  }

  /** The answer is not signed: a later one may change whether receipts are issued, and no key. */
  private withFirstKey(shown: VenueKey): VenueKey {
    if (shown.logKey !== "") this.first ??= shown;
    const { logKey, venueId } = this.first ?? shown;
    return { ...shown, logKey: this.options.logKey ?? logKey, venueId };
  }

  private report(
    { ackNonce }: Acknowledged,
    kind: ReceiptProblemKind,
    reason: string,
    file?: ReceiptFile,
    evidence?: EvidenceFile,
  ): void {
    const { onReceiptProblem = warn } = this.options;
    const proof = evidence === undefined ? {} : { evidence };
    callSafely(() => onReceiptProblem({ ackNonce, kind, reason, file, ...proof }));
  }
}

/** The market that the answer's leaf names, as the venue lists it. */
function marketNamedBy({ leaf: text = "" }: Acknowledged, venue: VenueKey) {
  const leaf = readAnswerLeaf(bytesFromBase64Url(text) ?? new Uint8Array(0));
  const market = leaf === undefined ? undefined : venue.markets[leaf.market];
  if (market === undefined) return undefined;
  const { symbol, tickSize, lotSize } = market;
  return { symbol, tickSize, lotSize };
}

function warn({ ackNonce, reason }: ReceiptProblem): void {
  console.warn(`the receipt of acknowledgement ${ackNonce} is not kept: ${reason}`);
}

/** The acknowledgements in an answer: itself, or those of a batch. */
function acksIn(answer: unknown): Acknowledged[] {
  if (typeof answer !== "object" || answer === null) return [];
  if (isAck(answer)) return [answer];
  if (!("results" in answer) || !Array.isArray(answer.results)) return [];
  return answer.results.flatMap((result: unknown) => {
    if (typeof result !== "object" || result === null) return [];
    return [Reflect.get(result, "ack"), Reflect.get(result, "canceled")].filter(isAck);
  });
}

function isAck(value: unknown): value is Acknowledged {
  if (typeof value !== "object" || value === null) return false;
  return "ackNonce" in value && "expectedBlock" in value;
}
