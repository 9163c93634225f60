/**
 * What happens to a message at its turn: it is judged, taken into the chain, queued for the mirror,
 * compared with the batch in flight, and delivered. All of it in one synchronous call.
 */

import { type Batch, encodeMirrored } from "@perpgate/journal";
import { Agreement, isMajority, type WriterView } from "./agreement.js";
import { batchAt, type LogHooks, type Mirror } from "./batch.js";
import type { Chain } from "./chain.js";
import type { Drops } from "./drops.js";
import { ClusterError, textOf } from "./errors.js";
import type { Incoming } from "./incoming.js";
import { judge } from "./judge.js";
import type { Publisher } from "./publisher.js";

export class Delivery {
  onBatch: ((batch: Batch) => void) | undefined;
  private readonly agreement = new Agreement(() => performance.now());
  private isOver = false;
  private isJudging = false;

  constructor(
    private readonly stream: string,
    private readonly mirror: Mirror,
    private readonly hooks: LogHooks,
    private readonly chain: Chain,
    private readonly publisher: Publisher,
    private readonly drops: Drops,
    private readonly fail: (error: ClusterError) => void,
  ) {}

  /** Writers heard in the last 5 s. */
  views(): readonly (WriterView & { readonly isLive: boolean })[] {
    const { hooks } = this;
    return this.agreement.views().map((view) => ({ ...view, isLive: hooks.isLive(view.writer) }));
  }

  /** Called by the client library, which must not see an error. */
  receive(message: Incoming): void {
    if (this.isOver) return;
    try {
      this.deliver(message);
    } catch (error) {
      const { sequence } = message;
      const text = `stopped at sequence ${sequence}: ${textOf(error)}`;
      this.fail(new ClusterError("failed", text, { sequence, cause: error }));
    }
  }

  /**
   * From now on a lost majority stops the log. Not while catching up: the writers that outvote a
   * disagreeing one may follow.
   */
  startJudging(): void {
    this.isJudging = true;
    this.checkMajority();
  }

  end(): void {
    this.isOver = true;
  }

  checkMajority(): void {
    if (!this.isJudging || this.isOver) return;
    const { ownWriter } = this.publisher;
    const count = this.agreement.count(ownWriter, (writer) => this.hooks.isLive(writer));
    if (isMajority(count)) return;
    const sequence = this.chain.last;
    this.fail(
      new ClusterError(
        "diverged",
        `at sequence ${sequence} only ${count.agree} of ${count.agree + count.disagree} gateways ` +
          "heard in the last 5 s have this gateway's log, itself included: compare the mirrors",
        { sequence },
      ),
    );
  }

  private deliver(incoming: Incoming): void {
    const { hooks } = this;
    const { sequence, subject, data } = incoming;
    const judgement = judge(this.stream, this.chain, incoming, hooks);
    const { verdict, message, agrees } = judgement;
    // A core leads the log: its epochs are no matter of a log of many writers.
    if (message?.isFenced === true) throw new ClusterError("failed", "a core leads this log");
    const chain = this.chain.append(subject, data);
    this.mirror
      .append(sequence, encodeMirrored({ verdict, chain, subject, message: data }))
      .catch((error: unknown) => this.mirrorFailed(sequence, error));
    if (verdict !== "sound") this.drops.add(incoming, judgement);
    if (message !== undefined) this.agreement.hear(message.writer, agrees, incoming.storedMs);
    this.publisher.deliveredAt(sequence, subject, message);
    // The publisher found a contradiction.
    if (this.isOver) return;
    this.onBatch?.(batchAt(sequence, verdict, message));
    if (agrees === false) this.checkMajority();
  }

  private mirrorFailed(sequence: number, error: unknown): void {
    const text = `the mirror did not store sequence ${sequence}: ${textOf(error)}`;
    this.fail(new ClusterError("failed", text, { sequence, cause: error }));
  }
}
