/** Sessions with cancel-on-disconnect that are lost together, in accounts with many orders. */
import { expect, test } from "vitest";
import { type Command, STOP_ORDER } from "../../commands.js";
import { Engine } from "../../engine.js";
import type { VenueEvent } from "../../events/event-table.js";
import { END } from "../../reasons.js";
import { addressOf, genesis, openSession, plainOrder } from "../commands.js";
import { comparedEngine } from "../compared.js";
import { indexSlot } from "../index-slot.js";
import { BTC, MICROS, venueConfig } from "../scenarios/listing.js";
import { START_MS } from "../scenarios/venue.js";

const PRICE = 500_000;
const ACCOUNTS = 40;
const SESSIONS = 6;

/** Each account: 100 stops of a session that stays, and one of each that expires within a second. */
class Scene {
  readonly engine: Engine;
  private readonly apply: (command: Command) => VenueEvent[];
  readonly expiring: number[] = [];

  constructor() {
    const { engine, apply } = comparedEngine();
    this.engine = engine;
    this.apply = apply;
    const credit = { attestorKind: "dev", devCreditMicros: 5_000 * MICROS } as const;
    apply(genesis(START_MS, venueConfig([BTC], credit)));
    const slot = indexSlot(engine.state, 0);
    apply({ kind: "UpdateIndex", stampMs: START_MS, market: 0, indexTicks: PRICE, slot });
    for (let account = 1; account <= ACCOUNTS; account++) this.open(addressOf(account));
  }

  private open(address: string): void {
    const staying = this.signIn(address, 86_400_000);
    for (let i = 0; i < 100; i++) this.stop(staying);
    for (let i = 0; i < SESSIONS; i++) {
      const session = this.signIn(address, 800);
      const option = { stampMs: START_MS, session, cancelOnDisconnect: true };
      this.apply({ kind: "SetSessionOption", ...option });
      this.expiring.push(this.stop(session));
    }
  }

  private signIn(address: string, livesMs: number): number {
    const name = `${this.engine.seq}`;
    const expiresAtMs = START_MS + livesMs;
    const texts = { tokenHash: name, siweNonce: name };
    this.apply(openSession({ stampMs: START_MS, address, expiresAtMs, ...texts }));
    return this.engine.seq;
  }

  private stop(session: number): number {
    const stop = { type: STOP_ORDER, priceTicks: PRICE + 100_000 } as const;
    const { seq } = this.engine;
    const events = this.apply(plainOrder({ stampMs: START_MS, session, nonce: seq, ...stop }));
    expect(events.map(({ kind }) => kind)).not.toContain("CommandRefused");
    return seq + 1;
  }

  /** Applied to a restored engine, too. */
  tick(): VenueEvent[] {
    const { engine } = this;
    const tick = { kind: "Tick", slot: engine.state.lastTickMs / 200 + 1 } as const;
    const twin = Engine.restore(engine.snapshot());
    const events = this.apply(tick);
    expect(twin.apply(tick).decode()).toEqual(events);
    expect(Buffer.compare(twin.snapshot(), engine.snapshot())).toBe(0);
    return events;
  }
}

test("40 accounts with 106 orders and six sessions that expire: all in the first tick, restored in between", () => {
  const scene = new Scene();
  for (let i = 0; i < 3; i++) scene.tick();
  const ended: number[] = [];
  const perTick: number[] = [];
  for (let i = 0; i < 4; i++) {
    const ends = scene.tick().filter((event) => event.kind === "OrderEnded");
    expect(ends.filter(({ reason }) => reason !== END.disconnected)).toEqual([]);
    ended.push(...ends.map(({ orderId }) => orderId));
    perTick.push(ends.length);
  }
  // Each account counts 107 of the 16,384 looks.
  expect(perTick).toEqual([ACCOUNTS * SESSIONS, 0, 0, 0]);
  expect(ended).toEqual(scene.expiring);
});
