/**
 * The results of the last orders, each followed from its acknowledgement to the log:
 *
 *   signed      the client has checked the receipt's signatures
 *   sealed      the block is sealed, and the page has checked that it holds this acknowledgement
 *   witnessed   a checkpoint of the log covers the block, and a cosignature of it holds under a key that
 *               the venue names
 *
 * Streams keep the order itself current: what rested may be filled or canceled later. A step that fails
 * is shown with its reason; only a step that is merely too early, or without an answer, is tried again.
 */

import type { Market, Order } from "@perpgate/protocol";
import {
  ConnectionError,
  checkOrderProof,
  checkPreconfirm,
  type PerpgateClient,
  PerpgateError,
  type ReceiptProblem,
  type Session,
} from "@perpgate/sdk";
import { Store } from "../state/store.js";
import { t } from "../text/texts.js";
import { isLive, type OrderResult, type SignedState } from "./order-result.js";

/** Sources for verifying proofs. */
export interface ProofSources {
  readonly client: Pick<PerpgateClient, "block" | "honesty">;
  markets(): readonly Market[];
}

const KEPT = 5;
/** Reads of a proof without an answer, while the line is up, after which it counts as failed. */
const MAX_LOST_READS = 3;
/**
 * A checkpoint follows its blocks within about a second. A witness that was slow is not in it, and may be
 * in a later one.
 */
const WITNESS_WAITS_MS = [500, 1_000, 2_000, 4_000, 8_000, 15_000, 30_000];
/** The server says that it is too early. */
const EARLY: ReadonlySet<string> = new Set(["not_sealed", "not_in_checkpoint"]);

export class ReceiptBook {
  readonly results = new Store<readonly OrderResult[]>([], "immediate");
  private lastSealed = 0;

  constructor(private readonly sources: ProofSources) {}

  add(session: Session, result: OrderResult): void {
    this.results.update((known) => [result, ...known].slice(0, KEPT));
    const { ackNonce, expectedBlock } = result.ack;
    this.checkReceipts(session);
    if (expectedBlock <= this.lastSealed) this.seal(session, ackNonce);
  }

  forget(): void {
    this.results.set([]);
  }

  /** The venue has sealed this block. */
  sealedUpTo(block: number, session: Session | undefined): void {
    if (block <= this.lastSealed) return;
    this.lastSealed = block;
    if (session === undefined) return;
    for (const { ack, seal } of this.results.get()) {
      if (seal === "soft" && ack.expectedBlock <= block) this.seal(session, ack.ackNonce);
    }
  }

  /** After a reconnection: blocks sealed during the outage are not on the stream. */
  reconnected(session: Session | undefined): void {
    // It may be another venue, whose blocks start at 1.
    this.lastSealed = 0;
    if (session === undefined) return;
    this.checkReceipts(session);
    for (const { ack, seal, witness } of this.results.get()) {
      this.change(ack.ackNonce, { lostReads: 0 });
      if (seal === "soft" || seal === "sealed") void this.prove(session, ack.ackNonce);
      else if (seal === "proven" && witness === "pending") void this.witness(session, ack.ackNonce);
    }
  }

  /** Tries a step again that failed. */
  retry(session: Session, ackNonce: string): void {
    this.change(ackNonce, { failure: undefined, lostReads: 0 });
    if (this.of(ackNonce)?.witness === "missing") this.change(ackNonce, { witness: "pending" });
    this.seal(session, ackNonce);
  }

  /** An order has changed at the venue. */
  orderChanged({ orderId, ...order }: Order): void {
    for (const result of this.results.get()) {
      if (result.ack.orderId !== orderId) continue;
      const { status, filledSize, remainingSize, avgFillPrice, reason } = order;
      this.change(result.ack.ackNonce, {
        live: { status, filledSize, remainingSize, avgFillPrice, reason },
      });
    }
  }

  /** Orders of the results that were open when last seen. */
  openOrderIds(): readonly string[] {
    return this.results
      .get()
      .filter(isLive)
      .map(({ ack }) => ack.orderId);
  }

  receiptProblem(problem: ReceiptProblem): void {
    const { signed, text } = shownProblem(problem);
    this.change(problem.ackNonce, { signed, receiptFailure: text });
  }

  private checkReceipts(session: Session): void {
    for (const { ack, signed } of this.results.get()) {
      if (signed === "checking") void this.checkReceipt(session, ack.ackNonce);
    }
  }

  private async checkReceipt(session: Session, ackNonce: string): Promise<void> {
    await session.receipts.settled();
    if (this.of(ackNonce)?.signed !== "checking") return;
    // The log's key could not be read: the next order or connection tries again.
    if (session.receipts.isWaiting(ackNonce)) return;
    const isHeld = session.receipts.of(ackNonce) !== undefined;
    this.change(ackNonce, { signed: isHeld ? "held" : "none" });
  }

  private seal(session: Session, ackNonce: string): void {
    this.change(ackNonce, { seal: "sealed" });
    void this.prove(session, ackNonce);
  }

  private async prove(session: Session, ackNonce: string): Promise<void> {
    try {
      const proof = await session.preconfirm(ackNonce);
      const block = await this.sources.client.block(proof.block);
      const answered = this.of(ackNonce)?.ack;
      if (answered === undefined) return;
      const markets = this.sources.markets();
      const { isProven, problems } = checkPreconfirm({ proof, block, markets, answered });
      if (!isProven) {
        this.change(ackNonce, { seal: "differs", problems });
        return;
      }
      this.change(ackNonce, { seal: "proven", leaf: proof.index, failure: undefined });
      void this.witness(session, ackNonce);
    } catch (error) {
      const seal = this.of(ackNonce)?.seal;
      // After a reconnection another call may have ended it.
      if (seal !== "soft" && seal !== "sealed") return;
      if (isPassing(error)) this.noteLostRead(ackNonce, error);
      // The next block tries again.
      else if (isEarly(error)) this.change(ackNonce, { seal: "soft" });
      else this.fail(ackNonce, error);
    }
  }

  /** The next block, or the next connection, tries again. */
  private noteLostRead(ackNonce: string, error: unknown): void {
    const lostReads = (this.of(ackNonce)?.lostReads ?? 0) + 1;
    this.change(ackNonce, { seal: "soft", lostReads });
    if (lostReads >= MAX_LOST_READS) this.fail(ackNonce, error);
  }

  private fail(ackNonce: string, error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    this.change(ackNonce, {
      seal: "unproven",
      failure: t.proof.couldNotCheck(reason),
    });
  }

  private async witness(session: Session, ackNonce: string): Promise<void> {
    let problem: unknown;
    for (const waitMs of WITNESS_WAITS_MS) {
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      const result = this.of(ackNonce);
      // After a reconnection another call may have ended it.
      if (result?.witness !== "pending" && result?.witness !== "logged") return;
      const block = result.ack.expectedBlock;
      problem = undefined;
      try {
        const { checkpoint, witnesses } = await this.sources.client.honesty();
        if (checkpoint === null || checkpoint.size < block) continue;
        const isLogged = this.of(ackNonce)?.witness === "logged";
        if (isLogged && checkpoint.witnesses.length === 0) continue;
        const text = await session.preconfirmProof(ackNonce);
        await this.checkProofFile(session, ackNonce, text, witnesses);
        if (this.of(ackNonce)?.witness !== "logged") return;
      } catch (error) {
        problem = error;
        if (!isPassing(error) && !isEarly(error)) break;
      }
    }
    // The next connection tries again.
    if (problem === undefined || problem instanceof ConnectionError || isEarly(problem)) return;
    if (this.of(ackNonce)?.witness !== "pending") return;
    const reason = problem instanceof Error ? problem.message : String(problem);
    this.change(ackNonce, { witness: "missing", failure: t.proof.noFile(reason) });
  }

  /** The log's key is the one that signed the receipt, if there is one. */
  private async checkProofFile(
    session: Session,
    ackNonce: string,
    text: string,
    witnessKeys: readonly string[],
  ): Promise<void> {
    const logKey = session.receipts.of(ackNonce)?.logKey;
    const checked = await checkOrderProof(text, { logKey, witnessKeys, require: 0 });
    if (typeof checked === "string") {
      this.change(ackNonce, {
        witness: "missing",
        failure: t.proof.fileDoesNotHold(checked),
      });
      return;
    }
    const witnesses = checked.cosigners;
    const witness = witnesses.length > 0 ? "witnessed" : "logged";
    this.change(ackNonce, { witness, witnesses, proofFile: text });
  }

  private of(ackNonce: string): OrderResult | undefined {
    return this.results.get().find(({ ack }) => ack.ackNonce === ackNonce);
  }

  private change(ackNonce: string, changes: Partial<OrderResult>): void {
    this.results.update((known) =>
      known.map((result) =>
        result.ack.ackNonce === ackNonce ? { ...result, ...changes } : result,
      ),
    );
  }
}

interface ShownProblem {
  readonly signed: SignedState;
  readonly title: string;
  readonly text: string;
}

/** What the page says about a receipt that is not kept. */
export function shownProblem({ kind, reason }: ReceiptProblem): ShownProblem {
  switch (kind) {
    case "broken":
      return {
        signed: "broken",
        title: t.proof.brokenTitle,
        text: t.proof.broken(reason),
      };
    case "differs":
      return {
        signed: "broken",
        title: t.proof.differsTitle,
        text: t.proof.answerDiffers(reason),
      };
    case "twice":
      return {
        signed: "broken",
        title: t.proof.twiceTitle,
        text: t.proof.twice(reason),
      };
    case "left_out":
      return {
        signed: "missing",
        title: t.proof.leftOutTitle,
        text: t.proof.leftOutText,
      };
    case "not_checked":
      return {
        signed: "none",
        title: t.proof.notCheckedTitle,
        text: t.proof.notCheckedText,
      };
  }
}

/** Whether another try may get an answer: it says nothing about the proof. */
function isPassing(error: unknown): boolean {
  if (error instanceof ConnectionError) return true;
  if (!(error instanceof PerpgateError)) return false;
  return error.status === 408 || error.status === 429 || error.status >= 500;
}

function isEarly(error: unknown): boolean {
  return error instanceof PerpgateError && EARLY.has(error.code);
}
