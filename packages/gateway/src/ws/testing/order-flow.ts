/**
 * Random commands for a venue, seeded: traders who place, take and cancel around a moving price, so
 * that levels appear, change and disappear on both sides. They are submitted to the venue directly,
 * without signatures.
 */

import type { Random } from "@perpgate/protocol/random";
import { NO_EVIDENCE, type Venue } from "@perpgate/venue";
import type { VenueCommand } from "../../venue/venue-link.js";

const KEY = "ab".repeat(32);
const TRADERS = 8;
const LEVERAGE = 10;
const HOUR_MS = 3_600_000;
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
      const hex = `f${name.toString(16)}`;
      const session = await this.submit({
        kind: "OpenSession",
        stampMs: this.nowMs(),
        address: hex.padStart(40, "0"),
        key: KEY,
        tokenHash: hex.padStart(64, "0"),
        expiresAtMs: this.nowMs() + 24 * HOUR_MS,
        siweNonce: `flow${hex}`,
        siweNonceUntilMs: this.nowMs() + HOUR_MS,
        maxOrderNotionalMicros: 0,
        maxNotionalMicros: 0,
        markets: [],
      });
      this.sessions.push(session);
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
    this.nonce++;
    const command: VenueCommand = {
      kind: "PlaceOrder",
      stampMs: this.nowMs(),
      session,
      key: KEY,
      nonce: this.nonce,
      market: 0,
      side,
      type: 1,
      marginMicros: (1 + this.random.below(40)) * 100_000,
      leverage: LEVERAGE,
      priceTicks: this.middle - side * away,
      reduceOnly: false,
      postOnly: false,
    };
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
