/**
 * Mirrors over real sockets compared with the engine's book, through thousands of random commands with
 * disconnects and new subscriptions. After every frame the mirror must equal, level by level, the
 * book as the engine had it at that seq.
 */

import { isDeepStrictEqual } from "node:util";
import { until } from "@perpgate/journal/testing";
import { BookMirror } from "@perpgate/protocol/core";
import { Random } from "@perpgate/protocol/random";
import type { Venue } from "@perpgate/venue";
import { describe, expect, test } from "vitest";
import { runVenue } from "../venue/testing/running-venue.js";
import { OrderFlow } from "./testing/order-flow.js";
import { type Frame, StreamClient } from "./testing/stream-client.js";

const COMMANDS = Number(process.env.PERPGATE_STREAM_COMMANDS ?? 15_000);
const BATCH = 250;
/** Frames of changes that each mirror follows. */
const MIN_DELTAS = 10;
const SEED = Number(process.env.PERPGATE_STREAM_SEED ?? 1);
const STREAM = "book.BTCUSD";

type Sides = readonly [bids: readonly (readonly number[])[], asks: readonly (readonly number[])[]];

/** The book at each seq that a frame may have. */
class BookHistory {
  private readonly at = new Map<number, Sides>();
  private latest = 0;

  constructor(private readonly venue: Venue) {}

  /** To be called before anything is applied after the round of frames. */
  note(): void {
    const levels = this.venue.views.levels("BTCUSD");
    if (levels === undefined || levels.seq === this.latest) return;
    this.latest = levels.seq;
    const sides = [levels.bids, levels.asks].map((side) =>
      Array.from({ length: side.count }, (_, i) => [side.ticksAt(i), side.lotsAt(i)]),
    );
    this.at.set(levels.seq, [sides[0] ?? [], sides[1] ?? []]);
  }

  of(position: number): Sides {
    const sides = this.at.get(position);
    if (sides === undefined) throw new Error(`nobody looked at position ${position}`);
    return sides;
  }
}

/** A client that mirrors the book and compares after every frame. */
class MirrorClient {
  private readonly mirror = new BookMirror();
  private client: StreamClient | undefined;
  snapshots = 0;
  deltas = 0;
  faults: string[] = [];

  constructor(
    private readonly url: string,
    private readonly format: "packed" | "plain",
    private readonly history: BookHistory,
  ) {}

  get seq(): number {
    return this.mirror.seq;
  }

  get isConnected(): boolean {
    return this.client !== undefined;
  }

  async connect(): Promise<void> {
    const client = await StreamClient.connect(this.url);
    this.client = client;
    client.onFrame = (frame) => this.onFrame(frame);
    client.send({ op: "subscribe", streams: [STREAM], format: this.format });
  }

  resubscribe(): void {
    this.client?.send({ op: "subscribe", streams: [STREAM], format: this.format });
  }

  drop(): void {
    this.client?.socket.terminate();
    if (this.client !== undefined) this.client.onFrame = () => undefined;
    this.client = undefined;
  }

  private onFrame({ t, d }: Frame): void {
    if (t !== "book") return;
    if (d.type === "snapshot") this.snapshots++;
    else this.deltas++;
    const verdict = this.mirror.apply(d);
    if (verdict.kind !== "applied") {
      this.faults.push(`${JSON.stringify(verdict)} at ${String(d.seq)}`);
      return;
    }
    const [bids, asks] = this.history.of(this.mirror.seq);
    const isEqual =
      isDeepStrictEqual(this.mirror.levels("bid"), bids) &&
      isDeepStrictEqual(this.mirror.levels("ask"), asks);
    if (!isEqual) this.faults.push(`another book at ${this.mirror.seq}`);
  }
}

describe("the book stream", () => {
  test(`mirrors equal the engine's book through ${COMMANDS} commands (seed ${SEED})`, async () => {
    const at = await runVenue({ parameters: { maxOpenOrders: 500 } });
    const random = new Random(SEED);
    const flow = new OrderFlow(at.venue, random, at.nowMs);
    await flow.signIn();
    const history = new BookHistory(at.venue);
    history.note();
    // Frames are encoded between two batches of the log, so the book is recorded at the end of a batch.
    at.venue.observe({ onCommand: () => undefined, onBatchEnd: () => history.note() });
    const mirrors = (["packed", "plain", "packed", "plain"] as const).map(
      (format) => new MirrorClient(at.url, format, history),
    );
    await Promise.all(mirrors.map((mirror) => mirror.connect()));
    let last = 0;
    // A fast machine runs all commands within few rounds of frames: then it runs more.
    const areFew = () => mirrors.some(({ deltas }) => deltas <= MIN_DELTAS);
    for (let done = 0; done < COMMANDS || areFew(); done += BATCH) {
      last = await flow.run(BATCH);
      if (done % (20 * BATCH) === 0) await at.advance(200);
      const mirror = mirrors[random.below(mirrors.length)]!;
      const roll = random.below(8);
      if (roll === 0) mirror.drop();
      else if (roll === 1) mirror.resubscribe();
      if (roll < 6 && !mirror.isConnected) await mirror.connect();
    }
    // The last frame is due within a round; a new reader then shows the present itself.
    for (const mirror of mirrors) if (!mirror.isConnected) await mirror.connect();
    const present = history.of(at.venue.seq);
    expect(present[0].length + present[1].length).toBeGreaterThan(100);
    const witness = await StreamClient.connect(at.url);
    await witness.ask({ op: "subscribe", streams: [STREAM] });
    const { seq: published } = (await witness.next("book")).d;
    await Promise.all(mirrors.map((mirror) => until(() => mirror.seq >= Number(published))));
    expect(last).toBeGreaterThan(COMMANDS);
    for (const mirror of mirrors) {
      expect(mirror.faults).toEqual([]);
      expect(mirror.snapshots).toBeGreaterThan(0);
    }
    expect(at.streamFaults).toEqual([]);
  }, 600_000);
});
