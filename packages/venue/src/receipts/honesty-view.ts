/**
 * The honesty record of a running venue. It reads the history block by block in short slices, so that a
 * long history delays nobody; until it has caught up, `throughBlock` says how far it is. From then on it
 * counts what is applied. At a damaged row it ends there and the venue goes on, since the log has what
 * was promised and `perpgate verify` names the row.
 */
import { EVENT } from "@perpgate/engine";
import type { SealedBlock } from "../blocks/block-header.js";
import { eventWords, promisedBlock, SEALED } from "../event-fields.js";
import type { AckRow } from "../history/ack-row.js";
import type { History } from "../history/history.js";
import { wordsOfBytes } from "../history/rows.js";
import type { Applied } from "../replica.js";
import { SILENT, type VenueLogger } from "../venue-options.js";
import { HonestyRecord, MillisecondCounts } from "./honesty-record.js";

const SLICE_MS = 2;
const BUSY_PAUSE_MS = 20;
const IDLE_PAUSE_MS = 500;
/**
 * Blocks and acknowledgements that are read for the time to a witness, per cosigned checkpoint, the oldest
 * first. A witness that was away for a day cosigns half a million blocks with one signature.
 */
const MAX_READ = 500;
/** Acknowledgements read between two looks at the clock: a block may have ten thousand. */
const READ_ROWS = 256;

/** What is read of a venue. */
interface HonestySource {
  readonly history: History;
  readonly blocks: { readonly openAcks: number };
  readonly engine: { readonly state: { readonly timeMs: number } };
}

export class HonestyView {
  readonly record = new HonestyRecord();
  readonly witnessedMs = new MillisecondCounts();
  throughBlock = 0;
  /** What was read of the block after `throughBlock`; counted once it is complete. */
  private partOfBlock: AckRow[] = [];
  /** Of the open block; whether all of them are here. */
  private openAcks: { readonly timeMs: number; readonly expected: number }[] = [];
  private isOpenWhole = false;
  private witnessed: number | undefined;
  private timer: NodeJS.Timeout | undefined;
  private isDamaged = false;
  /** Whether the last slice left something to read, and when it began. */
  private isBehind = false;
  private advancedAtMs = 0;

  constructor(
    private readonly source: HonestySource,
    private readonly logger: VenueLogger = SILENT,
    private readonly nowMs: () => number = () => performance.now(),
  ) {
    this.schedule(BUSY_PAUSE_MS);
  }

  /** Acknowledgements through `throughBlock`; with those of the open block, once it is the last one. */
  get issued(): number {
    const { history, blocks } = this.source;
    const { sealed } = this.record;
    const isThrough = this.readRows(
      () => history.block(this.throughBlock + 1) === undefined,
      false,
    );
    return isThrough ? sealed + blocks.openAcks : sealed;
  }

  /** Every command, once this has begun. */
  onCommand({ events: { words, length }, timeMs }: Pick<Applied, "events" | "timeMs">): void {
    for (let at = 0; at < length; at += eventWords(words[at]!)) {
      const expected = promisedBlock(words, at);
      if (expected !== undefined) this.openAcks.push({ timeMs, expected });
      else if (words[at] === EVENT.BlockSealed) {
        this.onSealed(words[at + SEALED.number]!, words[at + SEALED.timeMs]!);
      }
    }
  }

  private onSealed(number: number, timeMs: number): void {
    const acks = this.openAcks;
    const isNext = this.isOpenWhole && this.throughBlock === number - 1;
    this.openAcks = [];
    this.isOpenWhole = true;
    // Of another one what it has is read.
    if (!isNext || this.partOfBlock.length > 0) return;
    for (const ack of acks) this.record.onSealed(ack.timeMs, ack.expected, number, timeMs);
    this.throughBlock = number;
  }

  /** A checkpoint over `size` blocks was cosigned. */
  onWitnessed(size: number): void {
    this.readRows(() => this.addWitnessed(size), undefined);
  }

  private addWitnessed(size: number): void {
    const { history, engine } = this.source;
    const { timeMs } = engine.state;
    const from = this.witnessed ?? size;
    this.witnessed = size;
    let left = MAX_READ;
    for (let number = from + 1; number <= size && left > 0; number++) {
      left--;
      const block = history.block(number);
      if (block === undefined || block.ackCount === 0 || this.isGone(block)) continue;
      for (const ack of history.acksBetween(block.firstPosition, block.lastPosition, left)) {
        this.witnessedMs.add(timeMs - ack.timeMs);
        left--;
      }
    }
  }

  close(): void {
    clearTimeout(this.timer);
  }

  /** For a request. While there is much to read, requests together read no more than the timer does. */
  advanceForRead(): void {
    if (this.isBehind && this.nowMs() - this.advancedAtMs < BUSY_PAUSE_MS) return;
    this.advance();
  }

  /** Reads for at most `forMs`; returns whether there is more. */
  advance(forMs = SLICE_MS): boolean {
    this.advancedAtMs = this.nowMs();
    this.isBehind = this.readRows(() => this.readUntil(this.advancedAtMs + forMs), false);
    return this.isBehind;
  }

  private readUntil(untilMs: number): boolean {
    const { history } = this.source;
    for (;;) {
      const block = history.block(this.throughBlock + 1);
      if (block === undefined) return false;
      if (this.isGone(block)) this.partOfBlock = [];
      const { partOfBlock: read } = this;
      const from = (read.at(-1)?.seq ?? block.firstPosition - 1) + 1;
      const hasNone = block.ackCount === 0 || this.isGone(block);
      const page = hasNone ? [] : history.acksBetween(from, block.lastPosition, READ_ROWS);
      read.push(...page);
      if (page.length < READ_ROWS) {
        for (const { leaf, timeMs } of read) {
          const expected = promisedBlock(wordsOfBytes(leaf), 0)!;
          this.record.onSealed(timeMs, expected, block.number, block.timeMs);
        }
        this.partOfBlock = [];
        this.throughBlock = block.number;
      }
      if (this.nowMs() > untilMs) return true;
    }
  }

  /** Its acknowledgements are not kept any more: the record begins after it. */
  private isGone({ firstPosition }: SealedBlock): boolean {
    return firstPosition < this.source.history.historyBefore;
  }

  /** `read`, or `otherwise` once a row could not be read: nobody waits for the record. */
  private readRows<T>(read: () => T, otherwise: T): T {
    if (this.isDamaged || this.source.history.isRebuilding) return otherwise;
    try {
      return read();
    } catch (error) {
      this.isDamaged = true;
      const reason = error instanceof Error ? error.message : String(error);
      const advice = "see docs/operating.md, The history is damaged";
      this.logger.error(
        { reason, throughBlock: this.throughBlock },
        `the honesty record ends at a damaged row of the history; ${advice}`,
      );
      return otherwise;
    }
  }

  private schedule(pauseMs: number): void {
    this.timer = setTimeout(() => {
      if (this.source.history.isClosed) return;
      this.schedule(this.advance() ? BUSY_PAUSE_MS : IDLE_PAUSE_MS);
    }, pauseMs);
    this.timer.unref();
  }
}
