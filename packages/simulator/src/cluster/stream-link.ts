/**
 * A gateway's connection to the stream, as a log of its sequencer: publishes the batch in flight every
 * 250 ms, reads in order, judges every message by the chain, and stops when the stream is not the one
 * that it has read.
 */
import {
  type Batch,
  type BatchId,
  encodeMessage,
  type LogSeq,
  type Message,
  type Reading,
} from "@perpgate/journal";
import type { Random } from "@perpgate/protocol/random";
import type { SequencedLog } from "@perpgate/venue";
import type { ChainedReader } from "./chain.js";
import { ModelDoubt } from "./doubt.js";
import type { ModelMessage, ModelStream } from "./model-stream.js";
import type { SimulatedProcess } from "./process.js";

const REPUBLISH_MS = 250;
const WATCH_MS = 1_000;
const BELOW_MS = 10_000;
const HEARD_MS = 5_000;

/** How messages travel; mutable, since it gets better at the end of a run. */
export interface Network {
  lost: number;
  slow: number;
  /** Publishes that are held for so long that their writer has mostly ended. */
  late: number;
}

interface LinkHooks {
  lastBlock(): { readonly number: number; readonly hash: Uint8Array };
  blockHash(number: number): Uint8Array | undefined;
  isLive(writer: string): boolean;
}

/** The stream is not the one that this gateway has read. */
export class Diverged extends Error {
  override readonly name = "Diverged";
}

interface InFlight {
  readonly id: BatchId;
  readonly bytes: Uint8Array;
  acknowledged: number | undefined;
}

export class StreamLink implements SequencedLog {
  readonly stopped: Promise<Error>;
  private stop: (error: Error) => void = () => undefined;
  private isStopped = false;
  private inFlight: InFlight | undefined;
  private writer = "";
  private ownLast = 0;
  private onBatch: (batch: Batch) => void = () => undefined;
  private isReading = false;
  private liveAt = 0;
  private onLive: () => void = () => undefined;
  private readonly heard = new Map<string, { atMs: number; agrees: boolean }>();
  private readonly doubt: ModelDoubt;
  private cutUntilMs = 0;
  private belowSinceMs: number | undefined;
  private readonly ends: (() => void)[] = [];

  constructor(
    private readonly process: SimulatedProcess,
    private readonly stream: ModelStream,
    private readonly network: Network,
    private readonly random: Random,
    readonly reader: ChainedReader,
    private readonly hooks: LinkHooks,
  ) {
    this.stopped = new Promise((resolve) => {
      this.stop = resolve;
    });
    this.doubt = new ModelDoubt(process.time, stream, reader, (sequence) =>
      this.diverge(`message ${sequence} is not the one that was read`),
    );
  }

  append(id: BatchId, records: readonly Uint8Array[]): Promise<void> {
    if (this.inFlight !== undefined) throw new Error("a batch is in flight");
    if (id.writer !== this.writer) this.ownLast = 0;
    this.writer = id.writer;
    const { reader } = this;
    const claim = { seq: reader.last, chain: reader.head };
    const bytes = encodeMessage({ ...id, claim, block: this.hooks.lastBlock(), records });
    const batch = { id, bytes, acknowledged: undefined };
    this.inFlight = batch;
    this.send(batch);
    return Promise.resolve();
  }

  read(_from: LogSeq, onBatch: (batch: Batch) => void): Reading {
    this.onBatch = onBatch;
    this.liveAt = this.stream.last;
    const live = new Promise<void>((resolve) => {
      this.onLive = resolve;
    });
    this.ends.push(this.stream.follow(() => this.readSoon()));
    this.ends.push(this.process.every(WATCH_MS, () => this.watch()));
    this.readSoon();
    return { live, close: () => undefined };
  }

  /** For some time nothing that it publishes arrives. */
  cut(ms: number): void {
    this.cutUntilMs = this.process.time.nowMs + ms;
  }

  mend(): void {
    this.cutUntilMs = 0;
  }

  abandon(): void {
    this.inFlight = undefined;
  }

  close(): Promise<void> {
    this.end();
    return Promise.resolve();
  }

  /** No callbacks of the stream from now on. */
  end(): void {
    this.isStopped = true;
    this.inFlight = undefined;
    for (const end of this.ends.splice(0)) end();
  }

  private send(batch: InFlight): void {
    if (this.inFlight !== batch || this.isStopped) return;
    const { random, network } = this;
    const { time } = this.process;
    const cutMs = Math.max(0, this.cutUntilMs - time.nowMs);
    // Behind a cut most are lost, and some are held.
    if (random.chance(cutMs > 0 ? 0.8 : network.lost)) {
      if (cutMs === 0) this.stream.counts.lostOnTheWay++;
    } else {
      const publish = {
        writer: batch.id.writer,
        bytes: batch.bytes,
        expectedLast: this.ownLast,
        onAcknowledged: (sequence: number) => this.answer(batch, sequence),
      };
      time.after(cutMs + this.delay(), () => this.stream.arrive(publish));
    }
    this.process.after(REPUBLISH_MS, () => this.send(batch));
  }

  private delay(): number {
    const { random, network } = this;
    const { counts } = this.stream;
    if (random.chance(network.late)) {
      counts.late++;
      return 1_000 + random.below(14_000);
    }
    if (!random.chance(network.slow)) return 1 + random.below(4);
    counts.slow++;
    return random.below(600);
  }

  /** The server's answer arrives, or is lost. It settles nothing, but it can contradict. */
  private answer(batch: InFlight, sequence: number): void {
    if (this.random.chance(this.network.lost)) return;
    this.process.after(this.delay(), () => {
      if (this.inFlight !== batch) return;
      const isSecond = batch.acknowledged !== undefined && batch.acknowledged !== sequence;
      batch.acknowledged = sequence;
      // Without the server's comparison a batch is stored, and acknowledged, more than once.
      if (this.isPast(sequence) || (isSecond && this.stream.isStrict)) {
        this.diverge(`acknowledged at ${sequence}, applied up to ${this.reader.last}`);
      }
    });
  }

  private isPast(sequence: number): boolean {
    return sequence <= this.reader.last;
  }

  private readSoon(): void {
    if (this.isReading || this.isStopped) return;
    if (this.reader.last >= this.stream.last) {
      if (this.reader.last >= this.liveAt) this.onLive();
      return;
    }
    this.isReading = true;
    const { random, network } = this;
    const delay = random.chance(network.slow) ? random.below(400) : 1 + random.below(3);
    this.process.after(delay, () => {
      this.isReading = false;
      this.deliver();
      this.readSoon();
    });
  }

  private deliver(): void {
    const { reader, stream } = this;
    while (!this.isStopped && reader.last < stream.last) {
      const next = stream.messages[reader.last]!;
      if (!this.doubt.admits(next)) return;
      this.take(next);
    }
  }

  private take(stored: ModelMessage): void {
    const { batch, message, isSound } = this.reader.next(stored);
    if (stored.writer === this.writer) this.ownLast = stored.sequence;
    if (message !== undefined) {
      this.settle(stored.sequence, message);
      if (this.isStopped) return;
      const agrees = isSound && this.hasBlock(message.block);
      this.heard.set(message.writer, { atMs: stored.atMs, agrees });
      if (!agrees && !this.isInMajority(stored.atMs)) {
        this.diverge(`message ${stored.sequence} contradicts this log`);
        return;
      }
    }
    this.onBatch(batch);
  }

  /** False for a block that differs, and for one after the own last: its writer had applied no more. */
  private hasBlock({ number, hash }: Message["block"]): boolean {
    if (number > this.hooks.lastBlock().number) return false;
    const known = this.hooks.blockHash(number);
    return known === undefined || Buffer.compare(known, hash) === 0;
  }

  /** The batch in flight is delivered where the server acknowledged it, and nowhere else. */
  private settle(sequence: number, { writer, counter }: BatchId): void {
    const { inFlight } = this;
    if (inFlight === undefined) return;
    const { id, acknowledged } = inFlight;
    const isOurs = writer === id.writer && counter === id.counter;
    const contradicts = acknowledged !== undefined && isOurs !== (acknowledged === sequence);
    if (contradicts && this.stream.isStrict) {
      this.diverge(`acknowledged at ${acknowledged}, read another message at ${sequence}`);
    } else if (isOurs) this.inFlight = undefined;
  }

  private isInMajority(nowMs: number): boolean {
    let agree = 1;
    let disagree = 0;
    for (const [writer, { atMs, agrees }] of this.heard) {
      if (nowMs - atMs > HEARD_MS || writer === this.writer) continue;
      if (!agrees) disagree++;
      else if (this.hooks.isLive(writer)) agree++;
    }
    return agree > disagree;
  }

  private watch(): void {
    const { nowMs } = this.process.time;
    if (this.stream.last >= this.reader.last) this.belowSinceMs = undefined;
    else this.belowSinceMs ??= nowMs;
    if (this.belowSinceMs !== undefined && nowMs - this.belowSinceMs >= BELOW_MS) {
      this.diverge(`the stream ends at ${this.stream.last}, applied up to ${this.reader.last}`);
    }
    if (this.doubt.isSettled()) this.readSoon();
  }

  private diverge(reason: string): void {
    if (this.isStopped) return;
    this.end();
    this.stop(new Diverged(reason));
  }
}
