/**
 * Random commands for a venue, seeded: traders who place, take and cancel around a moving price, so
 * that levels appear, change and disappear on both sides. They are submitted to the venue directly,
 * without signatures.
 */

import type { Random } from "@perpgate/protocol/random";
import { NO_EVIDENCE, type Venue, type VenueCommand } from "@perpgate/venue";
import { orderCommand, signInCommand } from "@perpgate/venue/testing";

const TRADERS = 8;
/** Above the names of a test's own traders. */
const FIRST_TRADER = 0xf0;
const TICK_MS = 200;

interface OpenOrder {
  readonly session: number;
  readonly id: number;
}

export class OrderFlow {
  private readonly sessions: number[] = [];
  private readonly open: OpenOrder[] = [];
  private nonce = 0;
  private middle = 650_000;
  private indexSlot = 0;

  constructor(
    private readonly venue: Venue,
    private readonly random: Random,
    private readonly nowMs: () => number,
  ) {}

  async signIn(): Promise<void> {
    for (let name = 1; name <= TRADERS; name++) {
      const { command } = signInCommand(FIRST_TRADER + name, "flow", this.nowMs());
      this.sessions.push(await this.submit(command));
    }
  }

  /** Submits commands in one batch; resolves with the seq of the last one. */
  async run(count: number): Promise<number> {
    const submitted: Promise<number>[] = [];
    for (let i = 0; i < count; i++) submitted.push(this.step());
    return Math.max(...(await Promise.all(submitted)));
  }

  private step(): Promise<number> {
    const roll = this.random.below(100);
    if (roll < 2) return this.moveIndex();
    if (roll < 40 && this.open.length > 0) return this.cancel();
    return this.place(roll >= 90);
  }

  private moveIndex(): Promise<number> {
    this.middle += this.random.below(41) - 20;
    this.indexSlot = Math.max(this.indexSlot + 1, Math.floor(this.nowMs() / TICK_MS));
    return this.submit({
      kind: "UpdateIndex",
      stampMs: this.nowMs(),
      market: 0,
      indexTicks: this.middle,
      slot: this.indexSlot,
    });
  }

  private cancel(): Promise<number> {
    const at = this.random.below(this.open.length);
    const [{ session, id } = { session: 0, id: 0 }] = this.open.splice(at, 1);
    return this.submit({ kind: "CancelOrder", stampMs: this.nowMs(), session, orderId: id });
  }

  private place(isTaking: boolean): Promise<number> {
    const session = this.sessions[this.random.below(this.sessions.length)] ?? 0;
    const side = this.random.below(2) === 0 ? 1 : -1;
    // Below the mid price it rests; above it, it takes.
    const away = isTaking ? -30 : 1 + this.random.below(400);
    const [price, dollars] = [this.middle - side * away, (1 + this.random.below(40)) / 10];
    const order = orderCommand(session, ++this.nonce, side > 0 ? "long" : "short", price, dollars);
    const command = { ...order, stampMs: this.nowMs() };
    return this.submit(command, (id) => this.open.push({ session, id }));
  }

  private submit(command: VenueCommand, rested?: (id: number) => void): Promise<number> {
    return this.venue.submitted(command, NO_EVIDENCE, (applied) => {
      const outcome = this.venue.views.outcome(applied);
      const isResting =
        outcome.kind === "acknowledged" && outcome.acknowledgement.status === "resting";
      if (isResting) rested?.(applied.seq);
      return applied.seq;
    });
  }
}
