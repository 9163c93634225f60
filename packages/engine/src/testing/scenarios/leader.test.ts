/** A core leads: whose batches count, and who is connected while edges look for the new leader. */
import { describe, expect, test } from "vitest";
import type { CoreLeads } from "../../commands.js";
import { TICKS_MISSED } from "../../config.js";
import { Engine } from "../../engine.js";
import { END } from "../../reasons.js";
import type { DropReason } from "../../state/writers.js";
import { isConnected } from "../../writers/reading.js";
import { writerId } from "../sole-writer.js";
import { Gateway, writes } from "./gateways.js";
import type { Trader } from "./trader.js";
import { Venue } from "./venue.js";

const FIRST_RUN = 2 ** 36;

/** A core's process, from its claim on. */
class Core {
  readonly run: string;

  constructor(
    private readonly venue: Venue,
    readonly epoch: number,
    changes: Partial<CoreLeads> = {},
  ) {
    this.run = writerId(FIRST_RUN + epoch);
    const terms = { epoch, run: this.run, core: "core-1", versions: [2, 3] as const };
    const keys = { receiptKey: "", certificate: "" };
    const claim = { kind: "CoreLeads", stampMs: venue.now, ...terms, ...keys, ...changes } as const;
    const dropped = this.sends(claim);
    if (dropped !== null) throw new Error(dropped);
  }

  sends(...commands: Parameters<typeof writes>[3]): DropReason | null {
    return writes(this.venue, this.run, this.epoch, commands);
  }

  ticks(times: number): void {
    for (let i = 0; i < times; i++) {
      const slot = this.venue.engine.state.lastTickMs / 200 + 1;
      this.sends({ kind: "Tick", slot });
    }
  }

  connects(session: number): void {
    this.sends({ kind: "SessionConnected", stampMs: this.venue.now, session });
  }

  disconnects(session: number): void {
    this.sends({ kind: "SessionDisconnected", stampMs: this.venue.now, session });
  }
}

/** Alice has an order that ends with her connection, which she has at a gateway. */
function scene(): { venue: Venue; alice: Trader; gateway: Gateway } {
  const venue = new Venue();
  const alice = venue.trader("alice", 10_000);
  alice.buys("limit", { margin: 10, price: 49_000 });
  const { session } = alice;
  venue.apply({ kind: "SetSessionOption", stampMs: venue.now, session, cancelOnDisconnect: true });
  const gateway = new Gateway(venue, "a");
  gateway.connects(session);
  return { venue, alice, gateway };
}

describe("batches once a core leads", () => {
  test("those of writers, of the leader before and of other epochs are dropped", () => {
    const { venue, gateway } = scene();
    const first = new Core(venue, 1);
    expect(venue.events.map(({ kind }) => kind)).toEqual([
      "WriterEnded",
      "WriterEnded",
      "LeaderChanged",
    ]);
    expect(gateway.sends()).toBe("not_leading");
    expect(gateway.joins()).toBe("not_leading");
    expect(first.sends()).toBeNull();
    const second = new Core(venue, 2);
    expect(venue.events).toEqual([{ kind: "LeaderChanged", epoch: 2, leader: venue.engine.seq }]);
    expect(first.sends()).toBe("not_leading");
    expect(writes(venue, second.run, 1, [])).toBe("not_leading");
    expect(writes(venue, second.run, 3, [])).toBe("not_leading");
    expect(() => new Core(venue, 2)).toThrow("not_leading");
    expect(() => new Core(venue, 4)).toThrow("not_leading");
    expect(() => new Core(venue, 3, { epoch: 4 })).toThrow("not_a_claim");
    expect(second.sends()).toBeNull();
  });

  test("a refused claim leaves the leader", () => {
    const { venue } = scene();
    const first = new Core(venue, 1);
    new Core(venue, 2, { core: "No name" });
    expect(venue.refusal).toBe("invalid_command");
    expect(first.sends()).toBeNull();
    expect(new Core(venue, 2).sends()).toBeNull();
  });

  test("version 2 knows no leader", () => {
    const venue = new Venue({ version: 2 });
    expect(() => new Core(venue, 1)).toThrow("writer_unknown");
  });

  test("a leader asks for any time, alone", () => {
    const { venue } = scene();
    const core = new Core(venue, 1);
    const stampMs = venue.now + 3_600_000;
    core.sends({ kind: "AskTime", stampMs });
    expect(venue.now).toBe(stampMs);
  });
});

describe("connections across a change of leader", () => {
  test("who comes back within 25 ticks stays connected, who does not is lost with the 25th", () => {
    const { venue, alice } = scene();
    const core = new Core(venue, 1);
    core.ticks(TICKS_MISSED - 1);
    expect([isConnected(venue.engine.state, alice.session), alice.openOrders()]).toEqual([true, 1]);
    core.ticks(1);
    expect(venue.happened("OrderEnded").map(({ reason }) => reason)).toEqual([END.disconnected]);
    expect(isConnected(venue.engine.state, alice.session)).toBe(false);
  });

  test("a connection announced again, closed while another may return, closes with the 25th", () => {
    const { venue, alice } = scene();
    const core = new Core(venue, 1);
    core.connects(alice.session);
    core.disconnects(alice.session);
    expect(alice.openOrders()).toBe(1);
    core.ticks(TICKS_MISSED);
    expect(alice.openOrders()).toBe(0);
  });

  test("once it has come back, its end counts immediately after the 25 ticks", () => {
    const { venue, alice } = scene();
    const core = new Core(venue, 1);
    core.connects(alice.session);
    core.ticks(TICKS_MISSED);
    expect(alice.openOrders()).toBe(1);
    core.disconnects(alice.session);
    expect(alice.openOrders()).toBe(0);
  });

  test("leaders that follow each other sooner begin the 25 ticks again, and lose nobody", () => {
    const { venue, alice } = scene();
    for (let epoch = 1; epoch <= 70; epoch++) new Core(venue, epoch).ticks(TICKS_MISSED - 1);
    venue.engine = Engine.restore(venue.engine.snapshot());
    expect(alice.openOrders()).toBe(1);
    const core = new Core(venue, 71);
    core.connects(alice.session);
    core.ticks(2 * TICKS_MISSED);
    expect(alice.openOrders()).toBe(1);
  });
});

describe("a dead-man's switch across a change of leader", () => {
  function arm(venue: Venue, { session }: Trader, core: Core, afterMs: number): void {
    core.sends({ kind: "CancelAfter", stampMs: venue.now, session, afterMs });
  }

  test("one that became due while nobody led waits until its owner can disarm it", () => {
    const { venue, alice } = scene();
    arm(venue, alice, new Core(venue, 1), 2_000);
    const core = new Core(venue, 2);
    core.connects(alice.session);
    core.sends({ kind: "AskTime", stampMs: venue.now + 10_000 });
    core.ticks(TICKS_MISSED - 2);
    expect(alice.openOrders()).toBe(1);
    arm(venue, alice, core, 0);
    core.ticks(TICKS_MISSED);
    expect(alice.openOrders()).toBe(1);
  });

  test("without a word of its owner it fires after the 25 ticks", () => {
    const { venue, alice } = scene();
    arm(venue, alice, new Core(venue, 1), 2_000);
    const core = new Core(venue, 2);
    core.connects(alice.session);
    core.sends({ kind: "AskTime", stampMs: venue.now + 10_000 });
    core.ticks(TICKS_MISSED);
    expect(alice.openOrders()).toBe(1);
    core.ticks(1);
    expect(alice.openOrders()).toBe(0);
  });
});
